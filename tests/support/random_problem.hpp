#pragma once

#include <cstdint>

#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::test {

/// A small problem with every part at random values: two sequences, one control, missing outputs.
struct RandomProblem {
  struct Options {
    Index states = 2;
    Index inducing = 4;
    Index rows = 7;
    kernels::Kind kernel = kernels::Kind::kSquaredExponential;
    bool linear_kernel = true;
    ssm::MeanKind mean = ssm::MeanKind::kIdentity;
    bool kinematics = false;
    bool angles = false;  ///< the first state, and the third if there is one
    std::uint64_t seed = 1;
  };

  explicit RandomProblem(const Options& options);

  ssm::Structure structure;
  ssm::Series series;
  ssm::Parameters parameters;
  ssm::StatePosterior q;
};

}  // namespace gpilot::test
