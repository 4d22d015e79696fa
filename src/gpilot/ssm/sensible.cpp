#include "gpilot/ssm/sensible.hpp"

#include <limits>

#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

Vector prediction_limits(const Structure& structure) {
  Vector limits = Vector::Constant(structure.states, kFarthestPrediction);
  for (const kernels::Angle& angle : structure.angles) {
    limits(angle.input) = std::numeric_limits<double>::infinity();
  }
  return limits;
}

}  // namespace gpilot::ssm
