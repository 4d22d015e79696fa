#include "support/random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpilot/core/random.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::test {

RandomProblem::RandomProblem(const Options& o) {
  RandomStream random(o.seed, Purpose::kTest);
  const Index D = o.states;
  const Index E = std::max<Index>(1, D - 1);
  structure.states = D;
  structure.controls = 1;
  structure.outputs = E;
  structure.inducing = o.inducing;
  structure.kernel = o.kernel;
  structure.linear_kernel = o.linear_kernel;
  structure.mean = o.mean;
  if (o.kinematics) {
    structure.kinematics.push_back({0, 1, 0.3});
  }
  if (o.angles) {
    structure.angles.push_back({0, 0.9});
    if (D > 2) {
      structure.angles.push_back({2, 1.7});
    }
  }
  structure.x0_mean = 0.3 * random.normal_vector(D);
  structure.x0_sd = Vector::Constant(D, 0.7);
  structure.validate();

  ssm::Dataset data;
  for (const Index rows : {o.rows, o.rows / 2 + 1}) {
    ssm::Sequence s{random.normal_matrix(rows, 1), random.normal_matrix(rows, E)};
    s.outputs(0, 0) = std::numeric_limits<double>::quiet_NaN();
    s.outputs(rows - 2, E - 1) = std::numeric_limits<double>::quiet_NaN();
    s.broad_start = !data.empty();  // the second one begins anywhere
    data.push_back(s);
  }
  series = ssm::concatenate(data);

  parameters = ssm::default_parameters(structure);
  const auto disturb = [&](auto& block, double by) {
    for (Index i = 0; i < block.size(); ++i) {
      block.data()[i] += by * random.normal();
    }
  };
  disturb(parameters.log_variance, 0.3);
  disturb(parameters.log_length_scales, 0.3);
  disturb(parameters.log_linear_sd, 0.3);
  disturb(parameters.mean_weights, 0.2);
  disturb(parameters.Z, 1.0);
  parameters.log_q.setConstant(std::log(0.3));
  parameters.log_r.setConstant(std::log(0.2));
  disturb(parameters.log_q, 0.3);
  disturb(parameters.log_r, 0.3);
  disturb(parameters.C, 0.2);
  disturb(parameters.d, 0.2);

  q = ssm::StatePosterior::zero(D, series.rows());
  q.m = random.normal_matrix(D, series.rows());
  for (Index t = 0; t < series.rows(); ++t) {
    if (!series.first[static_cast<std::size_t>(t)]) {
      q.A.middleCols(D * t, D) = 0.4 * random.normal_matrix(D, D);
    }
    Matrix S = 0.1 * random.normal_matrix(D, D);
    S.diagonal().setConstant(0.4);
    q.S_chol.middleCols(D * t, D) = Matrix(S.triangularView<Eigen::Lower>());
  }
}

}  // namespace gpilot::test
