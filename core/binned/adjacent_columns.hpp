// Passes over tables of floats or doubles whose columns are adjacent, as those of a matrix are.
//
// Column by column such a table is read one cell at a time. Row by row, vector instructions compare
// many columns at once.
#pragma once

#include <vector>

#include "base/types.hpp"

namespace treewright {

class AdjacentColumns {
 public:
  // The listed columns of a table; is_there() is false where they do not lie like that.
  AdjacentColumns(const std::vector<Column>& table, const std::vector<i32>& columns);

  bool is_there() const { return width_ > 0; }
  // Its number among the columns.
  i64 place_of(const Column& column) const;

  // A number for each column, as the table has them.
  class Cells {
   public:
    Cells(const AdjacentColumns& columns, double value);
    void set(i64 column, double value);

   private:
    friend class AdjacentColumns;
    bool is_float_;
    std::vector<float> floats_;
    std::vector<double> doubles_;
  };

  // Sets other[c] where a row has neither of two numbers in column c.
  void see_others(i64 begin, i64 end, const Cells& first, const Cells& second, i64* other) const;

  // Bit c of a row's words is set where column c has the value; n_words() words per row.
  i64 n_words() const { return (width_ + 63) / 64; }
  void see_equal(i64 begin, i64 end, const Cells& value, u64* words) const;

 private:
  const char* at(i64 row) const { return data_ + row * stride_; }

  const char* data_ = nullptr;
  i64 stride_ = 0, width_ = 0;
  bool is_float_ = true;
};

}  // namespace treewright
