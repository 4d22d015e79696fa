#pragma once

#include <vector>

#include "gpilot/gp/inducing.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/random_problem.hpp"

namespace gpilot::test {

/// Expects the bound's gradient in all free parameters and in q(x) to be that of central differences; with the weights
/// of the functions given, or else the best ones.
void expect_bound_gradient(const RandomProblem& problem, ssm::Elbo& elbo, const ssm::Free& free,
                           const std::vector<gp::Weights>* weights = nullptr);

}  // namespace gpilot::test
