// Sums of losses that do not depend on the order of rows, nor on the blocks they come in.
//
// A row's loss is rounded once, to a unit fixed before the first round: 2⁻³⁵ of the power of two
// above the largest loss at the start. Losses beyond 2¹⁶ times that power count as so much.
#pragma once

#include <algorithm>
#include <cmath>

#include "binned/slope_sums.hpp"

namespace treewright::boost {

// The unit in which factors of rows are summed, from the largest of them.
inline double factor_unit(double most, i64 n_counted) {
  return std::ldexp(1.0, Scale::power_above(most) - std::min(50, 62 - Units::bits(n_counted)));
}

class LossUnit {
 public:
  explicit LossUnit(int power = 0) : limit_(std::ldexp(1.0, power + 16)), unit_(limit_ * 0x1p-51) {}

  // From the largest loss of a row at the start.
  static LossUnit above(double most) {
    int power = 0;
    if (most > 0 && std::isfinite(most)) std::frexp(most, &power);
    return LossUnit(power);
  }

  i64 whole(double loss) const {
    const double v = std::clamp(loss, -limit_, limit_) * (1 / unit_);
    constexpr double kRound = 0x1.8p52;
    return static_cast<i64>((v + kRound) - kRound);
  }
  double unit() const { return unit_; }

 private:
  double limit_, unit_;
};

inline bool are_finite(const double* values, i64 n) {
  double zero = 0;  // NaN if any is not
  for (i64 i = 0; i < n; ++i) zero += values[i] * 0.0;
  return zero == 0;
}

struct LossSum {
  __int128 loss = 0;    // in units of the losses
  __int128 weight = 0;  // in units of the factors
  bool is_finite = true;

  void add(const LossSum& o) {
    loss += o.loss;
    weight += o.weight;
    is_finite &= o.is_finite;
  }
  double mean(const LossUnit& unit, double factor_unit) const {
    if (!is_finite) return kInf;
    return static_cast<double>(loss) * unit.unit() / (static_cast<double>(weight) * factor_unit);
  }

  // The losses of at most 256 rows. `count`: how often each counts, null: once; `factor`: its
  // weight, null: one.
  void add_rows(const LossUnit& unit, double factor_unit, const double* each, i64 n,
                const i32* count, const double* factor) {
    is_finite &= are_finite(each, n);
    if (!is_finite) return;
    i64 sum = 0, weights = 0;
    if (!count && !factor) {
      for (i64 i = 0; i < n; ++i) sum += unit.whole(each[i]);
      weights = n * std::llrint(1 / factor_unit);
    } else {
      for (i64 i = 0; i < n; ++i) {
        const i64 times = count ? count[i] : 1;
        const double each_factor = factor ? factor[i] : 1.0;
        sum += unit.whole(each[i] * each_factor) * times;
        weights += times * std::llrint(each_factor / factor_unit);
      }
    }
    loss += sum;
    weight += weights;
  }
};

}  // namespace treewright::boost
