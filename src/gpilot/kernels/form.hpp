#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/kernels/stationary.hpp"

/// What is known about the shape of a function, built into its kernel, so that every function it allows obeys it.
/// With the stationary kernel k of the inputs divided by their length scales (x, and c for controls):
///
///   excluded inputs:  they have the inverse length scale 0, and so enter nowhere;
///   affine inputs c:  b(x, c; z, e) = k(x, z) (1 + sum_p c_p e_p),  the kernel of a(x) + sum_p B_p(x) c_p;
///   odd:              b(x, z) - b(-x, z), which is the kernel of (g(x) - g(-x)) / sqrt(2).
///
/// The last has the variance of b where x is far from 0, so that an amplitude keeps its meaning. Angles stand in their
/// embedding (kernels/angles.hpp), of which -x changes the sines and keeps the cosines.
namespace gpilot::kernels {

struct Form {
  std::vector<Index> excluded;  ///< inputs that the function does not depend on
  std::vector<Index> affine;    ///< inputs in which it is affine
  bool odd = false;             ///< f(-x) = -f(x)

  /// Whether the stationary kernel alone does: excluded inputs need nothing else.
  bool stationary() const { return affine.empty() && !odd; }
  bool operator==(const Form&) const = default;
};

using MatrixIn = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

/// A kernel of such a form, of inputs that are embedded and divided by their length scales. Columns from `inputs` on
/// are the angles' cosines.
struct FormedKernel {
  Kind kind = Kind::kSquaredExponential;
  double variance = 1.0;
  const Form& form;
  Index inputs = 0;

  /// K [N x M] of the rows of Xs and Zs.
  void evaluate(const MatrixIn& Xs, const MatrixIn& Zs, MatrixOut K) const;
  /// k(x, x) [N].
  Vector diagonal(const MatrixIn& Xs) const;
  /// Adds what dF/dK means for Xs, and for Zs where Zs_bar is given.
  void pull_back(const MatrixIn& Xs, const MatrixIn& Zs, const MatrixIn& K_bar, MatrixOut Xs_bar,
                 MatrixOut* Zs_bar) const;
  /// Adds what dF/dk(x, x) means for Xs.
  void pull_back_diagonal(const MatrixIn& Xs, VectorRef k_bar, MatrixOut Xs_bar) const;
  /// -x of embedded inputs.
  Matrix reflected(const MatrixIn& Xs) const;
};

}  // namespace gpilot::kernels
