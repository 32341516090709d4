// Choosing some of the rules of a class so that rules and exceptions are told in the fewest bits.
//
// The rules of a class say which rows are of it. What they cost is a share of the bits of their
// conditions, less log2 of the orders in which they could be told; what they leave to be told is
// which covered rows are not of the class (fp) and which uncovered ones are (fn). Errors are coded
// as if they fell on both sides alike; the smaller side has a code of its own.
//
// All subsets are tried for a few rules; otherwise rules are added to and taken from all of them,
// from none, from random subsets of every size, and from the best end with three rules flipped, one
// at a time, as long as that saves bits. For every rule the rows that it alone decides are kept up
// to date, so that a step costs one look at each rule, and a move the rows of one rule. Of very
// many rules several are moved after each look.
//
// References: Quinlan (1993), C4.5: Programs for Machine Learning, chapter 5; Quinlan (1995), MDL
// and categorical theories (continued), ICML-95.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/binding.hpp"
#include "base/module.hpp"
#include "base/philox.hpp"
#include "base/signals.hpp"
#include "prune/error_based.hpp"
#include "rules/voting.hpp"
#include "rules/weights.hpp"

namespace treewright {
namespace {

using rules::kLeastSaving;

// Bits to tell `chosen` of `total` rows, each expected with probability p.
double subset_bits(double total, double chosen, double p) {
  double bits = 0;
  if (chosen > 0) bits -= chosen * std::log2(p);
  if (total - chosen > 0) bits -= (total - chosen) * std::log2(1 - p);
  return bits;
}

double exception_bits(double covered, double uncovered, double fp, double fn) {
  const double errors = fp + fn;
  double bits = std::log2(covered + uncovered + 1);
  if (covered >= uncovered) {
    if (covered > 0) bits += subset_bits(covered, fp, errors / (2 * covered));
    if (uncovered > 0) bits += subset_bits(uncovered, fn, fn / uncovered);
  } else {
    bits += subset_bits(uncovered, fn, errors / (2 * uncovered));
    if (covered > 0) bits += subset_bits(covered, fp, fp / covered);
  }
  return bits;
}

// Weight of rows of the class and of others, scaled.
struct Pair {
  std::int64_t in = 0, out = 0;

  Pair& operator+=(const Pair& other) {
    in += other.in;
    out += other.out;
    return *this;
  }
  Pair operator-() const { return {-in, -out}; }
};

// Rules and rows: which rows a rule covers, and which rules cover a row.
struct Coverage {
  std::span<const std::int64_t> offset;  // rule r covers rows[offset[r]:offset[r + 1]]
  std::span<const std::int32_t> rows;
  const rules::RowRules& by_row;
  std::vector<Pair> weight;  // of each row

  std::int64_t n_rules() const { return std::ssize(offset) - 1; }
};

// A subset of the rules, and what it costs.
class Subset {
 public:
  Subset(const Coverage& coverage, std::span<const double> bits, double share, double unit)
      : c_(&coverage),
        bits_(bits),
        share_(share),
        unit_(unit),
        chosen_(coverage.n_rules(), 0),
        times_(coverage.weight.size(), 0),
        alone_(coverage.n_rules()) {
    log2_factorial_.push_back(0);
    for (std::int64_t k = 1; k <= c_->n_rules(); ++k)
      log2_factorial_.push_back(log2_factorial_.back() + std::log2(static_cast<double>(k)));
    for (const Pair& w : c_->weight) total_ += w;
    for (std::int64_t r = 0; r < c_->n_rules(); ++r)
      for (std::int64_t i = c_->offset[r]; i < c_->offset[r + 1]; ++i)
        alone_[r] += c_->weight[c_->rows[i]];
  }

  const std::vector<std::uint8_t>& chosen() const { return chosen_; }
  double cost() const { return cost_of(covered_, theory_, count_); }

  // The cost after a rule was added or taken away.
  double cost_of_flip(std::int64_t r) const {
    Pair covered = covered_;
    covered += chosen_[r] ? -alone_[r] : alone_[r];
    const int step = chosen_[r] ? -1 : 1;
    return cost_of(covered, theory_ + step * bits_[r], count_ + step);
  }

  void flip(std::int64_t r) {
    const bool leaves = chosen_[r];
    const int step = leaves ? -1 : 1;
    covered_ += leaves ? -alone_[r] : alone_[r];
    theory_ += step * bits_[r];
    count_ += step;
    chosen_[r] = !leaves;
    for (std::int64_t i = c_->offset[r]; i < c_->offset[r + 1]; ++i) {
      const std::int32_t row = c_->rows[i];
      const std::int32_t others = times_[row] - leaves;
      times_[row] += step;
      if (others > 1) continue;
      // With no other rule on the row, those outside of the subset gain or lose it; with one,
      // that one has it alone or no longer.
      const Pair change = leaves ? c_->weight[row] : -c_->weight[row];
      for (const std::int32_t q : c_->by_row.of(row)) {
        if (q != r && chosen_[q] == (others == 1)) alone_[q] += change;
      }
    }
  }

 private:
  double cost_of(const Pair& covered, double theory, std::int64_t count) const {
    auto number = [&](std::int64_t scaled) { return static_cast<double>(scaled) * unit_; };
    const double c = number(covered.in + covered.out);
    const double u = number(total_.in + total_.out - covered.in - covered.out);
    return share_ * (theory - log2_factorial_[count]) +
           exception_bits(c, u, number(covered.out), number(total_.in - covered.in));
  }

  const Coverage* c_;
  std::span<const double> bits_;
  double share_, unit_;
  std::vector<double> log2_factorial_;
  std::vector<std::uint8_t> chosen_;
  std::vector<std::int32_t> times_;  // chosen rules on each row
  std::vector<Pair> alone_;          // rows that no other chosen rule covers, of each rule
  Pair covered_, total_;
  double theory_ = 0;
  std::int64_t count_ = 0;
};

// Every subset, by a Gray code; the first of the cheapest.
std::vector<std::uint8_t> try_all(Subset& subset, std::int64_t n_rules, SignalPoll& signals) {
  std::vector<std::uint8_t> best = subset.chosen();
  double least = subset.cost();
  for (std::uint64_t i = 1; i < std::uint64_t{1} << n_rules; ++i) {
    subset.flip(std::countr_zero(i));
    signals();
    if (subset.cost() >= least - kLeastSaving) continue;
    least = subset.cost();
    best = subset.chosen();
  }
  return best;
}

// Moves the rule that saves most as long as one saves anything. One look at all rules serves for
// one move in kRulesPerMove rules, as long as a move still saves half of what it promised.
void climb(Subset& subset, std::int64_t n_rules, SignalPoll& signals) {
  constexpr std::int64_t kRulesPerMove = 500;
  const std::int64_t most_moves = 1 + n_rules / kRulesPerMove;
  std::vector<std::pair<double, std::int64_t>> savings;
  for (;;) {
    savings.clear();
    const double now = subset.cost();
    for (std::int64_t r = 0; r < n_rules; ++r) {
      const double saving = now - subset.cost_of_flip(r);
      if (saving > kLeastSaving) savings.push_back({-saving, r});
    }
    if (savings.empty()) return;
    const auto end = savings.begin() + std::min<std::int64_t>(most_moves, std::ssize(savings));
    std::partial_sort(savings.begin(), end, savings.end());
    for (auto move = savings.begin(); move != end; ++move) {
      const double saving = subset.cost() - subset.cost_of_flip(move->second);
      if (saving > kLeastSaving && saving >= -move->first / 2) subset.flip(move->second);
    }
    signals();
  }
}

// Whether start `i` of `n_starts` holds a rule: all do, none does, then random ones that grow.
bool starts_with(std::int64_t i, std::int64_t n_starts, std::int64_t rule) {
  if (i < 2) return i == 0;
  const u64 drawn = child_path(static_cast<u64>(i), static_cast<i32>(rule)) >> 32;
  return drawn * static_cast<u64>(n_starts - 1) < static_cast<u64>(i - 1) << 32;
}

std::vector<std::uint8_t> choose(const Coverage& coverage, std::span<const double> bits,
                                 double share, double unit, std::int64_t most_exhaustive,
                                 std::int64_t n_random) {
  constexpr i32 kFlips = 3;
  const std::int64_t n = coverage.n_rules();
  const Subset none(coverage, bits, share, unit);
  Subset best = none;
  SignalPoll signals;
  if (n <= most_exhaustive) return try_all(best, n, signals);
  const std::int64_t n_starts = 2 + n_random;
  for (std::int64_t i = 0; i < n_starts + n_random; ++i) {
    Subset subset = i < n_starts ? none : best;
    if (i < n_starts) {
      for (std::int64_t r = 0; r < n; ++r)
        if (starts_with(i, n_starts, r)) subset.flip(r);
    } else {
      for (i32 flip = 0; flip < kFlips; ++flip)
        subset.flip(static_cast<std::int64_t>(child_path(static_cast<u64>(i), flip) % n));
    }
    climb(subset, n, signals);
    if (i == 0 || subset.cost() < best.cost() - kLeastSaving) best = std::move(subset);
  }
  return best.chosen();
}

auto choose_rules(const Vector<std::int64_t>& offset, const Vector<std::int32_t>& rows,
                  const Vector<bool>& is_class, const Vector<double>& weight,
                  const Vector<double>& bits, double share, std::int64_t most_exhaustive,
                  std::int64_t n_random) {
  const std::size_t n_rows = is_class.size();
  if (offset.size() != bits.size() + 1 || (weight.size() && weight.size() != n_rows) ||
      most_exhaustive > 20 || n_random < 0)
    refuse("The arrays of the rules differ in length.");
  rules::check_coverage(view(offset), view(rows), static_cast<std::int64_t>(n_rows));
  const rules::RowRules by_row(view(offset), view(rows), static_cast<std::int64_t>(n_rows));
  Coverage coverage{view(offset), view(rows), by_row, {}};
  const ScaledWeights weights(view(weight));
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::int64_t w = weights[static_cast<std::int64_t>(i)];
    coverage.weight.push_back(is_class.data()[i] ? Pair{w, 0} : Pair{0, w});
  }
  std::vector<std::uint8_t> chosen;
  {
    GilRelease release;
    chosen = choose(coverage, view(bits), share, weights.unit, most_exhaustive, n_random);
  }
  auto out = allocate(std::uint8_t{}, chosen.size());
  std::copy(chosen.begin(), chosen.end(), out.data());
  return out;
}

auto error_rate(const Vector<double>& covered, const Vector<double>& wrong, double confidence,
                double z, double tail) {
  if (covered.size() != wrong.size()) refuse("Covered and wrong must be one for each rule.");
  ErrorRules rules;
  rules.confidence = confidence;
  rules.z = z;
  rules.tail = tail;
  auto out = allocate(double{}, covered.size());
  for (std::size_t i = 0; i < covered.size(); ++i) {
    const double n = covered.data()[i], e = wrong.data()[i];
    out.data()[i] = n > 0 ? (e + added_errors(n, e, rules)) / n : 1.0;
  }
  return out;
}

}  // namespace

void bind_rule_choice(nb::module_& m) {
  m.def("error_rate", &error_rate, nb::arg("covered").noconvert(), nb::arg("wrong").noconvert(),
        nb::arg("confidence"), nb::arg("z"), nb::arg("tail"),
        "Pessimistic error rate of each rule.");
  m.def("choose_rules", &choose_rules, nb::arg("rule_offset").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("is_class").noconvert(), nb::arg("weight").noconvert(),
        nb::arg("bits").noconvert(), nb::arg("share"), nb::arg("most_exhaustive"),
        nb::arg("n_random"), "Rules of a class that tell it in the fewest bits.");
}

}  // namespace treewright
