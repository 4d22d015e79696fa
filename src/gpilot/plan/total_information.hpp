#pragma once

#include <memory>

#include "gpilot/core/random.hpp"
#include "gpilot/plan/criterion.hpp"

/// The paper's Proposition 2: the estimate of I(y_{1:T+1}; f_{1:T+1}) as the log density of the outputs given f less
/// the bound. Only the new step depends on the candidate control.
namespace gpilot::plan {

/// The exact form. With the paper's q(x'|x) = N(A x + b, S) for the new step, A = S Q^-1, b = S C^T R^-1 (y - d),
/// S = (Q^-1 + C^T R^-1 C)^-1, the step's share is, whatever y is,
///   1/2 E[(f - x)^T W (f - x)],  W = Q^-1 - C^T (R + C Q C^T)^-1 C
/// over q(x_T) and q(f): squared displacement plus variance (docs/math/criteria.md). Q is diagonal, as in the paper:
/// the variances of x', without the correlations that declared kinematics bring.
class TotalInformation : public Criterion {
 public:
  explicit TotalInformation(const DecisionContext& context);
  double value(VectorRef control, Vector* gradient) const override;

 private:
  DecisionContext context_;
  Matrix X_;  ///< [J x I] the belief's nodes; the controls are filled in
  Matrix W_;  ///< L^-T W L^-1 [D x D], for the transition's rows
  Matrix z_;  ///< L x at the nodes [J x D]
};

/// Which state the paper's A multiplies in q(x'|.): the previous one, as the scheme is used, or the function value, for
/// which q(x'|f) is exact and the estimate constant in the control.
enum class Anchor { kPreviousState, kFunction };

/// The estimate as printed, averaged over samples of the whole trajectory: for each a path x_0..x_T of q(x) and
/// function values along it. The random numbers are the same for all controls, so the value is smooth, but no gradient
/// is given.
class SampledTotalInformation : public Criterion {
 public:
  /// Needs the history and its q(x); throws InputError without.
  SampledTotalInformation(const DecisionContext& context, Index samples, Anchor anchor = Anchor::kPreviousState);
  bool has_gradient() const override { return false; }
  double value(VectorRef control, Vector* gradient) const override;

 private:
  double step_information(const Matrix& mean, const Matrix& S, const Matrix& f, VectorRef y) const;
  /// x_ holds the samples of the row before, and of this row afterwards.
  double row_information(Index t, RandomStream& random);

  DecisionContext context_;
  Anchor anchor_;
  Matrix Q_, Q_inverse_;  ///< [D x D] process covariance
  double Q_log_det_ = 0.0;
  Matrix S_, A_;          ///< [D x D] the paper's q(x'|.)
  Matrix x_;              ///< [samples x D] states of row T
  Matrix epsilon_;        ///< [samples x D] standard normals that pick the function values
  double history_ = 0.0;  ///< share of the rows that are there already
};

std::unique_ptr<Criterion> total_information(const DecisionContext& context);
/// With 50 samples, as in our training by the paper's scheme.
std::unique_ptr<Criterion> sampled_total_information(const DecisionContext& context);

}  // namespace gpilot::plan
