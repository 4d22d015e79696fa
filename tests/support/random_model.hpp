#pragma once

#include "gpilot/ssm/model.hpp"

namespace gpilot::test {

/// A complete model with every part at random values: states th and v, v the derivative of th and th an angle if asked
/// for, the control c, the output y_th, scales other than one.
ssm::Model random_model(bool kinematics = true, bool angles = false);

}  // namespace gpilot::test
