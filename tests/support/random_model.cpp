#include "support/random_model.hpp"

#include <limits>
#include <vector>

#include "gpilot/core/random.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/random_problem.hpp"

namespace gpilot::test {

namespace {

std::vector<gp::Weights> random_weights(const ssm::Structure& structure, RandomStream& random) {
  std::vector<gp::Weights> weights;
  const Index n = structure.features();
  for (std::size_t g = 0; g < structure.gp_rows().size(); ++g) {
    const Matrix root = 0.2 * random.normal_matrix(n, n);
    weights.push_back({random.normal_vector(n), root * root.transpose()});
  }
  return weights;
}

ssm::Dynamics random_dynamics(Index inducing, bool kinematics, bool angles, std::uint64_t seed) {
  const RandomProblem problem({.inducing = inducing, .kinematics = kinematics, .angles = angles, .seed = seed});
  RandomStream random(seed, Purpose::kTest, 1);
  return {problem.structure, problem.parameters, random_weights(problem.structure, random)};
}

ssm::ModelSpec declarations(bool kinematics) {
  ssm::ModelSpec spec;
  spec.inputs = {"c"};
  spec.outputs = {"y_th"};
  spec.states = {"th", "v"};
  spec.dt = 0.1;
  if (kinematics) {
    spec.derivatives = {{1, 0}};
  }
  spec.x0_mean = Eigen::Vector2d(0.1, std::numeric_limits<double>::quiet_NaN());
  spec.output_sd = Vector::Constant(1, 0.02);
  spec.ranges = {{"c", -0.5, 0.5}};
  return spec;
}

}  // namespace

ssm::Model random_model(bool kinematics, bool angles) {
  const RandomProblem problem({.kinematics = kinematics});
  ssm::Model model;
  model.spec = declarations(kinematics);
  if (angles) {
    model.spec.angles = {"th"};
  }
  model.scaling = {Vector::Constant(1, 0.1), Vector::Constant(1, 0.3),   Vector::Constant(1, -1.0),
                   Vector::Constant(1, 2.0), Eigen::Vector2d(-1.0, 0.0), Eigen::Vector2d(2.0, 5.0)};
  model.gp = random_dynamics(4, kinematics, angles, 1);
  model.linear = random_dynamics(0, kinematics, angles, 2);
  model.output_mean = Vector::Constant(1, 1.0 / 3.0);
  model.output_sd = Vector::Constant(1, 0.7);
  model.states = problem.q;
  model.starts = problem.series.start;
  model.report.status = ssm::FitStatus::kConverged;
  model.report.message = "the bound rose by less than 1e-6";
  model.report.bound = -12.3;
  model.report.trace = {-20.0, -13.0, -12.3};
  model.report.candidates = {{"linear", -14.0, 0.1}, {"gp", -12.3, 0.2}};
  model.report.chosen = "gp";
  model.report.explained = Vector::Constant(kinematics ? 1 : 2, 0.9);
  model.report.evaluations = 123;
  model.seed = std::numeric_limits<std::uint64_t>::max();
  model.version = "0.1.0";
  return model;
}

}  // namespace gpilot::test
