// Rules over rows: which rows satisfy which conjunctions of tests.
//
// Rules share their tests: a pool of distinct tests, and per rule a list into it. A test answers
// 64 rows with one word, so a rule is the AND of a few words and a test is read once per row
// however many rules use it. Tests are evaluated when a rule first asks for them.
//
// A gap is a NaN (codes that are gaps or out of range are read as NaN); a test says itself whether
// a gap satisfies it. Bounds are closed on both sides: "x < b" comes as "x <= the double below b".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/term.hpp"
#include "predict/input.hpp"

namespace treewright::rules {

using predict::Column;
using predict::Input;
using predict::max_piece;
using predict::Number;

// One test per entry; *_offset arrays have one entry more.
struct TestArrays {
  std::span<const std::uint8_t> kind;
  std::span<const std::int32_t> feature;
  std::span<const std::uint8_t> gap;
  std::span<const double> low, high;
  std::span<const std::int64_t> code_offset;
  std::span<const std::int32_t> codes;
  std::span<const std::int64_t> term_offset;
  std::span<const std::int32_t> term_feature;
  std::span<const double> term_weight;
  std::span<const std::int32_t> term_code;
};

struct Test {
  enum Kind : std::uint8_t { interval, codes, other_codes, linear };  // as in rules/_matching.py

  Kind kind;
  bool gap;
  std::int32_t feature;
  double low, high;
  std::int64_t begin, end;  // words of a set of codes, or terms
};

struct RuleModel {
  std::vector<std::int32_t> n_categories;  // -1 for continuous features
  std::vector<std::int32_t> used;          // features that some test reads, ascending
  std::vector<Test> tests;
  std::vector<std::uint64_t> words;  // bit c: code c is in the set
  std::vector<std::int32_t> term_feature, term_code;
  std::vector<double> term_weight;
  std::vector<std::int64_t>
      rule_offset;  // rule r has rule_tests[rule_offset[r]:rule_offset[r + 1]]
  std::vector<std::int32_t> rule_tests;

  // Throws std::invalid_argument where an index leads out of an array.
  RuleModel(std::span<const std::int32_t> categories, const TestArrays& arrays,
            std::span<const std::int64_t> offset, std::span<const std::int32_t> listed);

  std::int64_t n_rules() const { return static_cast<std::int64_t>(rule_offset.size()) - 1; }
};

constexpr std::int32_t n_words = max_piece / 64;
using Bits = std::array<std::uint64_t, n_words>;

// What one thread needs to match a piece of rows: their values, and the answers so far.
class Piece {
 public:
  explicit Piece(const RuleModel& model)
      : model_(model),
        values_(new double[model.n_categories.size() * max_piece]),
        answers_(model.tests.size()),
        loaded_(model.tests.size(), 0) {}

  void load(const Input& input, std::int64_t start, std::int32_t count) {
    ++current_;
    count_ = count;
    for (const std::int32_t f : model_.used) load_feature(input, f, start, count);
  }

  // The answer to one test, of which only the features that it reads are loaded.
  Bits answer_of(const Input& input, std::int32_t t, std::int64_t start, std::int32_t count) {
    ++current_;
    count_ = count;
    const Test& asked = model_.tests[t];
    if (asked.kind == Test::linear) {
      for (std::int64_t k = asked.begin; k < asked.end; ++k)
        load_feature(input, model_.term_feature[k], start, count);
    } else {
      load_feature(input, asked.feature, start, count);
    }
    return answer(asked);
  }

  // Copies the values of one feature.
  void read(const Input& input, std::int32_t f, std::int64_t start, std::int64_t count,
            double* out) {
    load_feature(input, f, start, static_cast<std::int32_t>(count));
    std::copy_n(column(f), count, out);
  }

  Bits everyone() const {
    Bits bits{};
    for (std::int32_t i = 0; i < n_words; ++i) {
      const std::int32_t left = std::clamp(count_ - 64 * i, 0, 64);
      bits[i] = left == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    }
    return bits;
  }

  // Rows among `candidates` that satisfy every test of a rule.
  Bits match(std::int64_t rule, Bits candidates) {
    for (std::int64_t i = model_.rule_offset[rule]; i < model_.rule_offset[rule + 1]; ++i) {
      const Bits& answer = test(model_.rule_tests[i]);
      std::uint64_t left = 0;
      for (std::int32_t w = 0; w < n_words; ++w) left |= candidates[w] &= answer[w];
      if (!left) break;
    }
    return candidates;
  }

  const Bits& test(std::int32_t t) {
    if (loaded_[t] != current_) {
      answers_[t] = answer(model_.tests[t]);
      loaded_[t] = current_;
    }
    return answers_[t];
  }

 private:
  // One byte per row first, which compilers vectorise, then eight bytes at a time into bits: the
  // product moves bit 8k of a word to bit 56 + k.
  template <class Holds>
  Bits pack(Holds holds) const {
    alignas(8) std::uint8_t answer[max_piece] = {};
    const std::int32_t count = count_;
    for (std::int32_t i = 0; i < count; ++i) answer[i] = holds(i);
    Bits bits{};
    for (std::int32_t i = 0; i < max_piece; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, answer + i, 8);
      if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
      bits[i / 64] |= (eight * 0x0102040810204080ULL >> 56) << (i % 64);
    }
    return bits;
  }

  void load_feature(const Input& input, std::int32_t f, std::int64_t start, std::int32_t count) {
    double* out = values_.get() + static_cast<std::ptrdiff_t>(f) * max_piece;
    Column column;
    if (input.is_block) {
      const std::size_t size = input.type == Number::float64 ? sizeof(double) : sizeof(float);
      column = {input.type, f, -1, static_cast<const char*>(input.data) + f * size, input.row_step};
    } else {
      const auto at = std::lower_bound(model_.used.begin(), model_.used.end(), f);
      column = input.columns[at - model_.used.begin()];  // they are in the order of `used`
    }
    if (column.type == Number::float64)
      predict::gather<double>(column, start, count, out);
    else if (column.type == Number::float32)
      predict::gather<float>(column, start, count, out);
    else
      predict::gather<std::int32_t>(column, start, count, out);
  }

  const double* column(std::int32_t f) const {
    return values_.get() + static_cast<std::ptrdiff_t>(f) * max_piece;
  }

  Bits answer(const Test& t) const {
    if (t.kind == Test::linear) {
      return pack([&](std::int32_t i) {
        double x = 0;
        for (std::int64_t k = t.begin; k < t.end; ++k)
          x += model_.term_weight[k] *
               term_value(column(model_.term_feature[k])[i], model_.term_code[k]);
        return x != x ? t.gap : x >= t.low && x <= t.high;
      });
    }
    const double* x = column(t.feature);
    if (t.kind == Test::interval) {
      // Copies: a store of bytes might change what a reference leads to.
      return pack([x, low = t.low, high = t.high, gap = t.gap](std::int32_t i) {
        return ((x[i] >= low) & (x[i] <= high)) | (gap & (x[i] != x[i]));
      });
    }
    const std::uint64_t* set = model_.words.data() + t.begin;
    const auto n_codes = 64 * (t.end - t.begin);
    const bool negated = t.kind == Test::other_codes;
    return pack([&](std::int32_t i) {
      if (x[i] != x[i]) return t.gap;
      const auto code = static_cast<std::int64_t>(x[i]);
      const bool listed = code < n_codes && (set[code / 64] >> (code % 64) & 1);
      return listed != negated;
    });
  }

  const RuleModel& model_;
  std::unique_ptr<double[]> values_;
  std::vector<Bits> answers_;
  std::vector<std::uint64_t> loaded_;  // the piece that each answer belongs to
  std::uint64_t current_ = 0;
  std::int32_t count_ = 0;
};

// Calls visit(i) for every row of a piece that is set in bits.
template <class Visit>
void for_each_row(const Bits& bits, Visit visit) {
  for (std::int32_t w = 0; w < n_words; ++w)
    for (std::uint64_t left = bits[w]; left; left &= left - 1)
      visit(64 * w + std::countr_zero(left));
}

}  // namespace treewright::rules
