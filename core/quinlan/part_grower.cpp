#include "quinlan/part_grower.hpp"

#include <algorithm>

namespace treewright {
namespace {

template <class Cell>
void gather(const Column& from, const std::vector<i32>& rows, std::vector<char>& to) {
  to.resize(rows.size() * sizeof(Cell));
  Cell* cells = reinterpret_cast<Cell*>(to.data());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells[i] = *reinterpret_cast<const Cell*>(from.at(rows[i]));
  }
}

Column gathered(const Column& from, const std::vector<i32>& rows, std::vector<char>& to) {
  Column column = from;
  switch (from.type) {
    case ColumnType::f32:
      gather<float>(from, rows, to);
      break;
    case ColumnType::f64:
      gather<double>(from, rows, to);
      break;
    case ColumnType::code:
      gather<i32>(from, rows, to);
      break;
  }
  column.data = to.data();
  column.stride = from.type == ColumnType::f64 ? sizeof(double) : sizeof(i32);
  return column;
}

}  // namespace

FlatTree PartGrower::grow(const std::vector<i32>& rows, const std::vector<double>& weights) {
  Problem part;
  part.params = whole_.params;
  part.params.n_threads = 1;  // parts are small
  part.cut_values = whole_.cut_values;
  part.targets = whole_.targets;
  part.n_rows = static_cast<i64>(rows.size());
  cells_.resize(whole_.columns.size());
  for (std::size_t f = 0; f < cells_.size(); ++f) {
    part.columns.push_back(gathered(whole_.columns[f], rows, cells_[f]));
  }
  label_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) label_[i] = whole_.targets.label[rows[i]];
  part.targets.label = label_.data();
  const bool weigh = std::any_of(weights.begin(), weights.end(), [](double w) { return w != 1.0; });
  part.targets.weight = weigh ? weights.data() : nullptr;
  Grown grown = treewright::grow(part, options_);
  return assemble(part, grown);
}

}  // namespace treewright
