#pragma once

#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::test {

/// Flat view of q(x), or of a gradient in it: means, A of rows that have a predecessor, lower triangles of S_chol.
Vector flatten(const ssm::StatePosterior& q, const ssm::Series& series);
ssm::StatePosterior unflatten(const Vector& flat, const ssm::StatePosterior& shape, const ssm::Series& series);

}  // namespace gpilot::test
