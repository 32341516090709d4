// Dropping conditions of rules, as c4.5rules does.
//
// A rule starts as the tests on the way to a node. As long as that does not raise the estimated
// error rate of the rule over all training rows, the test whose loss leaves the lowest rate is
// dropped; of equals, the one furthest from the root.
//
// A rule looks at 64 rows with one word. How many of its tests each row fails is kept in binary,
// one word per digit, so that adding and dropping a test are sums on words. Without test i the rule
// gains the rows that fail i and nothing else. Rules that follow each other come from neighbouring
// leaves and share most tests: the next one starts from the sums of the last, and answers to tests
// are kept as long as they fit a budget, so that memory does not grow with the number of rules.
// Whoever calls should give the rows in the order of the leaves: rows that fail one and the same
// test then share words, and most words have no row that matters.
//
// Reference: Quinlan (1993), C4.5: Programs for Machine Learning, chapter 5.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "prune/error_based.hpp"
#include "rules/answers.hpp"
#include "rules/rules.hpp"
#include "rules/words.hpp"

namespace treewright::rules {

// The training rows of a class problem, as words.
struct LearningRows {
  std::int64_t n_rows = 0;
  std::vector<Words> is_class;              // per class, bit i: row i has it
  const std::vector<std::int64_t>* weight;  // scaled; empty: all one

  LearningRows(std::span<const std::int32_t> labels, std::int32_t n_classes,
               const std::vector<std::int64_t>& weights)
      : n_rows(static_cast<std::int64_t>(labels.size())),
        is_class(n_classes, Words((labels.size() + 63) / 64, 0)),
        weight(&weights) {
    for (std::int64_t i = 0; i < n_rows; ++i)
      is_class[labels[i]][i / 64] |= std::uint64_t{1} << (i % 64);
  }

  // Bits of word w that are rows.
  std::uint64_t valid(std::int64_t w) const {
    const std::int64_t left = n_rows - 64 * w;
    return left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
  }

  // Weight of the rows of word w that are set in bits.
  std::int64_t sum(std::int64_t w, std::uint64_t bits) const {
    if (weight->empty()) return std::popcount(bits);
    std::int64_t total = 0;
    for (; bits; bits &= bits - 1) total += (*weight)[64 * w + std::countr_zero(bits)];
    return total;
  }
};

// How rules are judged: by an upper limit of their errors, or by Laplace's estimate.
struct Judge {
  std::optional<ErrorRules> limit;
  double unit = 1;  // of weights

  double error_rate(std::int64_t covered, std::int64_t wrong) const {
    const double n = static_cast<double>(covered) * unit, e = static_cast<double>(wrong) * unit;
    if (!limit) return (e + 1) / (n + 2);
    return n > 0 ? (e + added_errors(n, e, *limit)) / n : 1.0;
  }
};

// Covered weight, and how much of it is of other classes.
struct Support {
  std::int64_t covered = 0, wrong = 0;

  double error_rate(const Judge& judge) const { return judge.error_rate(covered, wrong); }
};

// How many tests each row fails, in binary: bit i of digit d belongs to row i of the word.
class Failures {
 public:
  void reset(std::int64_t n_words) {
    n_words_ = n_words;
    carry_.resize(n_words);
    digits_.clear();
    n_tests_ = 0;
  }

  void add(const Words& pass) {
    ++n_tests_;
    if (std::bit_width(n_tests_) > digits_.size()) digits_.emplace_back(n_words_, 0);
    fail(pass);
    for (Words& digit : digits_) add_digit(digit.data(), carry_.data(), n_words_);
  }

  void subtract(const Words& pass) {
    --n_tests_;
    fail(pass);
    for (Words& digit : digits_) subtract_digit(digit.data(), carry_.data(), n_words_);
    if (std::bit_width(n_tests_) < digits_.size()) digits_.pop_back();
  }

  // Rows that fail no test, and those that fail one.
  void few(Words& none, Words& one) const {
    none.resize(n_words_);
    one.resize(n_words_);
    std::array<const std::uint64_t*, 64> digits;
    for (std::size_t d = 0; d < digits_.size(); ++d) digits[d] = digits_[d].data();
    none_or_one(digits.data(), digits_.size(), none.data(), one.data(), n_words_);
  }

 private:
  void fail(const Words& pass) { invert(pass.data(), carry_.data(), n_words_); }

  std::int64_t n_words_ = 0;
  std::uint64_t n_tests_ = 0;
  std::vector<Words> digits_;
  Words carry_;
};

class Generaliser {
 public:
  Generaliser(const RuleModel& model, const LearningRows& rows, const Judge& judge,
              const SortedFeatures& sorted, const Input& input)
      : model_(model), rows_(rows), judge_(judge), answers_(model, input, sorted) {
    all_.reset(answers_.n_words());
  }

  // Marks the tests of a rule that stay, in the order of the rule.
  Support run(std::int64_t rule, std::int32_t label, std::uint8_t* kept) {
    const std::int64_t begin = model_.rule_offset[rule], end = model_.rule_offset[rule + 1];
    move_to({model_.rule_tests.begin() + begin, model_.rule_tests.begin() + end});
    const std::int64_t n_tests = end - begin;
    std::fill_n(kept, n_tests, 1);
    Failures failures = all_;
    std::vector<Support> without(n_tests);
    Support now = count(failures, kept, label, without);
    double rate = now.error_rate(judge_);
    for (std::int64_t left = n_tests; left > 0; --left) {
      const auto [best, best_rate] = cheapest(kept, without);
      if (best_rate > rate) break;
      kept[best] = 0;
      rate = best_rate;
      now = without[best];
      if (left == 1) break;
      failures.subtract(*words_[best]);
      count(failures, kept, label, without);
    }
    return now;
  }

 private:
  // From the tests of the last rule to those of the next.
  void move_to(std::vector<std::int32_t> next) {
    std::size_t same = 0;
    while (same < tests_.size() && same < next.size() && tests_[same] == next[same]) ++same;
    for (std::size_t i = same; i < tests_.size(); ++i) all_.subtract(*words_[i]);
    tests_ = std::move(next);
    answers_.make_room(tests_);
    words_.clear();
    for (const std::int32_t t : tests_) words_.push_back(&answers_.of(t));
    for (std::size_t i = same; i < tests_.size(); ++i) all_.add(*words_[i]);
  }

  // The test whose loss leaves the lowest rate, the last of equals.
  std::pair<std::int64_t, double> cheapest(const std::uint8_t* kept,
                                           const std::vector<Support>& without) const {
    std::int64_t best = -1;
    double best_rate = 0;
    for (std::int64_t i = 0; i < std::ssize(without); ++i) {
      if (!kept[i]) continue;
      const double rate = without[i].error_rate(judge_);
      if (best >= 0 && rate > best_rate) continue;
      best = i;
      best_rate = rate;
    }
    return {best, best_rate};
  }

  // Support of the rule with the kept tests; in `without` that of the rule less each of them.
  Support count(const Failures& failures, const std::uint8_t* kept, std::int32_t label,
                std::vector<Support>& without) {
    const Words& of_class = rows_.is_class[label];
    failures.few(none_, one_);
    std::fill(without.begin(), without.end(), Support{});
    Support now;
    std::size_t last = 0;  // the test that failed last: that of the next rows, as a rule
    for (std::int64_t w = 0; w < answers_.n_words(); ++w) {
      if (!(none_[w] | one_[w])) continue;
      const std::uint64_t none = none_[w] & rows_.valid(w);
      std::uint64_t one = one_[w] & rows_.valid(w);
      if (none) add(now, w, none, of_class[w]);
      auto move = [&](std::size_t i) {
        const std::uint64_t gained = one & ~(*words_[i])[w];
        if (!gained) return;
        add(without[i], w, gained, of_class[w]);
        one ^= gained;
        last = i;
      };
      if (one && kept[last]) move(last);
      for (std::size_t i = without.size(); one && i-- > 0;)
        if (kept[i]) move(i);
    }
    for (Support& each : without) {
      each.covered += now.covered;
      each.wrong += now.wrong;
    }
    return now;
  }

  void add(Support& to, std::int64_t w, std::uint64_t bits, std::uint64_t of_class) const {
    to.covered += rows_.sum(w, bits);
    to.wrong += rows_.sum(w, bits & ~of_class);
  }

  const RuleModel& model_;
  const LearningRows& rows_;
  const Judge& judge_;
  Answers answers_;
  Failures all_;                     // of all tests of the current rule
  std::vector<std::int32_t> tests_;  // of the current rule
  std::vector<const Words*> words_;  // their answers
  Words none_, one_;
};

}  // namespace treewright::rules
