// Rules that vote, in the order of their utility: the least useful is the one whose loss raises the
// training errors least, then the same among those that are left.
//
// Taking a rule away changes the votes of its rows only, so the other rules whose loss has to be
// weighed again are those that share a row with it.
#include <algorithm>
#include <vector>

#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"

namespace treewright {
namespace {

struct Voting {
  std::span<const std::int64_t> offset;  // rule r covers rows[offset[r]:offset[r + 1]]
  std::span<const std::int32_t> rows;
  std::span<const std::int32_t> label;  // per rule
  std::span<const double> strength;
  std::span<const std::int32_t> y;  // per row
  std::span<const double> weight;
  std::int32_t n_classes;
  std::int32_t other;  // the class of a row without votes

  std::int64_t n_rules() const { return std::ssize(label); }
  std::span<const std::int32_t> rows_of(std::int64_t rule) const {
    return rows.subspan(offset[rule], offset[rule + 1] - offset[rule]);
  }
};

class Ranking {
 public:
  explicit Ranking(const Voting& voting) : v_(voting), votes_(v_.y.size() * v_.n_classes, 0.0) {
    for (std::int64_t r = 0; r < v_.n_rules(); ++r)
      for (const std::int32_t row : v_.rows_of(r)) votes_of(row)[v_.label[r]] += v_.strength[r];
    index_rows();
  }

  // The rules from the least useful on, and the errors before each is taken away.
  void run(std::int64_t* order, double* errors) {
    const std::int64_t n = v_.n_rules();
    double now = 0;
    for (std::size_t row = 0; row < v_.y.size(); ++row)
      if (is_wrong(static_cast<std::int32_t>(row))) now += v_.weight[row];
    std::vector<double> loss(n);
    std::vector<std::uint8_t> is_left(n, 1), is_stale(n, 1);
    SignalPoll poll;
    for (std::int64_t step = 0; step < n; ++step) {
      std::int64_t worst = -1;
      for (std::int64_t r = 0; r < n; ++r) {
        if (!is_left[r]) continue;
        if (is_stale[r]) loss[r] = loss_of(r);
        is_stale[r] = 0;
        if (worst < 0 || loss[r] < loss[worst]) worst = r;
      }
      order[step] = worst;
      errors[step] = now;
      now += loss[worst];
      is_left[worst] = 0;
      for (const std::int32_t row : v_.rows_of(worst)) {
        votes_of(row)[v_.label[worst]] -= v_.strength[worst];
        for (std::int64_t i = start_[row]; i < start_[row + 1]; ++i) is_stale[rules_[i]] = 1;
      }
      poll();
    }
  }

 private:
  double* votes_of(std::int32_t row) {
    return votes_.data() + static_cast<std::int64_t>(row) * v_.n_classes;
  }

  bool is_wrong(std::int32_t row) {
    const double* votes = votes_of(row);
    const double* most = std::max_element(votes, votes + v_.n_classes);
    const auto voted = *most > 1e-12 ? static_cast<std::int32_t>(most - votes) : v_.other;
    return voted != v_.y[row];
  }

  // Errors that the loss of a rule adds.
  double loss_of(std::int64_t rule) {
    double with = 0, without = 0;
    for (const std::int32_t row : v_.rows_of(rule)) {
      double& vote = votes_of(row)[v_.label[rule]];
      const double kept = vote;
      if (is_wrong(row)) with += v_.weight[row];
      vote -= v_.strength[rule];
      if (is_wrong(row)) without += v_.weight[row];
      vote = kept;
    }
    return without - with;
  }

  // The rules that cover each row.
  void index_rows() {
    start_.assign(v_.y.size() + 1, 0);
    for (const std::int32_t row : v_.rows) ++start_[row + 1];
    for (std::size_t row = 0; row < v_.y.size(); ++row) start_[row + 1] += start_[row];
    rules_.resize(v_.rows.size());
    std::vector<std::int64_t> at(start_.begin(), start_.end() - 1);
    for (std::int64_t r = 0; r < v_.n_rules(); ++r)
      for (const std::int32_t row : v_.rows_of(r)) rules_[at[row]++] = static_cast<std::int32_t>(r);
  }

  const Voting& v_;
  std::vector<double> votes_;
  std::vector<std::int64_t> start_;
  std::vector<std::int32_t> rules_;
};

auto rank_rules(const Vector<std::int64_t>& offset, const Vector<std::int32_t>& rows,
                const Vector<std::int32_t>& label, const Vector<double>& strength,
                const Vector<std::int32_t>& y, const Vector<double>& weight, std::int32_t n_classes,
                std::int32_t other) {
  const Voting voting{view(offset), view(rows),   view(label), view(strength),
                      view(y),      view(weight), n_classes,   other};
  const std::int64_t n = voting.n_rules();
  if (std::ssize(voting.offset) != n + 1 || std::ssize(voting.strength) != n ||
      voting.weight.size() != voting.y.size())
    refuse("The arrays of the rules differ in length.");
  if (voting.offset.front() != 0 || voting.offset.back() != std::ssize(voting.rows) ||
      !std::is_sorted(voting.offset.begin(), voting.offset.end()))
    refuse("The offsets of the rules do not fit their rows.");
  auto within = [](std::span<const std::int32_t> values, std::int64_t end) {
    return std::all_of(values.begin(), values.end(),
                       [end](std::int32_t v) { return v >= 0 && v < end; });
  };
  if (!within(voting.rows, std::ssize(voting.y))) refuse("A row is out of range.");
  if (!within(voting.label, n_classes) || !within(voting.y, n_classes))
    refuse("A class is out of range.");
  auto order = allocate(std::int64_t{}, n);
  auto errors = allocate(double{}, n);
  {
    nb::gil_scoped_release release;
    Ranking(voting).run(order.data(), errors.data());
  }
  return nb::make_tuple(order, errors);
}

}  // namespace

void bind_rule_utility(nb::module_& m) {
  m.def("rank_rules", &rank_rules, nb::arg("rule_offset").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("label").noconvert(), nb::arg("strength").noconvert(), nb::arg("y").noconvert(),
        nb::arg("weight").noconvert(), nb::arg("n_classes"), nb::arg("other"),
        "Rules that vote, the least useful first, and the errors before each is taken away.");
}

}  // namespace treewright
