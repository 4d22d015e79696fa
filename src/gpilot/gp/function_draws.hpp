#pragma once

#include <cstdint>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/inducing.hpp"

namespace gpilot::gp {

/// Draws of whole functions from the posterior of a sparse GP, by pathwise conditioning (Matheron's rule; Wilson et al.
/// 2020): a draw f_0 of the stationary prior is moved so that its inducing values agree with a draw of q(v),
///
///   f(x) = a(x)^T v + f_0(x) - k(x, Z) K_uu^-1 (f_0(Z) + e),   v ~ q(v),  e ~ N(0, nugget),
///
/// so that f has the covariance a Sigma a'^T + k(x, x') - a a'^T of the sparse posterior, residual included, and costs
/// the same at every point however often it was evaluated before. f_0 is a sum of random Fourier features. Every draw
/// has frequencies of its own: with shared ones all draws would carry the same error of the covariance.
class FunctionDraws {
 public:
  /// Draw n depends on (seed, function, n) alone, not on how many draws there are. Keeps a reference to the basis.
  FunctionDraws(const InducingBasis& basis, const Weights& q, Index draws, std::uint64_t seed,
                std::uint32_t function = 0, Index frequencies = 128);

  Index draws() const { return weights_.cols(); }

  /// values(n) = f_n(row n of X), X [draws x I].
  void evaluate(MatrixRef X, Eigen::Ref<Vector> values);

 private:
  /// f_0 of each draw at its row of the scaled inputs.
  void evaluate_prior(MatrixRef Xs, Eigen::Ref<Vector> values);
  /// The same before an odd function is made of it.
  void evaluate_base(MatrixRef Xs, Eigen::Ref<Vector> values);

  const InducingBasis& basis_;
  Matrix omega_;               ///< [F x I_e draws], frequencies of draw n at columns I_e n
  Eigen::MatrixXf cos_, sin_;  ///< [F x terms draws], amplitudes: of a(x), and of each B_p(x) of a control-affine one
  Index terms_ = 1;
  Matrix weights_;     ///< [M_a x draws], v minus the whitened inducing values of f_0
  Matrix Xs_, K_, A_;  ///< scratch
  Vector prior_, angle_;
  Eigen::ArrayXf reduced_;           ///< angles in (-pi, pi)
  Eigen::VectorXf cosines_, sines_;  ///< of them, where a function has several terms
};

}  // namespace gpilot::gp
