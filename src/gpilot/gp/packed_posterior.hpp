#pragma once

#include <functional>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/inducing.hpp"

namespace gpilot::gp {

/// Values [N x F] at the rows of X [N x I] of functions whose weights are not known, each with a standard normal prior.
using ExtraFeatures = std::function<Matrix(MatrixRef X)>;

/// A stationary kernel, with or without a linear one beside it, and points in its domain, embedded: I_e columns. An
/// input that it does not depend on has an infinite length scale.
struct AnchoredKernel {
  kernels::Kind kind = kernels::Kind::kSquaredExponential;
  double variance = 1.0;
  kernels::Angles angles{};
  Vector length_scales;  ///< [I_e]
  Vector linear_sd;      ///< [I_e + 1] or empty
  Matrix anchors;        ///< [T x I_e]
  kernels::Form form{};
  ExtraFeatures extra{};      ///< may be empty
  Matrix extra_at_anchors{};  ///< [T x F]

  /// k(anchors, anchors) [T x T].
  Matrix gram() const;
};

/// The posterior of a sparse GP, folded for many predictions. With the plain features phi(x) = (k(x, Z), x, 1), x
/// embedded, the whitened ones are a = B phi, and with the eigenvectors of what the data changed, diag(I, 0) - Sigma =
/// U diag(l) U^T,
///
///   mean f = phi^T (B^T mu),   var f = sigma^2 - sum_j l_j (phi^T B^T U)_j^2:
///
/// one matrix product instead of the two of InducingBasis::predict, and a narrow one while there are few data, since
/// directions that no data touched have l_j = 0 and are left out. Agrees with it to rounding.
class PackedPosterior {
 public:
  PackedPosterior(const InducingBasis& basis, const Weights& q);

  /// A Gaussian process conditioned on linear measurements of its values at anchors: with the prior k of `kernel`,
  /// whose stationary part has the anchors as its points, cov(f(x), f(y)) = k(x, y) - k(x, anchors) B k(anchors, y). B
  /// [T x T] is symmetric and positive semi-definite. The mean is left at 0.
  PackedPosterior(const AnchoredKernel& kernel, MatrixRef B);

  /// Mean and variance of f at the rows of X [N x I].
  void predict(MatrixRef X, Eigen::Ref<Vector> mean, Eigen::Ref<Vector> variance) const;

  /// What further moments need of points: their scaled inputs and their projections on the directions.
  struct Points {
    Matrix Xs;   ///< [N x I_e], embedded and divided by the length scales
    Matrix P;    ///< [N x directions]
    Matrix Xe;   ///< scratch: [N x I_e]
    Matrix phi;  ///< scratch
  };

  /// Mean of f at the rows of X [N x I] and its derivative in every input [N x I], and the points for covariance().
  void predict(MatrixRef X, Points& points, Vector& mean, Matrix& slope) const;

  /// The points alone.
  void project(MatrixRef X, Points& points) const;

  /// V(a, b) = cov(f(x_a), f(y_b)) = k(x_a, y_b) - sum_j l_j P_aj P_bj, residual of the sparse approximation included.
  /// V is [points of x x points of y].
  void covariance(const Points& x, const Points& y, Matrix& V) const;

  /// How many directions of the weights the variance needs.
  Index directions() const { return eigenvalues_.size(); }

 private:
  void set_features(MatrixRef X, Points& points, Matrix* slope) const;
  kernels::FormedKernel formed() const;

  kernels::Kind kind_;
  double variance_;
  kernels::Angles angles_;
  Vector inverse_length_scales_;  ///< [I_e]
  Matrix Zs_;                     ///< [M x I_e], embedded and divided by the length scales
  bool linear_;
  kernels::Form form_;
  ExtraFeatures extra_;
  Index extra_count_ = 0;
  Matrix folded_;       ///< [M_a + F x r + 1], B^T U and, last, B^T mu
  Vector eigenvalues_;  ///< [r]
};

}  // namespace gpilot::gp
