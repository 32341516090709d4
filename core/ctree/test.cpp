// The tests of features at nodes.
#include <cmath>
#include <memory>

#include "base/threads.hpp"
#include "ctree/association.hpp"
#include "ctree/design.hpp"

namespace treewright {
namespace {

// Values that make a piece of work, and those that make it worth another thread.
constexpr i64 kPiece = 16384;
constexpr i64 kSharedValues = 65536;

// Memory of one thread.
struct TestBuffers {
  KnownValues known;
  FeatureDesign design;
  std::vector<double> m;
};

template <class T>
bool is_dense(const Column& column, ColumnType type) {
  return column.type == type && column.stride == sizeof(T);
}

// The same in one pass over the numbers of a column, without weights. They are shifted by one of
// them, so that the squares lose at most the digits of n to cancellation. False where that is not
// good enough: gaps, numbers beyond all measure, or next to no variation.
template <class T>
bool associate_numbers(const Column& column, const double* h, const ResponseMoments& moments,
                       const RowSet& set, Association& result) {
  const T* values = static_cast<const T*>(column.data);
  const auto at = [&](i64 i) { return static_cast<double>(values[set.rows[i]]); };
  const double ends[2] = {std::min(at(0), at(set.n - 1)), std::max(at(0), at(set.n - 1))};
  const double shift = std::min(std::max(at(set.n / 2), ends[0]), ends[1]);
  const ShiftedSums s = shifted_sums(values, set.rows, h, set.n, shift);
  const double n = moments.weight, spread = n * s.squares - s.sum * s.sum;
  if (!(s.squares > 1e-250 && s.squares < 1e250 && spread > 1e-6 * n * s.squares)) return false;
  const double m = s.product - s.sum * moments.mean.back(), c = spread / (n - 1);
  const double both[2] = {-m, m};
  const double* ms = moments.is_classes ? both : both + 1;
  result.quadratic = moments.form(ms) / c;
  result.maximum = std::sqrt(moments.largest(ms) / c);
  result.rank = moments.rank;
  return true;
}

Association associate_one(const Column& column, const NodeResponse& y, const ResponseMoments& whole,
                          const RowSet& set, bool with_covariance, TestBuffers& buffers) {
  Association result;
  if (const double* h = y.single(); h && !set.weights && whole.rank == 1 && set.n > 1) {
    const bool done = (is_dense<float>(column, ColumnType::f32) &&
                       associate_numbers<float>(column, h, whole, set, result)) ||
                      (is_dense<double>(column, ColumnType::f64) &&
                       associate_numbers<double>(column, h, whole, set, result));
    if (done && with_covariance) result.covariance = whole.full_covariance();
    if (done) return result;
  }
  KnownValues& known = buffers.known;
  read_known(column, set, known);
  if (!known.size()) return result;
  std::unique_ptr<ResponseMoments> own;
  if (known.has_gaps) own = std::make_unique<ResponseMoments>(y, set, &known.at);
  const ResponseMoments& moments = own ? *own : whole;
  if (moments.rank < 1 || !(moments.weight > 1)) return result;
  FeatureDesign& design = buffers.design;
  design.fit(known, set, moments.weight);
  if (!design.varies) return result;
  std::vector<double>& m = buffers.m;
  linear_statistic(design, known, y, moments, set, OwnResponse{known}, m);
  result.quadratic = design.score(Form::quadratic, moments, m);
  result.maximum = std::sqrt(design.score(Form::maximum, moments, m));
  result.rank = design.rank(moments);
  if (with_covariance) {
    result.level_weight = design.group_weight;
    result.covariance = moments.full_covariance();
  }
  return result;
}

// What all tests at a node share.
struct NodeSums {
  NodeResponse y;
  ResponseMoments whole;

  NodeSums(const TestedResponse& response, const RowSet& set)
      : y(response, set), whole(y, set, nullptr) {}
};

// Some features of one node.
struct Piece {
  i64 node, first, last;
};

std::vector<Piece> cut_in_pieces(const std::vector<RowSet>& nodes, i64 width) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].n) continue;
    const i64 step = std::max<i64>(1, kPiece / nodes[i].n);
    for (i64 first = 0; first < width; first += step) {
      pieces.push_back({static_cast<i64>(i), first, std::min(width, first + step)});
    }
  }
  return pieces;
}

}  // namespace

std::vector<Association> associate(const std::vector<Column>& columns,
                                   const TestedResponse& response, const std::vector<RowSet>& nodes,
                                   const std::vector<i32>& features, i64 width,
                                   bool with_covariance, int n_threads, const Poll& poll) {
  std::vector<Association> found(features.size());
  std::vector<std::unique_ptr<NodeSums>> sums(nodes.size());
  i64 values = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].n) sums[i] = std::make_unique<NodeSums>(response, nodes[i]);
    values += nodes[i].n * width;
  }
  const std::vector<Piece> pieces = cut_in_pieces(nodes, width);
  const int team = values < kSharedValues ? 1 : n_threads;
  std::vector<TestBuffers> buffers(team);
  parallel_for(
      static_cast<i64>(pieces.size()), team,
      [&](i64 at, int thread) {
        const Piece& piece = pieces[at];
        const NodeSums& node = *sums[piece.node];
        for (i64 k = piece.first; k < piece.last; ++k) {
          const i64 place = piece.node * width + k;
          found[place] = associate_one(columns[features[place]], node.y, node.whole,
                                       nodes[piece.node], with_covariance, buffers[thread]);
        }
      },
      poll);
  return found;
}

}  // namespace treewright
