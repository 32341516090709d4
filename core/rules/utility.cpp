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
#include "rules/voting.hpp"

namespace treewright {
namespace {

using rules::RowRules;
using rules::Voting;

class Ranking {
 public:
  Ranking(const Voting& voting, std::span<const double> weight, std::int32_t other)
      : v_(voting),
        weight_(weight),
        other_(other),
        by_row_(v_.offset, v_.rows, v_.n_rows()),
        votes_(v_.y.size() * v_.n_classes, 0.0) {
    for (std::int64_t r = 0; r < v_.n_rules(); ++r)
      for (const std::int32_t row : v_.rows_of(r)) votes_of(row)[v_.label[r]] += v_.strength[r];
  }

  // The rules from the least useful on, and the errors before each is taken away.
  void run(std::int64_t* order, double* errors) {
    const std::int64_t n = v_.n_rules();
    double now = 0;
    for (std::size_t row = 0; row < v_.y.size(); ++row)
      if (is_wrong(static_cast<std::int32_t>(row))) now += weight_[row];
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
        for (const std::int32_t r : by_row_.of(row)) is_stale[r] = 1;
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
    const auto voted = *most > 1e-12 ? static_cast<std::int32_t>(most - votes) : other_;
    return voted != v_.y[row];
  }

  // Errors that the loss of a rule adds.
  double loss_of(std::int64_t rule) {
    double with = 0, without = 0;
    for (const std::int32_t row : v_.rows_of(rule)) {
      double& vote = votes_of(row)[v_.label[rule]];
      const double kept = vote;
      if (is_wrong(row)) with += weight_[row];
      vote -= v_.strength[rule];
      if (is_wrong(row)) without += weight_[row];
      vote = kept;
    }
    return without - with;
  }

  const Voting& v_;
  std::span<const double> weight_;
  std::int32_t other_;  // the class of a row without votes
  RowRules by_row_;
  std::vector<double> votes_;
};

auto rank_rules(const Vector<std::int64_t>& offset, const Vector<std::int32_t>& rows,
                const Vector<std::int32_t>& label, const Vector<double>& strength,
                const Vector<std::int32_t>& y, const Vector<double>& weight, std::int32_t n_classes,
                std::int32_t other) {
  const Voting voting{view(offset), view(rows), view(label), view(strength), view(y), n_classes};
  voting.check();
  if (weight.size() != y.size()) refuse("The arrays of the rules differ in length.");
  const std::int64_t n = voting.n_rules();
  auto order = allocate(std::int64_t{}, n);
  auto errors = allocate(double{}, n);
  {
    GilRelease release;
    Ranking(voting, view(weight), other).run(order.data(), errors.data());
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
