// Conditioning of a BatchFilter, apart from its predictions because it is half of what they take to compile.
#include <cmath>

#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/batch_filter.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/small.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

namespace {

/// One output: Joseph form, which stays positive definite where R is tiny.
template <int N>
void condition(Eigen::Map<SmallVector<N>> mean, Eigen::Map<SmallMatrix<N>> P, const SmallVector<N>& c, double residual,
               double noise_variance) {
  const SmallVector<N> Pc = P * c;
  const SmallVector<N> gain = Pc / (c.dot(Pc) + noise_variance);
  SmallMatrix<N> keep = -gain * c.transpose();
  keep.diagonal().array() += 1.0;
  mean += gain * residual;
  P = SmallMatrix<N>(keep * P * keep.transpose() + noise_variance * gain * gain.transpose());
}

}  // namespace

void BatchFilter::update(BeliefBatch& beliefs, MatrixRef outputs) const {
  const Parameters& p = transition_.parameters();
  const Vector r = p.log_r.array().exp();
  with_static_states(beliefs.mean.rows(), [&]<int N>() {
    for (Index e = 0; e < outputs.rows(); ++e) {  // R is diagonal: one output at a time
      const SmallVector<N> c = p.C.row(e).transpose();
      for (Index n = 0; n < beliefs.count(); ++n) {
        if (!std::isnan(outputs(e, n))) {
          const double expected = c.dot(column<N>(beliefs.mean, n));
          const double residual = nearest_turn(outputs(e, n), expected + p.d(e), turns_(e)) - expected - p.d(e);
          condition<N>(column<N>(beliefs.mean, n), block<N>(beliefs.covariance, n), c, residual, r(e));
        }
      }
    }
  });
}

}  // namespace gpilot::ssm
