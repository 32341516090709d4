#include "stream/tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace treewright::stream {
namespace {

constexpr double kPureShare = 0.99;    // no test is tried where one class has more
constexpr double kCompareAfter = 300;  // rows of a subtree that grows beside another
constexpr double kLimitEvery = 10000;  // rows between two looks at the memory
constexpr double kFade = 0.95;         // of the squared errors of a leaf's two answers

double sum_of(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

i32 largest(const double* v, i32 n) { return static_cast<i32>(std::max_element(v, v + n) - v); }

}  // namespace

StreamTree::StreamTree(Options options) : o_(std::move(options)) {
  for (const i32 n : o_.n_codes) n_numeric_ += n == 0;
  means_.resize(o_.n_features());
  root_ = new_leaf(0);
}

// -- what comes from a file -----------------------------------------------------------------

bool StreamTree::is_sound(const Node& n) const {
  const std::size_t s = o_.n_sums(), d = o_.n_features(), k = o_.n_classes;
  if (n.totals.size() != s || n.depth < 0 || !n.adwin.is_sound()) return false;
  if (n.is_leaf()) {
    if (n.active && n.bins.size() != d) return false;
  } else {
    if (n.feature < 0 || n.feature >= static_cast<i32>(d)) return false;
    if (o_.n_codes[n.feature] ? n.branch.empty() : n.kids.size() != 2 || !n.branch.empty()) {
      return false;
    }
    for (const i32 b : n.branch) {
      if (b < -1 || b >= static_cast<i32>(n.kids.size())) return false;
    }
    if (o_.fast && n.bins.size() != d) return false;
  }
  if (n.bins.empty()) return n.codes.empty() && n.gauss.empty();
  if (n.bins.size() != d || n.codes.size() != d || n.gauss.size() != d * k) return false;
  for (const Bins& b : n.bins) {
    if (!b.sums.empty() && b.sums.size() != kBins * s) return false;
    if (b.has_any() && b.sums.empty()) return false;
    if (!std::isfinite(b.lo) || !std::isfinite(b.width) || b.width < 0) return false;
  }
  for (const std::vector<double>& c : n.codes) {
    if (c.size() % s) return false;
  }
  return n.linear.is_sound(n_numeric_);
}

bool StreamTree::settle() {
  const i32 n = static_cast<i32>(nodes_.size());
  if (static_cast<i32>(means_.size()) != o_.n_features() || root_ < 0 || root_ >= n) return false;
  std::vector<u8> reached(n, 0);
  std::vector<i32> stack{root_};
  while (!stack.empty()) {
    const i32 at = stack.back();
    stack.pop_back();
    if (at < 0 || at >= n || reached[at]++ || !is_sound(nodes_[at])) return false;
    stack.insert(stack.end(), nodes_[at].kids.begin(), nodes_[at].kids.end());
    if (nodes_[at].beside >= 0) stack.push_back(nodes_[at].beside);
  }
  free_.clear();
  for (i32 i = 0; i < n; ++i) {
    if (!reached[i]) release(i);
  }
  return true;
}

void StreamTree::set_codes(std::vector<i32> n_codes) { o_.n_codes = std::move(n_codes); }

i32 StreamTree::new_leaf(i32 depth) {
  i32 at;
  if (free_.empty()) {
    at = static_cast<i32>(nodes_.size());
    nodes_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
    nodes_[at] = Node();
  }
  Node& node = nodes_[at];
  node.depth = depth;
  node.totals.assign(o_.n_sums(), 0.0);
  node.bins.resize(o_.n_features());
  node.codes.resize(o_.n_features());
  if (o_.n_classes) node.gauss.resize(static_cast<std::size_t>(o_.n_features()) * o_.n_classes);
  node.adwin = Adwin(o_.drift_delta);
  if (has_linear()) node.linear.start(n_numeric_, {});
  return at;
}

void StreamTree::release(i32 at) {
  nodes_[at] = Node();
  free_.push_back(at);
}

void StreamTree::free_subtree(i32 at) {
  std::vector<i32> stack{at};
  while (!stack.empty()) {
    const i32 i = stack.back();
    stack.pop_back();
    stack.insert(stack.end(), nodes_[i].kids.begin(), nodes_[i].kids.end());
    if (nodes_[i].beside >= 0) stack.push_back(nodes_[i].beside);
    release(i);
  }
}

// A gap, or a category that the node did not see, goes the way of most rows.
i32 StreamTree::child_of(const Node& node, const double* x) const {
  const double value = x[node.feature];
  if (value == value) {
    if (node.branch.empty()) return node.kids[value >= node.threshold];
    const std::size_t code = static_cast<std::size_t>(value);
    if (code < node.branch.size() && node.branch[code] >= 0) return node.kids[node.branch[code]];
  }
  i32 best = node.kids[0];
  for (const i32 kid : node.kids) {
    if (nodes_[kid].passed > nodes_[best].passed) best = kid;
  }
  return best;
}

i32 StreamTree::leaf_of(i32 at, const double* x) const {
  while (!nodes_[at].is_leaf()) at = child_of(nodes_[at], x);
  return at;
}

double StreamTree::weight_of(const double* sums) const {
  if (!o_.n_classes) return sums[0];
  double total = 0;
  for (i32 k = 0; k < o_.n_classes; ++k) total += sums[k];
  return total;
}

// Entropy in bits or Gini's index, or the variance.
double StreamTree::impurity(const double* sums) const {
  const double n = weight_of(sums);
  if (!(n > 0)) return 0;
  if (!o_.n_classes) return std::max(sums[2] / n - (sums[1] / n) * (sums[1] / n), 0.0);
  double sum = o_.gini ? 1 : 0;
  for (i32 k = 0; k < o_.n_classes; ++k) {
    const double p = sums[k] / n;
    if (o_.gini) {
      sum -= p * p;
    } else if (p > 0) {
      sum -= p * std::log2(p);
    }
  }
  return sum;
}

double StreamTree::bound(double n) const {
  const double range = o_.n_classes && !o_.gini ? std::log2(std::max(o_.n_classes, 2)) : 1;
  return std::sqrt(range * range * std::log(1 / o_.delta) / (2 * n));
}

void StreamTree::numbers(const double* x, std::vector<double>& z) const {
  z.clear();
  for (i32 f = 0; f < o_.n_features(); ++f) {
    if (!o_.n_codes[f]) z.push_back(x[f] == x[f] ? x[f] : means_[f].mean);
  }
}

// -- answers --------------------------------------------------------------------------------

bool StreamTree::uses_model(const Node& leaf) const {
  if (o_.leaf == Leaf::plain || !leaf.active) return false;
  if (!o_.n_classes && (!has_linear() || !leaf.linear.is_ready())) return false;
  if (o_.n_classes && !(leaf.seen > 0)) return false;
  if (o_.leaf == Leaf::model) return true;
  // Of classes the weight that was right counts, of numbers the squared error.
  return o_.n_classes ? leaf.right_model > leaf.right_plain : leaf.right_model < leaf.right_plain;
}

// Naive Bayes: normal numbers, counted categories.
void StreamTree::bayes(const Node& leaf, const double* x, double* out) const {
  const i32 k = o_.n_classes;
  const double total = sum_of(leaf.totals);
  for (i32 c = 0; c < k; ++c) {
    out[c] = leaf.totals[c] > 0 ? std::log(leaf.totals[c] / total) : -kInf;
  }
  for (i32 f = 0; f < o_.n_features(); ++f) {
    if (!(x[f] == x[f])) continue;
    if (o_.n_codes[f]) {
      const std::vector<double>& sums = leaf.codes[f];
      const std::size_t code = static_cast<std::size_t>(x[f]), n_codes = sums.size() / k;
      for (i32 c = 0; c < k; ++c) {
        double of_class = 0;
        for (std::size_t v = 0; v < n_codes; ++v) of_class += sums[v * k + c];
        const double here = code < n_codes ? sums[code * k + c] : 0;
        out[c] += std::log((here + 1) / (of_class + static_cast<double>(o_.n_codes[f])));
      }
      continue;
    }
    const Gauss* g = leaf.gauss.data() + static_cast<std::size_t>(f) * k;
    double least = 0;  // a spread of nothing is not believed
    for (i32 c = 0; c < k; ++c) least = std::max(least, g[c].variance());
    least = std::max(1e-6 * least, 1e-300);
    for (i32 c = 0; c < k; ++c) {
      if (g[c].n < 2) continue;
      const double v = std::max(g[c].variance(), least), d = x[f] - g[c].mean;
      out[c] -= 0.5 * std::log(v) + d * d / (2 * v);
    }
  }
  const double most = *std::max_element(out, out + k);
  double sum = 0;
  for (i32 c = 0; c < k; ++c) sum += out[c] = std::exp(out[c] - most);
  for (i32 c = 0; c < k; ++c) out[c] /= sum;
}

void StreamTree::answer(const double* x, double* out) const {
  const Node& leaf = nodes_[leaf_of(root_, x)];
  if (!o_.n_classes) {
    if (uses_model(leaf)) {
      numbers(x, z_);
      out[0] = leaf.linear.predict(z_);
    } else {
      out[0] = leaf.totals[0] > 0 ? leaf.totals[1] / leaf.totals[0] : 0;
    }
    return;
  }
  if (uses_model(leaf)) {
    bayes(leaf, x, out);
    if (std::isfinite(out[0])) return;
  }
  const double total = sum_of(leaf.totals);
  for (i32 c = 0; c < o_.n_classes; ++c) {
    out[c] = total > 0 ? leaf.totals[c] / total : 1.0 / o_.n_classes;
  }
}

// Between 0 and 1.
double StreamTree::loss(const double* answer, double y) const {
  if (o_.n_classes) return largest(answer, o_.n_classes) != static_cast<i32>(y);
  const double scale = 3 * std::sqrt(target_.variance());
  return scale > 0 ? std::min(1.0, std::abs(answer[0] - y) / scale) : 0;
}

// -- learning -------------------------------------------------------------------------------

void StreamTree::learn(const double* x, double y, double w, double* before) {
  double error = 0;
  if (before || o_.drift) {
    scratch_.resize(o_.n_sums());
    answer(x, scratch_.data());
    if (before) std::copy_n(scratch_.data(), o_.n_classes ? o_.n_classes : 1, before);
    error = loss(scratch_.data(), y);
  }
  if (!o_.n_classes) {
    target_.add(y, w);
    for (i32 f = 0; f < o_.n_features(); ++f) {
      if (!o_.n_codes[f] && x[f] == x[f]) means_[f].add(x[f], w);
    }
  }
  learn_below(root_, x, y, w, error);
  rows_ += 1;
  if (o_.max_bytes < kInf && std::fmod(rows_, kLimitEvery) == 0) keep_limit();
}

void StreamTree::learn_below(i32 at, const double* x, double y, double w, double error) {
  for (;;) {
    nodes_[at].passed += w;
    if (o_.drift) watch(at, x, y, w, error);
    if (nodes_[at].is_leaf()) break;
    if (o_.fast) {
      Node& node = nodes_[at];
      observe(node, x, y, w);
      node.seen += w;
      if (node.seen - node.tried >= o_.again) look_again(at);
      if (nodes_[at].is_leaf()) return;
    }
    at = child_of(nodes_[at], x);
  }
  Node& leaf = nodes_[at];
  if (leaf.active && o_.leaf == Leaf::adaptive) {
    if (o_.n_classes && leaf.seen > 0) {
      const i32 k = static_cast<i32>(y);
      std::vector<double> p(o_.n_classes);
      bayes(leaf, x, p.data());
      leaf.right_model += w * (largest(p.data(), o_.n_classes) == k);
      leaf.right_plain += w * (largest(leaf.totals.data(), o_.n_classes) == k);
    } else if (has_linear() && leaf.linear.is_ready() && leaf.totals[0] > 0) {
      numbers(x, z_);
      const double a = leaf.linear.predict(z_) - y, b = leaf.totals[1] / leaf.totals[0] - y;
      leaf.right_model = kFade * leaf.right_model + w * a * a;
      leaf.right_plain = kFade * leaf.right_plain + w * b * b;
    }
  }
  observe(leaf, x, y, w);
  leaf.seen += w;
  if (leaf.active && leaf.seen - leaf.tried >= o_.grace) attempt(at);
}

void StreamTree::observe(Node& node, const double* x, double y, double w) {
  const i32 s = o_.n_sums();
  const i32 k = o_.n_classes ? static_cast<i32>(y) : 0;
  auto add = [&](double* to) {
    if (o_.n_classes) {
      to[k] += w;
    } else {
      to[0] += w;
      to[1] += w * y;
      to[2] += w * y * y;
    }
  };
  add(node.totals.data());
  if (!node.active) return;
  for (i32 f = 0; f < o_.n_features(); ++f) {
    if (!(x[f] == x[f])) continue;
    if (o_.n_codes[f]) {
      const std::size_t code = static_cast<std::size_t>(x[f]);
      if (node.codes[f].size() < (code + 1) * s) node.codes[f].resize((code + 1) * s, 0.0);
      add(node.codes[f].data() + code * s);
    } else {
      add(node.bins[f].at(x[f], s));
      if (o_.n_classes) node.gauss[static_cast<std::size_t>(f) * o_.n_classes + k].add(x[f], w);
    }
  }
  if (has_linear()) {
    numbers(x, z_);
    node.linear.add(z_, y, w);
  }
}

// -- tests ----------------------------------------------------------------------------------

Test StreamTree::numeric_test(const Node& node, i32 f) const {
  Test best;
  const Bins& bins = node.bins[f];
  if (!bins.has_any() || bins.width == 0) return best;
  const i32 s = o_.n_sums();
  std::vector<double> total(s, 0.0), left(s, 0.0), right(s);
  for (std::size_t i = 0; i < bins.sums.size(); ++i) total[i % s] += bins.sums[i];
  const double n = weight_of(total.data());
  const double known = n / std::max(weight_of(node.totals.data()), n),
               whole = impurity(total.data());
  for (i32 i = 0; i + 1 < kBins; ++i) {
    for (i32 k = 0; k < s; ++k) left[k] += bins.sums[static_cast<std::size_t>(i) * s + k];
    const double n_left = weight_of(left.data());
    if (n_left < o_.min_branch * n || n - n_left < o_.min_branch * n || n_left <= 0) continue;
    for (i32 k = 0; k < s; ++k) right[k] = total[k] - left[k];
    const double n_right = weight_of(right.data());
    if (!(n_right > 0)) continue;
    const double merit =
        known * (whole - (n_left * impurity(left.data()) + n_right * impurity(right.data())) / n);
    if (!(merit > best.merit)) continue;
    best.feature = f;
    best.merit = merit;
    best.threshold = bins.edge(i + 1);
    best.sums = {left, right};
  }
  return best;
}

Test StreamTree::nominal_test(const Node& node, i32 f) const {
  Test test;
  const i32 s = o_.n_sums();
  const std::vector<double>& sums = node.codes[f];
  std::vector<double> total(s, 0.0);
  for (std::size_t i = 0; i < sums.size(); ++i) total[i % s] += sums[i];
  const double n = weight_of(total.data());
  if (!(n > 0)) return test;
  double inside = 0;
  i32 n_large = 0;
  test.branch.assign(sums.size() / s, -1);
  for (std::size_t code = 0; code < test.branch.size(); ++code) {
    const double here = weight_of(sums.data() + code * s);
    if (!(here > 0)) continue;
    inside += here * impurity(sums.data() + code * s);
    n_large += here >= o_.min_branch * n;
    test.branch[code] = static_cast<i32>(test.sums.size());
    test.sums.emplace_back(sums.begin() + static_cast<i64>(code) * s,
                           sums.begin() + static_cast<i64>(code + 1) * s);
  }
  if (n_large < 2) return Test();
  const double known = n / std::max(weight_of(node.totals.data()), n);
  test.feature = f;
  test.merit = known * (impurity(total.data()) - inside / n);
  return test;
}

// The best test, and the merit of the second best feature; no test at all has none. With `current`:
// the merit that this feature's own test has now.
Test StreamTree::best_test(const Node& node, double* second, const Test* current) const {
  Test best;
  *second = 0;
  for (i32 f = 0; f < o_.n_features(); ++f) {
    Test test = o_.n_codes[f] ? nominal_test(node, f) : numeric_test(node, f);
    if (test.feature < 0) continue;
    if (current && f == current->feature) *second = test.merit;
    if (test.merit > best.merit) {
      if (!current) *second = best.merit;
      best = std::move(test);
    } else if (!current) {
      *second = std::max(*second, test.merit);
    }
  }
  return best;
}

void StreamTree::attempt(i32 at) {
  Node& leaf = nodes_[at];
  leaf.tried = leaf.seen;
  if (leaf.depth >= o_.max_depth || !(impurity(leaf.totals.data()) > 0)) return;
  const double n = weight_of(leaf.totals.data());
  if (o_.n_classes && *std::max_element(leaf.totals.begin(), leaf.totals.end()) > kPureShare * n) {
    return;
  }
  double second = 0;
  const Test best = best_test(leaf, &second, nullptr);
  if (best.feature < 0 || !(best.merit > 0)) return;
  const double eps = bound(leaf.seen);
  bool is_sure;
  if (!o_.n_classes) {
    is_sure = second / best.merit < 1 - eps || eps < o_.tau;
  } else if (o_.fast) {
    is_sure = best.merit > eps || (eps < o_.tau && best.merit > o_.tau / 2);
  } else {
    is_sure = best.merit - second > eps || eps < o_.tau;
  }
  if (is_sure) split(at, best);
}

// What all tests below a node gain together, as its leaves have it.
double StreamTree::merit_below(const Node& node) const {
  double inside = 0, n = 0;
  std::vector<i32> open(node.kids);
  while (!open.empty()) {
    const Node& each = nodes_[open.back()];
    open.pop_back();
    open.insert(open.end(), each.kids.begin(), each.kids.end());
    const double here = each.is_leaf() ? weight_of(each.totals.data()) : 0;
    if (!(here > 0)) continue;
    inside += here * impurity(each.totals.data());
    n += here;
  }
  return n > 0 ? impurity(node.totals.data()) - inside / n : 0;
}

// An inner node of the extremely fast tree: another test may be better by now, or none. A new test
// takes the place of all tests below the node, so it must be better than these.
void StreamTree::look_again(i32 at) {
  Node& node = nodes_[at];
  node.tried = node.seen;
  Test current;
  current.feature = node.feature;
  double merit_now = 0;
  const Test best = best_test(node, &merit_now, &current);
  const double eps = bound(node.seen);
  const bool is_other = best.feature >= 0 && best.feature != node.feature;
  const double gain = best.merit - std::max(merit_now, merit_below(node));
  if (is_other && (gain > eps || (eps < o_.tau && gain > o_.tau / 2))) {
    for (const i32 kid : std::vector<i32>(node.kids)) free_subtree(kid);
    nodes_[at].kids.clear();
    nodes_[at].branch.clear();
    split(at, best);
  } else if (best.merit <= 0 && eps < o_.tau) {
    for (const i32 kid : std::vector<i32>(node.kids)) free_subtree(kid);
    nodes_[at].kids.clear();
    nodes_[at].branch.clear();
    nodes_[at].feature = -1;
  }
}

void StreamTree::split(i32 at, const Test& test) {
  // All that a node knows goes to its children, in the shares of the rows that the test knows.
  auto shares = [&](const std::vector<double>& whole, const std::vector<std::vector<double>>& sums,
                    std::size_t b) {
    std::vector<double> part(whole.size());
    for (std::size_t k = 0; k < whole.size(); ++k) {
      const std::size_t by = o_.n_classes ? k : 0;
      double all = 0;
      for (const auto& each : sums) all += each[by];
      const double of = all > 0 ? whole[by] / all : 0;
      part[k] = all > 0 ? sums[b][k] * of : whole[k] / static_cast<double>(sums.size());
    }
    return part;
  };
  std::vector<i32> kids;
  for (std::size_t b = 0; b < test.sums.size(); ++b) {
    const i32 kid = new_leaf(nodes_[at].depth + 1);
    kids.push_back(kid);
    Node& child = nodes_[kid];
    const Node& node = nodes_[at];
    child.totals = shares(nodes_[at].totals, test.sums, b);
    child.passed = weight_of(child.totals.data());
    for (i32 f = 0; f < o_.n_features(); ++f) {
      if (o_.n_codes[f] || !node.bins[f].has_any()) continue;
      double from = node.bins[f].least, to = node.bins[f].most;
      if (f == test.feature && b == 0) to = std::min(to, test.threshold);
      if (f == test.feature && b == 1) from = std::max(from, test.threshold);
      child.bins[f].start(from, to);
    }
    if (has_linear()) {  // a child answers as its parent did until it knows better
      child.linear.start(n_numeric_, node.linear.coefficients());
      child.right_plain = node.right_plain;
      child.right_model = node.right_model;
    }
  }
  Node& node = nodes_[at];
  node.feature = test.feature;
  node.threshold = test.threshold;
  node.merit = test.merit;
  node.branch = test.branch;
  node.kids = std::move(kids);
  if (o_.fast) return;
  node.bins = {};
  node.gauss = {};
  node.codes = {};
  node.linear = {};
}

// -- drift ----------------------------------------------------------------------------------

void StreamTree::watch(i32 at, const double* x, double y, double w, double error) {
  const bool rose = nodes_[at].adwin.add(error);
  if (rose && nodes_[at].beside < 0) {
    const i32 depth = nodes_[at].depth;
    const i32 fresh = new_leaf(depth);
    if (nodes_[at].is_leaf()) {  // what a leaf remembers is of the past
      const double passed = nodes_[at].passed;
      std::vector<double> totals = nodes_[at].totals;
      const double n = weight_of(totals.data());
      for (double& t : totals) t /= std::max(n, 1.0);
      nodes_[at] = std::move(nodes_[fresh]);
      nodes_[at].passed = passed;
      nodes_[at].totals = totals;
      release(fresh);
    } else {
      nodes_[at].beside = fresh;
    }
  }
  const i32 beside = nodes_[at].beside;
  if (beside < 0) return;
  const i32 leaf = leaf_of(beside, x);
  const i32 old_root = std::exchange(root_, leaf);
  std::vector<double> p(o_.n_sums());
  answer(x, p.data());
  root_ = old_root;
  learn_below(beside, x, y, w, loss(p.data(), y));
  compare_beside(at);
}

void StreamTree::compare_beside(i32 at) {
  const i32 beside = nodes_[at].beside;
  const Adwin &old = nodes_[at].adwin, &young = nodes_[beside].adwin;
  if (young.size() < kCompareAfter || std::fmod(young.size(), 50) != 0) return;
  const double e = old.mean();
  const double eps =
      std::sqrt(2 * e * (1 - e) * std::log(2 / 0.05) * (1 / old.size() + 1 / young.size()));
  if (e - young.mean() > eps) {
    for (const i32 kid : std::vector<i32>(nodes_[at].kids)) free_subtree(kid);
    const double passed = nodes_[at].passed;
    nodes_[at] = std::move(nodes_[beside]);
    nodes_[at].passed = passed;
    release(beside);
  } else if (young.mean() - e > eps) {
    nodes_[at].beside = -1;
    free_subtree(beside);
  }
}

// -- memory ---------------------------------------------------------------------------------

double StreamTree::leaf_bytes() const {
  double bytes = sizeof(Node);
  for (const i32 n : o_.n_codes) {
    bytes += n ? 8.0 * n * o_.n_sums() : 8.0 * kBins * o_.n_sums() + sizeof(Bins);
    bytes += static_cast<double>(sizeof(Gauss)) * o_.n_classes;
  }
  if (has_linear()) bytes += 8.0 * (n_numeric_ + 1) * (n_numeric_ + 3);
  return bytes;
}

i64 StreamTree::n_active() const {
  return std::count_if(nodes_.begin(), nodes_.end(),
                       [](const Node& n) { return n.active && !n.bins.empty(); });
}

// Of too many leaves those with the most errors to save go on; the others only count.
void StreamTree::keep_limit() {
  i64 most = static_cast<i64>(o_.max_bytes / leaf_bytes());
  std::vector<std::pair<double, i32>> leaves;
  for (i32 i = 0; i < static_cast<i32>(nodes_.size()); ++i) {
    const Node& n = nodes_[i];
    if (n.totals.empty()) continue;
    most -= !n.is_leaf() && !n.bins.empty();
    if (!n.is_leaf()) continue;
    const double weight = weight_of(n.totals.data());
    const double wrong = o_.n_classes ? weight - *std::max_element(n.totals.begin(), n.totals.end())
                                      : weight * impurity(n.totals.data());
    leaves.emplace_back(-wrong, i);
  }
  most = std::max<i64>(most, 1);
  std::sort(leaves.begin(), leaves.end());
  for (i64 rank = 0; rank < static_cast<i64>(leaves.size()); ++rank) {
    Node& n = nodes_[leaves[rank].second];
    if (n.active == (rank < most)) continue;
    n.active = rank < most;
    n.bins.assign(n.active ? o_.n_features() : 0, {});
    n.codes.assign(n.active ? o_.n_features() : 0, {});
    n.gauss.assign(n.active ? static_cast<std::size_t>(o_.n_features()) * o_.n_classes : 0, {});
    n.linear = {};
    if (n.active && has_linear()) n.linear.start(n_numeric_, {});
    n.seen = n.tried = n.right_model = n.right_plain = 0;
  }
}

}  // namespace treewright::stream
