#include "quinlan/soft.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/threads.hpp"
#include "data/route.hpp"

namespace treewright {
namespace {

struct Part {
  i32 node;
  double share;
};

// Calls visit(child, share) for every branch that a gap at `node` goes down.
template <class Visit>
void divide_gap(const SoftTree& t, i32 node, double share, Visit&& visit) {
  const i32 first = t.first_child[node], n = t.n_children[node];
  const double total = std::accumulate(t.weight.begin() + first, t.weight.begin() + first + n, 0.0);
  for (i32 b = 0; b < n; ++b) {
    const double part = share * (total > 0 ? t.weight[first + b] / total : 1.0 / n);
    if (part > 0) visit(first + b, part);
  }
}

// The leaf below `start` with the largest share of a row, the first id among equals.
i32 end_of(const SoftTree& t, i32 start, i64 row, std::vector<Part>& stack) {
  Part best{-1, -1};
  stack.assign(1, {start, 1.0});
  while (!stack.empty()) {
    const Part part = stack.back();
    stack.pop_back();
    if (!t.n_children[part.node]) {
      if (part.share > best.share || (part.share == best.share && part.node < best.node)) {
        best = part;
      }
      continue;
    }
    const i32 branch = branch_of(t.splits[part.node], t.columns, row);
    if (branch != kNoBranch) {
      stack.push_back({t.first_child[part.node] + branch, part.share});
    } else {
      divide_gap(t, part.node, part.share,
                 [&](i32 child, double share) { stack.push_back({child, share}); });
    }
  }
  return best.node;
}

bool cuts_numbers(const SoftTree& t, i32 node) {
  const Split& s = t.splits[node];
  return s.kind == SplitKind::breaks && s.breaks.size() == 1 &&
         t.columns[s.feature].type != ColumnType::code;
}

class Softener {
 public:
  Softener(const SoftTree& tree, const std::vector<i32>& label, const i32* y, const double* weight,
           const std::function<void()>& poll)
      : t_(tree), label_(label), y_(y), weight_(weight), poll_(poll) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (auto* bound : {&out_.lower, &out_.middle, &out_.upper}) {
      bound->assign(t_.first_child.size(), none);
    }
  }

  SoftBounds run() {
    struct Open {
      i32 node;
      std::vector<i32> rows;
    };
    std::vector<Open> stack(1);
    stack[0].node = 0;
    stack[0].rows.resize(t_.n_rows);
    std::iota(stack[0].rows.begin(), stack[0].rows.end(), 0);
    while (!stack.empty()) {
      const Open open = std::move(stack.back());
      stack.pop_back();
      const i32 n = t_.n_children[open.node];
      if (!n || open.rows.empty()) continue;
      std::vector<std::vector<i32>> below(n);
      std::vector<i32> known;
      for (const i32 row : open.rows) {
        const i32 branch = branch_of(t_.splits[open.node], t_.columns, row);
        if (branch == kNoBranch) continue;
        known.push_back(row);
        below[branch].push_back(row);
      }
      if (cuts_numbers(t_, open.node)) find_bounds(open.node, std::move(known));
      for (i32 b = 0; b < n; ++b) {
        stack.push_back({t_.first_child[open.node] + b, std::move(below[b])});
      }
      if (poll_) poll_();
    }
    return std::move(out_);
  }

 private:
  double wrong(i32 child, i32 row) {
    return label_[end_of(t_, child, row, parts_)] == y_[row] ? 0 : weight_[row];
  }

  void find_bounds(i32 node, std::vector<i32> rows) {
    const Split& split = t_.splits[node];
    const Column& column = t_.columns[split.feature];
    std::stable_sort(rows.begin(), rows.end(),
                     [&](i32 a, i32 b) { return column.value(a) < column.value(b); });
    // Errors if the cut lay after each value: the left branch's up to it, the right one's beyond.
    std::vector<double> value, errors;
    double left = 0, right = 0, right_all = 0, total = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      left += wrong(t_.first_child[node], rows[i]);
      right += wrong(t_.first_child[node] + 1, rows[i]);
      total += weight_[rows[i]];
      if (i + 1 < rows.size() && column.value(rows[i + 1]) == column.value(rows[i])) continue;
      value.push_back(column.value(rows[i]));
      errors.push_back(left - right);
    }
    right_all = right;
    for (double& e : errors) e += right_all;
    const double cut = split.breaks[0];
    const i64 n = static_cast<i64>(value.size());
    const i64 at = std::upper_bound(value.begin(), value.end(), cut) - value.begin() - 1;
    if (at < 0 || at + 1 >= n) {
      out_.lower[node] = out_.middle[node] = out_.upper[node] = cut;
      return;
    }
    const double base = errors[at];
    const double allowed =
        base + std::sqrt((base + 0.5) * (total - base + 0.5) / (total + 1.0)) + 1e-9;
    i64 low = at, high = at;
    while (low > 0 && errors[low - 1] <= allowed) --low;
    while (high + 2 < n && errors[high + 1] <= allowed) ++high;
    out_.lower[node] = value[low];
    out_.middle[node] = (value[at] + value[at + 1]) / 2;
    out_.upper[node] = value[high + 1];
  }

  const SoftTree& t_;
  const std::vector<i32>& label_;
  const i32* y_;
  const double* weight_;
  const std::function<void()>& poll_;
  std::vector<Part> parts_;
  SoftBounds out_;
};

// Share of the lower branch of a value between the bounds.
double lower_share(double x, double low, double middle, double high) {
  return x < middle ? 1 - 0.5 * (x - low) / (middle - low) : 0.5 * (high - x) / (high - middle);
}

void add_row(const SoftTree& t, const SoftBounds& bounds, i64 row, const double* values, i32 width,
             std::vector<Part>& stack, double* out) {
  stack.assign(1, {0, 1.0});
  while (!stack.empty()) {
    const Part part = stack.back();
    stack.pop_back();
    const i32 node = part.node, first = t.first_child[node];
    if (!t.n_children[node]) {
      for (i32 k = 0; k < width; ++k) {
        out[k] += values[static_cast<i64>(node) * width + k] * part.share;
      }
      continue;
    }
    const i32 branch = branch_of(t.splits[node], t.columns, row);
    if (branch == kNoBranch) {
      divide_gap(t, node, part.share,
                 [&](i32 child, double share) { stack.push_back({child, share}); });
      continue;
    }
    const double low = bounds.lower[node], high = bounds.upper[node];
    if (low < high && cuts_numbers(t, node)) {
      const double x = t.columns[t.splits[node].feature].value(row);
      if (x > low && x < high) {
        const double share = lower_share(x, low, bounds.middle[node], high);
        if (share > 0) stack.push_back({first, part.share * share});
        if (share < 1) stack.push_back({first + 1, part.share * (1 - share)});
        continue;
      }
    }
    stack.push_back({first + branch, part.share});
  }
}

}  // namespace

SoftBounds soft_bounds(const SoftTree& tree, const std::vector<i32>& label, const i32* y,
                       const double* weight, const std::function<void()>& poll) {
  return Softener(tree, label, y, weight, poll).run();
}

std::vector<double> soft_values(const SoftTree& tree, const SoftBounds& bounds,
                                const double* values, i32 width, int n_threads,
                                const std::function<void()>& poll) {
  constexpr i64 kPiece = 512;
  std::vector<double> out(tree.n_rows * width, 0.0);
  std::vector<std::vector<Part>> stacks(std::max(1, n_threads));
  parallel_for((tree.n_rows + kPiece - 1) / kPiece, n_threads,
               [&](i64 piece, int thread) {
                 const i64 end = std::min(tree.n_rows, (piece + 1) * kPiece);
                 for (i64 row = piece * kPiece; row < end; ++row) {
                   add_row(tree, bounds, row, values, width, stacks[thread],
                           out.data() + row * width);
                 }
               },
               poll);
  return out;
}

}  // namespace treewright
