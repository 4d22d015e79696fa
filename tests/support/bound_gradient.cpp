#include "support/bound_gradient.hpp"

#include <gtest/gtest.h>

#include "support/flat_states.hpp"
#include "support/free_names.hpp"
#include "support/gradient_check.hpp"

namespace gpilot::test {

void expect_bound_gradient(const RandomProblem& problem, ssm::Elbo& elbo, const ssm::Free& free,
                           const std::vector<gp::Weights>* weights) {
  ssm::Parameters p_bar;
  ssm::StatePosterior q_bar;
  elbo.gradient(problem.parameters, problem.q, p_bar, q_bar, weights);
  Vector at(ssm::free_count(problem.parameters, free));
  Vector gradient(at.size());
  ssm::pack(problem.parameters, free, at);
  ssm::pack(p_bar, free, gradient);
  const auto of_parameters = [&](const Vector& flat) {
    ssm::Parameters p = problem.parameters;
    ssm::unpack(flat, free, p);
    return elbo.value(p, problem.q, weights);
  };
  EXPECT_TRUE(gradient_matches(of_parameters, at, gradient, 2e-5, 1e-4, 1e-3, free_names(problem.parameters, free)));
  const auto of_states = [&](const Vector& flat) {
    return elbo.value(problem.parameters, unflatten(flat, problem.q, problem.series), weights);
  };
  EXPECT_TRUE(gradient_matches(of_states, flatten(problem.q, problem.series), flatten(q_bar, problem.series), 2e-5));
}

}  // namespace gpilot::test
