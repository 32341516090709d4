// The answer of a test to all training rows, as words of 64 rows.
//
// Most tests of a tree compare a feature with a bound of its own, so that every answer is asked for
// once or twice. A continuous feature is therefore sorted once, with the answer to "x comes before
// rank r" kept for every 64th part of the ranks: a new answer is the nearest of those and a few
// single bits. (Comparing all rows anew took 30 times as long.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "base/threads.hpp"
#include "rules/rules.hpp"

namespace treewright::rules {

using Words = std::vector<std::uint64_t>;

// One feature in ascending order, gaps last.
struct SortedFeature {
  std::vector<std::int32_t> order;  // rows
  std::vector<double> values;       // in that order, without gaps
  std::int64_t step = 1;            // ranks between two marks
  std::vector<Words> marks;         // mark m: the rows of the first m * step ranks

  bool empty() const { return order.empty(); }

  SortedFeature() = default;
  explicit SortedFeature(const std::vector<double>& column) : order(column.size()) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return column[a] < column[b] || (column[a] == column[a] && column[b] != column[b]);
    });
    for (const std::int32_t row : order)
      if (column[row] == column[row]) values.push_back(column[row]);
    constexpr std::int64_t n_marks = 64;
    step = std::max<std::int64_t>(1, (std::ssize(order) + n_marks - 1) / n_marks);
    Words words((order.size() + 63) / 64, 0);
    for (std::int64_t rank = 0; rank <= std::ssize(order); ++rank) {
      if (rank % step == 0) marks.push_back(words);
      if (rank < std::ssize(order)) flip(words, order[rank]);
    }
  }

  // Flips the rows of the first `rank` ranks.
  void flip_before(Words& words, std::int64_t rank) const {
    const std::int64_t mark =
        std::min<std::int64_t>((rank + step / 2) / step, std::ssize(marks) - 1);
    for (std::size_t w = 0; w < words.size(); ++w) words[w] ^= marks[mark][w];
    for (std::int64_t r = std::min(rank, mark * step); r < std::max(rank, mark * step); ++r)
      flip(words, order[r]);
  }

  Words answer(const Test& test) const {
    Words words((order.size() + 63) / 64, 0);
    const auto begin = std::lower_bound(values.begin(), values.end(), test.low);
    const auto end = std::upper_bound(begin, values.end(), test.high);
    flip_before(words, begin - values.begin());
    flip_before(words, end - values.begin());
    if (test.gap) {
      flip_before(words, std::ssize(values));
      flip_before(words, std::ssize(order));
    }
    return words;
  }

 private:
  static void flip(Words& words, std::int32_t row) {
    words[row / 64] ^= std::uint64_t{1} << (row % 64);
  }
};

// The features that tests compare with bounds, as far as they fit the memory; shared by threads.
struct SortedFeatures {
  std::vector<SortedFeature> features;  // empty for those that are not sorted

  template <class Poll>
  SortedFeatures(const RuleModel& model, const Input& input, int n_threads, Poll& poll)
      : features(model.n_categories.size()) {
    std::vector<std::int32_t> compared;
    for (const Test& test : model.tests)
      if (test.kind == Test::interval) compared.push_back(test.feature);
    std::sort(compared.begin(), compared.end());
    compared.erase(std::unique(compared.begin(), compared.end()), compared.end());
    constexpr std::int64_t most_bytes = std::int64_t{1} << 28;
    const std::int64_t bytes = 20 * input.n_rows + 1;  // order, values and marks of a feature
    const std::int64_t n = std::min(std::ssize(compared), most_bytes / bytes);
    parallel_for(
        n, n_threads,
        [&](std::int64_t i, int) {
          features[compared[i]] = SortedFeature(column(model, input, compared[i]));
        },
        poll);
  }

 private:
  static std::vector<double> column(const RuleModel& model, const Input& input, std::int32_t f) {
    Piece piece(model);
    std::vector<double> values(input.n_rows);
    for (std::int64_t start = 0; start < input.n_rows; start += max_piece)
      piece.read(input, f, start, std::min<std::int64_t>(max_piece, input.n_rows - start),
                 values.data() + start);
    return values;
  }
};

// Answers of one thread, kept up to a budget.
class Answers {
 public:
  Answers(const RuleModel& model, const Input& input, const SortedFeatures& sorted)
      : model_(model), input_(input), sorted_(sorted), piece_(model) {}

  std::int64_t n_words() const { return (input_.n_rows + 63) / 64; }

  // Forgets all answers but those to `needed`, if there are too many.
  void make_room(const std::vector<std::int32_t>& needed) {
    constexpr std::size_t budget = std::size_t{1} << 25;  // bytes
    if (held_.size() * n_words() * 8 <= budget) return;
    std::unordered_map<std::int32_t, Words> next;
    for (const std::int32_t t : needed) {
      const auto known = held_.find(t);
      if (known != held_.end()) next.insert(held_.extract(known));
    }
    held_ = std::move(next);
  }

  const Words& of(std::int32_t t) {
    const auto [at, is_new] = held_.try_emplace(t);
    if (is_new) at->second = evaluate(t);
    return at->second;
  }

 private:
  Words evaluate(std::int32_t t) {
    const Test& test = model_.tests[t];
    if (test.kind == Test::interval && !sorted_.features[test.feature].empty())
      return sorted_.features[test.feature].answer(test);
    Words words(n_words(), 0);
    for (std::int64_t start = 0; start < input_.n_rows; start += max_piece) {
      const auto count =
          static_cast<std::int32_t>(std::min<std::int64_t>(max_piece, input_.n_rows - start));
      const Bits bits = piece_.answer_of(input_, t, start, count);
      for (std::int64_t w = 0; w < rules::n_words && start / 64 + w < std::ssize(words); ++w)
        words[start / 64 + w] = bits[w];
    }
    return words;
  }

  const RuleModel& model_;
  const Input& input_;
  const SortedFeatures& sorted_;
  Piece piece_;
  std::unordered_map<std::int32_t, Words> held_;
};

}  // namespace treewright::rules
