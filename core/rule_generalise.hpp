// Dropping conditions of rules, as c4.5rules does.
//
// A rule starts as the tests on the way to a leaf. As long as that does not raise the pessimistic
// error rate of the rule over all training rows, the test whose loss leaves the lowest rate is
// dropped; of equals, the one furthest from the root.
//
// A rule looks at 64 rows with one word: `none` holds the rows that fail none of its tests, `one`
// those that fail exactly one. Without test i the rule gains the rows of `one` that fail i, so one
// pass over the words answers for all tests. Rules that follow each other come from neighbouring
// leaves and share most tests, whose answers are kept from one rule to the next: memory does not
// grow with the number of rules.
//
// Reference: Quinlan (1993), C4.5: Programs for Machine Learning, chapter 5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "error_based.hpp"
#include "rules.hpp"

namespace treewright::rules {

using Words = std::vector<std::uint64_t>;

// The training rows of a class problem, as words.
struct LearningRows {
  std::int64_t n_rows = 0;
  std::vector<Words> is_class;            // per class, bit i: row i has it
  const std::vector<std::int64_t>* weight;  // scaled; empty: all one
  double unit = 1;

  LearningRows(std::span<const std::int32_t> labels, std::int32_t n_classes,
               const std::vector<std::int64_t>& weights, double weight_unit)
      : n_rows(static_cast<std::int64_t>(labels.size())),
        is_class(n_classes, Words((labels.size() + 63) / 64, 0)),
        weight(&weights),
        unit(weight_unit) {
    for (std::int64_t i = 0; i < n_rows; ++i)
      is_class[labels[i]][i / 64] |= std::uint64_t{1} << (i % 64);
  }

  // Weight of the rows of word w that are set in bits.
  std::int64_t sum(std::int64_t w, std::uint64_t bits) const {
    if (weight->empty()) return std::popcount(bits);
    std::int64_t total = 0;
    for (; bits; bits &= bits - 1) total += (*weight)[64 * w + std::countr_zero(bits)];
    return total;
  }
};

// Covered weight, and how much of it is of other classes.
struct Support {
  std::int64_t covered = 0, wrong = 0;

  double error_rate(double unit, const ErrorRules& rules) const {
    const double n = static_cast<double>(covered) * unit, e = static_cast<double>(wrong) * unit;
    return n > 0 ? (e + added_errors(n, e, rules)) / n : 1.0;
  }
};

class Generaliser {
 public:
  Generaliser(const RuleModel& model, const Input& input, const LearningRows& rows,
              const ErrorRules& rules)
      : model_(model), input_(input), rows_(rows), rules_(rules), piece_(model) {}

  // Marks the tests of a rule that stay, in the order of the rule.
  Support run(std::int64_t rule, std::int32_t label, std::uint8_t* kept) {
    const std::int64_t begin = model_.rule_offset[rule], end = model_.rule_offset[rule + 1];
    fetch(begin, end);
    const std::int64_t n_tests = end - begin;
    std::fill_n(kept, n_tests, 1);
    Support now = count(kept, n_tests, label, nullptr);
    double rate = now.error_rate(rows_.unit, rules_);
    std::vector<Support> without(n_tests);
    for (std::int64_t left = n_tests; left > 0; --left) {
      count(kept, n_tests, label, without.data());
      std::int64_t best = -1;
      double best_rate = 0;
      for (std::int64_t i = 0; i < n_tests; ++i) {
        if (!kept[i]) continue;
        const double r = without[i].error_rate(rows_.unit, rules_);
        if (best < 0 || r <= best_rate) {
          best = i;
          best_rate = r;
        }
      }
      if (best_rate > rate) break;
      kept[best] = 0;
      rate = best_rate;
      now = without[best];
    }
    return now;
  }

 private:
  // The answers to the tests of a rule over all rows, those of the last rule taken over.
  void fetch(std::int64_t begin, std::int64_t end) {
    std::unordered_map<std::int32_t, Words> next;
    answers_.clear();
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t t = model_.rule_tests[i];
      if (next.contains(t)) continue;
      const auto known = held_.find(t);
      next[t] = known == held_.end() ? evaluate(t) : std::move(known->second);
    }
    held_ = std::move(next);
    for (std::int64_t i = begin; i < end; ++i)
      answers_.push_back(&held_[model_.rule_tests[i]]);
  }

  Words evaluate(std::int32_t t) {
    Words words((rows_.n_rows + 63) / 64, 0);
    for (std::int64_t start = 0; start < rows_.n_rows; start += max_piece) {
      const auto count =
          static_cast<std::int32_t>(std::min<std::int64_t>(max_piece, rows_.n_rows - start));
      const Bits bits = piece_.answer_of(input_, t, start, count);
      for (std::int64_t w = 0; w < n_words && start / 64 + w < std::ssize(words); ++w)
        words[start / 64 + w] = bits[w];
    }
    return words;
  }

  // Support of the rule with the kept tests; in `without` that of the rule less each of them.
  Support count(const std::uint8_t* kept, std::int64_t n_tests, std::int32_t label,
                Support* without) {
    const Words& of_class = rows_.is_class[label];
    Support now;
    for (std::int64_t i = 0; without && i < n_tests; ++i) without[i] = {};
    for (std::int64_t w = 0; w < std::ssize(of_class); ++w) {
      const std::int64_t last = rows_.n_rows - 64 * w;
      std::uint64_t none = last >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << last) - 1;
      std::uint64_t one = 0;
      for (std::int64_t i = 0; i < n_tests && (none | one); ++i) {
        if (!kept[i]) continue;
        const std::uint64_t pass = (*answers_[i])[w];
        one = (one & pass) | (none & ~pass);
        none &= pass;
      }
      if (none) add(now, w, none, of_class[w]);
      if (!without || !one) continue;
      for (std::int64_t i = 0; i < n_tests; ++i) {
        if (!kept[i]) continue;
        const std::uint64_t gained = one & ~(*answers_[i])[w];
        if (gained) add(without[i], w, gained, of_class[w]);
      }
    }
    for (std::int64_t i = 0; without && i < n_tests; ++i) {
      without[i].covered += now.covered;
      without[i].wrong += now.wrong;
    }
    return now;
  }

  void add(Support& to, std::int64_t w, std::uint64_t bits, std::uint64_t of_class) const {
    to.covered += rows_.sum(w, bits);
    to.wrong += rows_.sum(w, bits & ~of_class);
  }

  const RuleModel& model_;
  const Input& input_;
  const LearningRows& rows_;
  const ErrorRules& rules_;
  Piece piece_;
  std::unordered_map<std::int32_t, Words> held_;  // test → its answer
  std::vector<const Words*> answers_;             // in the order of the current rule
};

}  // namespace treewright::rules
