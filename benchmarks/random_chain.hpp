#pragma once

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot {

/// A chain of T transitions with D states, one control, one output and M inducing points, all at random.
struct RandomChain {
  ssm::Structure structure;
  ssm::Series series;
  ssm::Parameters parameters;
  ssm::StatePosterior q;

  RandomChain(Index T, Index D, Index M, bool linear_kernel) {
    RandomStream random(1, Purpose::kTest);
    structure.states = D;
    structure.controls = 1;
    structure.outputs = 1;
    structure.inducing = M;
    structure.linear_kernel = linear_kernel;
    structure.x0_mean = Vector::Zero(D);
    structure.x0_sd = Vector::Ones(D);
    series = ssm::concatenate({{random.normal_matrix(T + 1, 1), random.normal_matrix(T + 1, 1)}});
    parameters = ssm::default_parameters(structure);
    parameters.Z = random.normal_matrix(M, D + 1);
    q = ssm::StatePosterior::zero(D, T + 1);
    q.m = random.normal_matrix(D, T + 1);
    for (Index t = 0; t <= T; ++t) {
      q.S_chol.middleCols(D * t, D) = 0.2 * Matrix::Identity(D, D);
      if (t > 0) {
        q.A.middleCols(D * t, D) = 0.5 * Matrix::Identity(D, D);
      }
    }
  }
};

}  // namespace gpilot
