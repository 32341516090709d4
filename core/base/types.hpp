// Plain records that pass between the parts of the core.
//
// Glossary
//   row        a row of the user's table
//   instance   a (row, weight) pair; a row with a gap may become several (fractional descent)
//   block      a self-contained set of instances with their columns in a searchable form
//   entry      (rank, instance) of one ordered feature; the entries of a node are contiguous
//   stats      int64 sums over instances: class weights, or weight and weighted targets
//   group      the instances of a node that share a category
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace treewright {

using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr double kInf = std::numeric_limits<double>::infinity();

// A winner is the first candidate whose gain lies this close (relative) to the best.
constexpr double kTie = 1e-12;

enum class ColumnType : u8 { f32, f64, code };

// One predictor as the table holds it; read in place, never copied.
struct Column {
  const void* data = nullptr;
  i64 stride = 0;  // bytes
  ColumnType type = ColumnType::f64;
  i32 n_categories = 0;   // codes only
  bool ordered = true;    // cuts keep the order (continuous, ordinal)
  bool multiway = false;  // one branch per category

  const char* at(i64 row) const { return static_cast<const char*>(data) + row * stride; }
  i32 code(i64 row) const { return *reinterpret_cast<const i32*>(at(row)); }
  // A number or a code as a number; a gap is NaN.
  double value(i64 row) const {
    if (type == ColumnType::f64) return *reinterpret_cast<const double*>(at(row));
    if (type == ColumnType::f32) return *reinterpret_cast<const float*>(at(row));
    const i32 c = code(row);
    return c < 0 ? std::numeric_limits<double>::quiet_NaN() : c;
  }
};

// How Quinlan's programs choose among the tests of a node.
struct QuinlanRules {
  bool single = false;      // in single precision, as release 8 of C4.5
  bool ratio = true;        // by gain ratio; otherwise by gain
  bool subset = false;      // group the categories of nominal features
  bool zero_gain = false;   // a test that gains nothing may win
  double min_items = 2;     // weight that two branches must have
  double tolerance = 0;     // a later cut or test wins if it is better by more than this
  bool count_rows = false;  // limits count rows where J48 does, not their weight
  double apart = 0;         // values that differ by no more are not cut apart
  bool c50 = false;         // the rules of C5.0, see quinlan/chooser.hpp
  double cases = 0;         // rows of the whole training set; 0: those of the problem
};

enum class GapPolicy : u8 { learned, surrogate, fractional, own_branch, majority };
enum class Task : u8 { classes, numbers };

constexpr i32 kNoLimit = std::numeric_limits<i32>::max();

struct Params {
  Task task = Task::classes;
  GapPolicy gaps = GapPolicy::learned;
  i32 n_threads = 1;
#define PARAMETER(type, name, value) type name = value;
#include "base/parameters.inc"
#undef PARAMETER
};

// What is predicted, over the rows of the table.
struct Targets {
  i32 n_classes = 0;  // classification
  i32 n_outputs = 1;  // regression
  const i32* label = nullptr;
  const double* y = nullptr;           // n × n_outputs, row-major
  const double* weight = nullptr;      // may be null
  std::vector<double> shift;           // per output, subtracted before sums of y are made
  std::vector<double> split_factor;    // class factors inside the criterion; empty: all one
  std::vector<double> risk_factor;     // class factors for risk; empty: all one
  std::vector<double> loss;            // n_classes², true × predicted; empty: 0/1
  std::vector<double> criterion_loss;  // the symmetric loss of the generalised Gini index
};

enum class SplitKind : u8 { leaf = 0, breaks = 1, codes = 2, linear = 3 };
constexpr i32 kGapFraction = -1;
constexpr i32 kGapStop = -2;

struct Split {
  SplitKind kind = SplitKind::leaf;
  i32 feature = -1;
  bool closed = false;
  bool reversed = false;
  i32 n_branches = 0;
  i32 gap_branch = kGapStop;  // where a gap goes
  bool own_gap_branch = false;
  double gain = 0;
  std::vector<double> breaks;
  std::vector<i32> codes, branches;
  std::vector<i32> term_feature, term_code;  // the code of a category, or kNoCode
  std::vector<double> term_weight;

  // Makes it a leaf's again, and keeps the memory.
  void reset() {
    kind = SplitKind::leaf;
    feature = -1;
    closed = reversed = own_gap_branch = false;
    n_branches = 0;
    gap_branch = kGapStop;
    gain = 0;
    breaks.clear();
    codes.clear();
    branches.clear();
    term_feature.clear();
    term_code.clear();
    term_weight.clear();
  }
};

struct Surrogate {
  Split split;
  double agreement = 0, adjusted = 0;
};

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace treewright
