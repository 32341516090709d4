// Choosing some of the rules that vote so that rules and errors are told in the fewest bits.
//
// A row is an error where the class with the strongest votes is not its own, and where no rule
// covers it. To tell which of N rows are errors takes log2 of the ways to choose them; beyond half
// of the rows the bits go on growing as they did before. The rules cost a share of the bits of
// their conditions, less log2 of the orders in which they could be told.
//
// The search starts from the surest rule of each row that is right about it, and goes through the
// rules in order, those nearer to the root first: each is flipped where that saves bits, until none
// does. For every rule the errors that its flip would add are kept up to date: a flip looks at the
// rows of one rule, and at the rules that cover them. Votes are integers, so that sums have no
// order.
#include <cmath>
#include <limits>
#include <utility>

#include "base/module.hpp"
#include "base/signals.hpp"
#include "rules/voting.hpp"
#include "rules/weights.hpp"

namespace treewright {
namespace {

using rules::RowRules;
using rules::Voting;

// Bits to tell which `errors` of `total` rows are wrong.
double error_bits(double total, double errors) {
  auto ways = [total](double e) {
    return (std::lgamma(total + 1) - std::lgamma(e + 1) - std::lgamma(total - e + 1)) /
           std::log(2.0);
  };
  return 2 * errors <= total ? ways(errors) : 2 * ways(total / 2) - ways(errors);
}

// The strongest class of a row, and the strongest of the others.
struct Leaders {
  std::int32_t first = -1, second = -1;
};

class VotingSubset {
 public:
  VotingSubset(const Voting& voting, const RowRules& by_row, const ScaledWeights& weights,
               std::span<const double> bits, double share)
      : v_(voting),
        by_row_(by_row),
        weights_(weights),
        bits_(bits),
        share_(share),
        chosen_(v_.n_rules(), 0),
        harm_(v_.n_rules(), 0),
        votes_(v_.n_rows() * v_.n_classes, 0),
        log2_factorial_{0} {
    for (const double strength : v_.strength) strength_.push_back(std::llrint(strength * 0x1p40));
    for (std::int64_t k = 1; k <= v_.n_rules(); ++k)
      log2_factorial_.push_back(log2_factorial_.back() + std::log2(static_cast<double>(k)));
    for (std::int64_t row = 0; row < v_.n_rows(); ++row) total_ += weights_[row];
  }

  // From none to the surest rule of each row that is right about it.
  void start() {
    for (std::int64_t row = 0; row < v_.n_rows(); ++row) {
      std::int32_t best = -1;
      for (const std::int32_t r : by_row_.of(row))
        if (v_.label[r] == v_.y[row] && (best < 0 || strength_[r] > strength_[best])) best = r;
      if (best >= 0) chosen_[best] = 1;
    }
    for (std::int64_t r = 0; r < v_.n_rules(); ++r) {
      if (!chosen_[r]) continue;
      ++count_;
      theory_ += bits_[r];
      for (const std::int32_t row : v_.rows_of(r)) votes_of(row)[v_.label[r]] += strength_[r];
    }
    for (std::int64_t row = 0; row < v_.n_rows(); ++row) {
      errors_ += is_wrong(row) ? weights_[row] : 0;
      add_harm(row, -1, 1);
    }
  }

  const std::vector<std::uint8_t>& chosen() const { return chosen_; }
  double cost() const { return cost_of(errors_, theory_, count_); }
  double cost_of_flip(std::int64_t r) const {
    const int step = chosen_[r] ? -1 : 1;
    return cost_of(errors_ + harm_[r], theory_ + step * bits_[r], count_ + step);
  }

  void flip(std::int64_t r) {
    const int step = chosen_[r] ? -1 : 1;
    for (const std::int32_t row : v_.rows_of(r)) {
      add_harm(row, r, -1);
      votes_of(row)[v_.label[r]] += step * strength_[r];
      add_harm(row, r, 1);
    }
    errors_ += harm_[r];
    harm_[r] = -harm_[r];
    theory_ += step * bits_[r];
    count_ += step;
    chosen_[r] ^= 1;
  }

 private:
  std::int64_t* votes_of(std::int64_t row) { return votes_.data() + row * v_.n_classes; }

  // Of equals the class that comes first.
  Leaders leaders(std::int64_t row) {
    const std::int64_t* votes = votes_of(row);
    Leaders found;
    for (std::int32_t c = 0; c < v_.n_classes; ++c) {
      if (found.first < 0 || votes[c] > votes[found.first]) {
        found.second = std::exchange(found.first, c);
      } else if (found.second < 0 || votes[c] > votes[found.second]) {
        found.second = c;
      }
    }
    return found;
  }

  bool is_wrong(std::int64_t row) {
    const std::int32_t first = leaders(row).first;
    return first != v_.y[row] || votes_of(row)[first] == 0;
  }

  // Adds to the harm of the rules of a row, but one, what their flip does to it.
  void add_harm(std::int64_t row, std::int64_t except, int sign) {
    const std::int64_t* votes = votes_of(row);
    const Leaders lead = leaders(row);
    const std::int32_t y = v_.y[row];
    const bool wrong = lead.first != y || votes[lead.first] == 0;
    const std::int64_t weight = sign * weights_[row];
    for (const std::int32_t q : by_row_.of(row)) {
      if (q == except) continue;
      const std::int32_t c = v_.label[q];
      const std::int32_t other = c == lead.first ? lead.second : lead.first;
      const std::int64_t own = votes[c] + (chosen_[q] ? -strength_[q] : strength_[q]);
      const std::int64_t most = other < 0 ? std::numeric_limits<std::int64_t>::min() : votes[other];
      const bool wins = own > most || (own == most && c < other);
      const bool then = (wins ? c : other) != y || std::max(own, most) == 0;
      if (then != wrong) harm_[q] += then ? weight : -weight;
    }
  }

  double cost_of(std::int64_t errors, double theory, std::int64_t count) const {
    return error_bits(static_cast<double>(total_) * weights_.unit,
                      static_cast<double>(errors) * weights_.unit) +
           share_ * (theory - log2_factorial_[count]);
  }

  const Voting& v_;
  const RowRules& by_row_;
  const ScaledWeights& weights_;
  std::span<const double> bits_;
  double share_;
  std::vector<std::uint8_t> chosen_;
  std::vector<std::int64_t> harm_;  // weight of the errors that a flip adds, of each rule
  std::vector<std::int64_t> votes_, strength_;
  std::vector<double> log2_factorial_;
  std::int64_t total_ = 0, errors_ = 0, count_ = 0;
  double theory_ = 0;
};

auto choose_voting_rules(const Vector<std::int64_t>& offset, const Vector<std::int32_t>& rows,
                         const Vector<std::int32_t>& label, const Vector<double>& strength,
                         const Vector<std::int32_t>& y, const Vector<double>& weight,
                         const Vector<double>& bits, std::int32_t n_classes, double share) {
  const Voting voting{view(offset), view(rows), view(label), view(strength), view(y), n_classes};
  voting.check();
  if (bits.size() != label.size() || (weight.size() && weight.size() != y.size()))
    refuse("The arrays of the rules differ in length.");
  const ScaledWeights weights(view(weight));
  auto out = allocate(std::uint8_t{}, label.size());
  {
    GilRelease release;
    const RowRules by_row(voting.offset, voting.rows, voting.n_rows());
    VotingSubset subset(voting, by_row, weights, view(bits), share);
    subset.start();
    SignalPoll signals;
    for (bool moved = true; moved; signals()) {
      moved = false;
      for (std::int64_t r = 0; r < voting.n_rules(); ++r) {
        if (subset.cost_of_flip(r) >= subset.cost() - rules::kLeastSaving) continue;
        subset.flip(r);
        moved = true;
      }
    }
    std::copy(subset.chosen().begin(), subset.chosen().end(), out.data());
  }
  return out;
}

}  // namespace

void bind_vote_choice(nb::module_& m) {
  m.def("choose_voting_rules", &choose_voting_rules, nb::arg("rule_offset").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("label").noconvert(), nb::arg("strength").noconvert(),
        nb::arg("y").noconvert(), nb::arg("weight").noconvert(), nb::arg("bits").noconvert(),
        nb::arg("n_classes"), nb::arg("share"),
        "Rules that vote which tell the classes in the fewest bits.");
}

}  // namespace treewright
