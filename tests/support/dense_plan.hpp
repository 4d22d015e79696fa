#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/plan/criterion.hpp"

namespace gpilot::test {

/// L^-1 E[L x'] of one point (x, c) [I]: where the mean of the transition leads.
Vector mean_step(const ssm::Transition& transition, VectorRef point);

/// d mean_step / dx at a point, by central differences [D x D].
Matrix step_slope(const ssm::Transition& transition, VectorRef point);

/// Mean outputs of rows 1..H [E H] under a plan [P H], with `kick` [D x H] added to L x' on the way.
Vector kicked_outputs(const plan::DecisionContext& context, const Vector& plan, const Matrix& kick);

/// cov(f(x_a), f(x_b)) of Gaussian process g of the model, from its features, residual included.
Matrix dense_covariance(const ssm::Transition& transition, std::size_t g, const Matrix& X);

/// One path of the linearised model, every part written out: with the sources s = (x_0, w, f, v) less their means,
/// outputs = to_outputs s. The values of f are those of process 0 at the points of the path, then process 1, ...
struct DensePath {
  Matrix to_start;     ///< [outputs x D]
  Matrix to_noise;     ///< [outputs x D H], what enters the rows of L x', those of one row of the path together
  Matrix to_function;  ///< [outputs x G H]
};

/// A path through points [H x I]; its outputs are those of rows 0..H, E of each row together.
DensePath dense_path(const ssm::Transition& transition, const Matrix& points);

/// What is left of the covariance of some values when others are known, which has `known` on its diagonal and `cross`
/// between [others x values].
Matrix conditioned(const Matrix& own, const Matrix& cross, const Matrix& known);

/// A block diagonal matrix.
Matrix block_diagonal(const std::vector<Matrix>& blocks);

}  // namespace gpilot::test
