// Sums over trees that say one of a few things about a row: which row of some values it gets.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "base/types.hpp"

namespace treewright {

// Where every leaf says 1 of one column and 0 of the others, as pure ones do, trees are counted:
// few bytes instead of doubles, and as their sums are whole numbers nothing is lost. Of two codes
// the second is counted alone.
class Votes {
 public:
  // Whether rows of values are such, and as many trees can be counted.
  static bool are(const double* values, i64 n_codes, i64 width, i64 n_trees) {
    if (n_codes < 2 || n_trees > std::numeric_limits<u16>::max()) return false;
    for (i64 c = 0; c < n_codes; ++c, values += width) {
      if (std::count(values, values + width, 1.0) != 1) return false;
      if (std::count(values, values + width, 0.0) != width - 1) return false;
    }
    return true;
  }

  Votes(const double* values, i64 n_codes, i64 width, i64 n_trees)
      : width_(width), n_trees_(n_trees), step_(n_codes == 2 ? 1 : n_codes) {
    for (i64 c = 0; c < n_codes; ++c, values += width) {
      column_.push_back(std::find(values, values + width, 1.0) - values);
    }
    if (step_ > 1) return;
    to_win_ = n_trees + (column_[0] < column_[1]);
    mean_of_.assign((n_trees + 1) * width, 0.0);
    for (i64 n = 0; n <= n_trees; ++n) {
      const i64 of_code[] = {n_trees - n, n};
      write(of_code, 2, mean_of_.data() + n * width);
    }
  }

  void start(i64 n_rows, std::vector<u16>& votes) const { votes.assign(n_rows * step_, 0); }

  // row(i): the i-th row; code(row): what a tree says of it.
  template <class Row, class Code>
  void add(i64 n_rows, Row&& row, Code&& code, u16* votes) const {
    if (step_ == 1) {
      for (i64 i = 0; i < n_rows; ++i) votes[row(i)] += static_cast<u16>(code(row(i)));
    } else {
      for (i64 i = 0; i < n_rows; ++i) ++votes[row(i) * step_ + code(row(i))];
    }
  }

  void means(i64 n_rows, const u16* votes, double* to) const {
    if (step_ == 1)
      return width_ == 2 ? look_up<2>(n_rows, votes, to) : look_up<0>(n_rows, votes, to);
    for (i64 i = 0; i < n_rows; ++i, to += width_, votes += step_) {
      std::fill_n(to, width_, 0.0);
      write(votes, step_, to);
    }
  }

  // The column with the most votes, of equal ones the first.
  void winners(i64 n_rows, const u16* votes, i32* to) const {
    if (step_ == 1) {
      const i32 column[2] = {static_cast<i32>(column_[0]), static_cast<i32>(column_[1])};
      for (i64 i = 0; i < n_rows; ++i) to[i] = column[2 * votes[i] >= to_win_];
      return;
    }
    for (i64 i = 0; i < n_rows; ++i, votes += step_) {
      i64 best = 0;
      for (i64 c = 1; c < step_; ++c) {
        const bool is_first = votes[c] == votes[best] && column_[c] < column_[best];
        if (votes[c] > votes[best] || is_first) best = c;
      }
      to[i] = static_cast<i32>(column_[best]);
    }
  }

  // Of listed rows, those whose winner the trees after the first n_done can still change stay on
  // the list; how many they are. The winner of the others is that of the votes they have.
  i64 still_open(i64 n_done, const u16* votes, u32* list, i64 n_listed) const {
    const i64 left = n_trees_ - n_done;
    i64 n = 0;
    for (i64 i = 0; i < n_listed; ++i) {
      const u32 row = list[n] = list[i];
      if (step_ == 1) {
        const i64 twice = 2 * votes[row];
        n += (twice >= to_win_ - 2 * left) & (twice < to_win_);
        continue;
      }
      const u16* of_row = votes + row * step_;
      i64 most = 0, next = 0;
      for (i64 c = 0; c < step_; ++c) {
        next = std::max(next, std::min<i64>(most, of_row[c]));
        most = std::max<i64>(most, of_row[c]);
      }
      n += most - next <= left;
    }
    return n;
  }

 private:
  // Shares of the trees that say each code; `to` is zero.
  template <class Count>
  void write(const Count* of_code, i64 n_codes, double* to) const {
    for (i64 c = 0; c < n_codes; ++c) to[column_[c]] += static_cast<double>(of_code[c]);
    for (i64 k = 0; k < width_; ++k) to[k] /= static_cast<double>(n_trees_);
  }

  // kWidth numbers for each row, or any number if that is 0.
  template <int kWidth>
  void look_up(i64 n_rows, const u16* votes, double* to) const {
    const i64 width = kWidth ? kWidth : width_;
    for (i64 i = 0; i < n_rows; ++i, to += width) {
      const double* from = mean_of_.data() + votes[i] * width;
      for (i64 k = 0; k < width; ++k) to[k] = from[k];
    }
  }

  i64 width_, n_trees_, step_;
  i64 to_win_ = 0;               // twice the votes that the second of two codes needs
  std::vector<i64> column_;      // of each code
  std::vector<double> mean_of_;  // by the votes for the second of two codes
};

}  // namespace treewright
