#include "mars/search.hpp"

#include "base/simd.hpp"

namespace treewright::mars {
namespace {

constexpr double kLog2Of20Plus3 = 7.32193;  // Friedman's 3 + log2(1/0.05)

struct Totals {
  double lane[kLanes];
};

// Products of the hinges of all knots, and of the feature (in totals), with four columns.
TREEWRIGHT_VECTORS void scan(const Run& run, const std::vector<i32>& at, const double* columns,
                             double* products, Totals& totals) {
  Lanes sum = {}, hinge = {}, total = {};
  const i32* row = at.data();
  const double *b = run.b.data(), *x = run.x.data();
  const i64 n = static_cast<i64>(run.rows.size()), n_knots = static_cast<i64>(run.after.size());
  double last = n ? x[0] : 0;
  i64 i = 0;
  for (i64 k = 0; k <= n_knots; ++k) {
    const i64 stop = k < n_knots ? run.after[k] : n;
    for (; i < stop; ++i) {
      const Lanes z = load(columns + static_cast<i64>(row[i]) * kLanes) * b[i];
      hinge += sum * (last - x[i]);
      sum += z;
      total += z * x[i];
      last = x[i];
    }
    if (k < n_knots) store(products + k * kLanes, hinge + sum * (last - run.knot[k]));
  }
  store(totals.lane, total);
}

// Lengths of the hinges and their products with the feature, before anything is taken out.
void begin(Known& known, const Run& run) {
  const i64 n = static_cast<i64>(run.rows.size()), n_knots = static_cast<i64>(run.after.size());
  known.outside.resize(n_knots);
  known.cross.resize(n_knots);
  known.spread.resize(n_knots);
  double mass = 0, moment = 0, length = 0, lever = 0, cross = 0, own = 0;
  double last = n ? run.x[0] : 0;
  i64 i = 0;
  for (i64 k = 0; k <= n_knots; ++k) {
    const i64 stop = k < n_knots ? run.after[k] : n;
    for (; i < stop; ++i) {
      const double step = last - run.x[i], square = run.b[i] * run.b[i];
      length += step * (2 * moment + step * mass);
      moment += step * mass;
      cross += step * lever;
      mass += square;
      lever += square * run.x[i];
      own += square * run.x[i] * run.x[i];
      last = run.x[i];
    }
    if (k == n_knots) break;
    const double step = last - run.knot[k];
    known.outside[k] = length + step * (2 * moment + step * mass);
    known.cross[k] = cross + step * lever;
  }
  known.feature_outside = own;
  known.n_columns = 0;
  known.is_ready = true;
}

// Takes one column of the basis out of the hinges and the feature.
void take(Known& known, const double* products, int lane, double total) {
  const i64 n_knots = static_cast<i64>(known.outside.size());
  for (i64 k = 0; k < n_knots; ++k) {
    const double h = products[k * kLanes + lane];
    known.outside[k] -= h * h;
    known.cross[k] -= h * total;
  }
  known.feature_outside -= total * total;
  if (known.n_columns == 0) {  // the constant term: what is left is the spread about the mean
    for (i64 k = 0; k < n_knots; ++k) known.spread[k] = static_cast<float>(known.outside[k]);
    known.feature_spread = known.feature_outside;
  }
  ++known.n_columns;
}

// Gains of the knots from the products with the residuals of all responses.
Found score(const Known& known, const Run& run, const std::vector<double>& products,
            const std::vector<Totals>& totals, i32 first_lane, i32 n_responses,
            const Limits& limits) {
  Found found;
  const i64 n_knots = static_cast<i64>(known.outside.size());
  const double outside = known.feature_outside;
  found.is_new = outside > kSpanned * known.feature_spread;
  const auto lane_of = [&](i32 r) { return (first_lane + r) % kLanes; };
  const auto part_of = [&](i32 r) { return (first_lane + r) / kLanes; };
  if (found.is_new) {
    for (i32 r = 0; r < n_responses; ++r) {
      const double t = totals[part_of(r)].lane[lane_of(r)];
      found.linear_gain += t * t / outside;
    }
  }
  double best = 0;
  for (i64 k = 0; k < n_knots; ++k) {
    const double slope = found.is_new ? known.cross[k] / outside : 0;
    const double length = known.outside[k] - slope * (found.is_new ? known.cross[k] : 0);
    if (!(length > limits.tolerance * known.spread[k]) || !(known.spread[k] > 0)) continue;
    double gain = 0;
    for (i32 r = 0; r < n_responses; ++r) {
      const double h = products[(part_of(r) * n_knots + k) * kLanes + lane_of(r)] -
                       slope * totals[part_of(r)].lane[lane_of(r)];
      gain += h * h / length;
    }
    if (gain > best * (1 + kTie) && found.linear_gain + gain <= limits.most) {
      best = gain;
      found.knot_row = run.knot_row[k];
    }
  }
  if (found.knot_row >= 0) found.knot_gain = found.linear_gain + best;
  return found;
}

}  // namespace

Spans spans(const Options& options, i32 n_features, double n, double support, bool is_interaction) {
  Spans s;
  double end =
      options.endspan > 0 ? options.endspan : std::floor(kLog2Of20Plus3 + std::log2(n_features));
  if (is_interaction) end += std::floor(options.adjust_endspan * end + 0.5);
  s.end = std::max(1.0, std::min(end, std::floor(n / 2) - 1));
  if (options.minspan < 0) {
    s.step = std::max(1.0, std::ceil(support / (1 - options.minspan)));
    s.first = std::max(s.end, s.step - 1);
    return s;
  }
  s.step = options.minspan > 0
               ? options.minspan
               : std::max(1.0, std::floor((2.9702 + std::log(n_features * support)) / 1.7329));
  // What is left over when the knots are laid out goes to both ends.
  const double left = std::fmod(std::max(0.0, std::floor(n) - 2 * s.end - 1), s.step);
  s.first = s.end + std::ceil(left / 2);
  return s;
}

void Run::gather(const Feature& feature, const double* parent, const double* root_weight,
                 const double* copies, double n, const Spans& spans, bool is_linear) {
  const i64 n_rows = static_cast<i64>(feature.order.size());
  rows.resize(n_rows);
  places.resize(n_rows);
  b.resize(n_rows);
  x.resize(n_rows);
  after.clear();
  knot.clear();
  knot_row.clear();
  const i32* order = feature.order.data();
  double counted = 0, above = 0, next = spans.first, top = 0;
  i64 m = 0;
  for (i64 i = 0; i < n_rows; ++i) {
    const i32 row = order[i];
    const double w = copies ? copies[row] : 1;
    if (parent[i] != 0) {
      const double value = feature.x[i];
      if (m == 0) top = value;
      rows[m] = row;
      places[m] = static_cast<i32>(i);
      b[m] = root_weight ? parent[i] * root_weight[row] : parent[i];
      x[m++] = value;
      // A row counts once a knot at the row below would have a hinge above zero.
      const bool has_below = i + 1 < n_rows;
      const double below = has_below ? feature.x[i + 1] : value;
      const double share = value < top ? w : has_below && below < top ? std::min(w, 1.0) : 0;
      for (counted += share; !is_linear && share > 0 && next <= counted; next += spans.step) {
        // Among the copies of a row the knot is at the row, after the last at the row below.
        const bool at_row = next <= counted - 1;
        const double passed = above + w - (counted - next);
        // The other steps among these copies would offer the same knot.
        if (at_row) next += spans.step * std::floor((counted - 1 - next) / spans.step);
        if ((!at_row && !has_below) || passed > n - 1 - spans.end) continue;
        const i64 chosen = at_row ? i : i + 1;
        if (!knot.empty() && knot.back() == feature.x[chosen]) continue;
        after.push_back(static_cast<i32>(m));
        knot.push_back(feature.x[chosen]);
        knot_row.push_back(order[chosen]);
      }
    }
    above += w;
  }
  rows.resize(m);
  places.resize(m);
  b.resize(m);
  x.resize(m);
}

void sort_columns(Workspace& work, const Sources& sources, const Feature& feature,
                  const double* terms) {
  const i64 n = static_cast<i64>(feature.order.size());
  const i32* order = feature.order.data();
  work.parents.resize(n * kBlock);
  for (i64 i = 0; i < n; ++i) {
    const double* from = terms + static_cast<i64>(order[i]) * kBlock;
    for (int k = 0; k < kBlock; ++k) work.parents[k * n + i] = from[k];
  }
  if (!sources.n_fresh) return;
  work.sorted.resize(n * kLanes);
  for (i64 i = 0; i < n; ++i) {
    store(work.sorted.data() + i * kLanes,
          load(sources.fresh.data() + static_cast<i64>(order[i]) * kLanes));
  }
}

Found search(Known& known, Workspace& work, const Sources& sources, const Limits& limits) {
  const Run& run = work.run;
  const std::size_t width = run.after.size() * kLanes;
  const i32 n_basis = sources.basis.size(), n_responses = sources.residual.size();
  if (!known.is_ready) begin(known, run);
  work.products.resize(width);
  if (sources.n_fresh && known.n_columns == n_basis - sources.n_fresh) {
    std::vector<Totals> totals(1);
    scan(run, run.places, work.sorted.data(), work.products.data(), totals[0]);
    for (i32 j = 0; j < sources.n_fresh; ++j)
      take(known, work.products.data(), j, totals[0].lane[j]);
    return score(known, run, work.products, totals, sources.n_fresh, n_responses, limits);
  }
  while (known.n_columns < n_basis) {
    const i32 block = known.n_columns / kLanes;
    Totals totals;
    scan(run, run.rows, sources.basis.block(block), work.products.data(), totals);
    const i32 stop = std::min((block + 1) * kLanes, n_basis);
    for (i32 j = known.n_columns; j < stop; ++j)
      take(known, work.products.data(), j % kLanes, totals.lane[j % kLanes]);
  }
  std::vector<Totals> totals(sources.residual.n_blocks());
  work.residual_products.resize(width * totals.size());
  for (std::size_t block = 0; block < totals.size(); ++block)
    scan(run, run.rows, sources.residual.block(static_cast<i32>(block)),
         work.residual_products.data() + block * width, totals[block]);
  return score(known, run, work.residual_products, totals, 0, n_responses, limits);
}

}  // namespace treewright::mars
