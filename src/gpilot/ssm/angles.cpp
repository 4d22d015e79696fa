#include "gpilot/ssm/angles.hpp"

#include <numbers>

namespace gpilot::ssm {

Vector output_turns(const kernels::Angles& angles, const Matrix& C) {
  Vector turns = Vector::Zero(C.rows());
  for (const kernels::Angle& angle : angles) {
    for (Index e = 0; e < C.rows(); ++e) {
      const double factor = std::abs(C(e, angle.input));
      if (factor > 0.0 && (C.row(e).array() != 0.0).count() == 1) {
        turns(e) = factor * 2.0 * std::numbers::pi / angle.omega;
      }
    }
  }
  return turns;
}

void unwrap(const Structure& structure, const Parameters& p, Sequence& scaled) {
  if (structure.angles.empty()) {
    return;
  }
  const Vector turns = output_turns(structure.angles, p.C);
  const Vector start = p.C * start_prior(structure, scaled.broad_start).mean + p.d;
  for (Index e = 0; e < turns.size(); ++e) {
    double last = start(e);
    for (Index t = 0; t < scaled.rows(); ++t) {
      if (double& y = scaled.outputs(t, e); !std::isnan(y)) {
        y = last = nearest_turn(y, last, turns(e));
      }
    }
  }
}

}  // namespace gpilot::ssm
