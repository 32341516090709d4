// A booster: scores of rows, and rounds that grow a tree (for every column of scores one) against
// the slope of the loss there.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/callable.hpp"
#include "binned/bins.hpp"
#include "binned/histogram.hpp"
#include "binned/slope_sums.hpp"
#include "boost/loss_sum.hpp"
#include "boost/losses.hpp"
#include "boost/params.hpp"
#include "boost/sampling.hpp"

namespace treewright::boost {

template <class Sum>
class Grower;

// Rows whose scores follow the trees: those of training, or others that judge them.
struct Judged {
  std::shared_ptr<const Bins> bins;
  std::vector<double> y;       // n, or n × columns by column; class numbers for multinomial
  std::vector<i32> count;      // how often each row counts; empty: once
  std::vector<double> factor;  // weight of each row beside that; empty: all one
  std::vector<double> score;   // by column

  i64 n_rows() const { return bins->n_rows(); }
  i64 count_of(i64 row) const { return count.empty() ? 1 : count[row]; }
  double factor_of(i64 row) const { return factor.empty() ? 1.0 : factor[row]; }
  double weight_of(i64 row) const { return factor_of(row) * static_cast<double>(count_of(row)); }
};

struct LossParams {
  LossKind kind = LossKind::squared;
  i32 n_columns = 1;
  double number = 0;  // quantile, Tweedie's power, or the share of residuals within Huber's delta
};

struct RoundParams {
  double learning_rate = 0.1;
  i64 number = 0;  // of the round; decides its draws
  // Gradients and hessians of a user's loss, by column.
  const double* gradient = nullptr;
  const double* hessian = nullptr;
};

class Booster {
 public:
  Booster(Judged training, GrowParams grow, LossParams loss, SamplingParams sampling,
          int n_threads);
  ~Booster();

  // One tree for every column of scores; they are added to the scores and to trees().
  void round(const RoundParams& params, Callable<void()> poll);

  // Mean loss of some rows at their scores.
  double loss(const Judged& rows) const;

  Judged training;
  std::vector<Judged> others;  // rows that follow
  std::vector<BinTree> trees;  // grown so far

 private:
  template <class Sum>
  struct Hand;  // what one thread grows trees with

  template <class Sum>
  void grow_all(const RoundParams& params, Callable<void()> poll);
  template <class Sum>
  void grow_column(const RoundParams& params, i32 column, Hand<Sum>& hand, int n_threads,
                   Callable<void()> poll);
  template <class Sum>
  Units fill(const RoundParams& params, i32 column, Hand<Sum>& hand, int n_threads);
  template <class Sum, class Slopes>
  Units fill_with(i32 column, Hand<Sum>& hand, u64 key, int n_threads, Slopes&& slopes_of);
  template <class Sum>
  void renew(const Grower<Sum>& grower, i32 column, BinTree& tree, int n_threads) const;
  template <class Sum>
  void follow(const Grower<Sum>& grower, const BinTree& tree, i32 column, bool is_sampled,
              int n_threads);

  template <class F>
  void each_loss(const Judged& rows, F&& f) const;
  template <class OfRow>
  LossSum sum_losses(const Judged& rows, double factor_unit, OfRow&& of_row) const;
  LossUnit unit_at_start();

  void class_probabilities();
  double huber_delta(i32 column) const;
  double weight_of(std::span<const u32> rows) const;
  bool is_narrow() const;

  GrowParams grow_;
  LossParams loss_;
  SamplingParams sampling_;
  int n_threads_;
  i64 n_counted_;           // rows, as often as they count
  double factor_unit_ = 1;  // of the sums of factors
  LossUnit loss_unit_;
  std::vector<float> probability_;  // multinomial, by column
  std::vector<double> delta_;       // Huber, by column
  std::vector<Scale> scales_;       // of the last round, by column; where the next one begins
  std::vector<std::shared_ptr<void>>
      hands_;  // of the rounds: memory that is fresh costs more than a small tree
};

}  // namespace treewright::boost
