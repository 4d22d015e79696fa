#include "gpilot/trials/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/core/grid.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/next_state.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/trials/scores.hpp"
#include "gpilot/trials/test_set.hpp"
#include "gpilot/trials/trajectory_test.hpp"

namespace gpilot::trials {

namespace {

constexpr Index kGridStates = 42;
constexpr Index kGridControls = 11;

/// Full turns of the outputs that are angles.
Vector turns_of(const systems::SystemSpec& spec) {
  kernels::Angles angles;
  for (const Index d : spec.angles) {
    angles.push_back({.input = d});
  }
  return ssm::output_turns(angles, spec.emission);
}

/// A map's points and where it truly takes them.
struct Grid {
  Matrix states, controls;  ///< [points x D], [points x P]
  Matrix next;              ///< [points x D]
  Vector sd;                ///< [D] of `next` over the points
};

Grid make_grid(const systems::System& system) {
  const systems::SystemSpec& spec = system.spec();
  const Index D = system.state_dim();
  const Index P = system.control_dim();
  Box box{Vector(D + P), Vector(D + P)};
  box.low << spec.region.low, spec.control_box.low;
  box.high << spec.region.high, spec.control_box.high;
  std::vector<Index> points(static_cast<std::size_t>(D), kGridStates);
  points.resize(static_cast<std::size_t>(D + P), kGridControls);
  const Matrix X = regular_grid(box, points);
  Grid grid{X.leftCols(D), X.rightCols(P), Matrix(X.rows(), D), Vector()};
  for (Index n = 0; n < X.rows(); ++n) {
    grid.next.row(n) = system.next(X.row(n).head(D).transpose(), X.row(n).tail(P).transpose()).transpose();
  }
  grid.sd = (grid.next.rowwise() - grid.next.colwise().mean()).cwiseAbs2().colwise().mean().cwiseSqrt().transpose();
  return grid;
}

}  // namespace

struct Evaluation::State {
  std::vector<std::string> names;
  std::vector<std::string> outputs;
  Index controls = 0;
  bool is_map = false;
  Grid grid;                  ///< a map's
  Trajectories trajectories;  ///< all others'
};

namespace {

std::vector<double> test_on_grid(const Grid& grid, const ssm::Model& model) {
  const ssm::NextState next = ssm::next_state(model, grid.states, grid.controls);
  const Matrix error = next.mean - grid.next;
  Scores scores;
  for (Index d = 0; d < error.cols(); ++d) {
    for (Index n = 0; n < error.rows(); ++n) {
      scores.add(error(n, d) / grid.sd(d), next.sd(n, d) / grid.sd(d));
    }
  }
  return {std::sqrt(error.squaredNorm() / static_cast<double>(error.size())), scores.nlpd(), scores.coverage()};
}

std::vector<Index> all_of(const std::vector<std::string>& outputs) {
  std::vector<Index> all(outputs.size());
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// Whether an output has two different values.
bool moves(const ssm::Dataset& sequences, Index e) {
  double first = kNaN;
  for (const ssm::Sequence& sequence : sequences) {
    for (const double y : sequence.outputs.col(e)) {
      if (!std::isnan(y) && !std::isnan(first) && y != first) {
        return true;
      }
      first = std::isnan(first) ? y : first;
    }
  }
  return false;
}

/// What was measured is the truth. Throws InputError for an output that does not move.
TestSet recorded_set(const RecordedTests& tests) {
  TestSet set{.sequences = tests.sequences, .truth = {}, .output_sd = Vector(tests.turns.size())};
  for (const ssm::Sequence& sequence : tests.sequences) {
    set.truth.push_back(sequence.outputs);
  }
  for (Index e = 0; e < set.output_sd.size(); ++e) {
    if (!moves(tests.sequences, e)) {
      throw InputError(fmt::format("tests: the output '{}' does not move in them, so that no error can be judged by it",
                                   tests.outputs[static_cast<std::size_t>(e)]));
    }
    double mean = 0.0;
    ssm::column_statistics(tests.sequences, e, tests.turns(e), mean, set.output_sd(e));
  }
  return set;
}

/// Throws InputError for a model of another system.
void check_columns(const std::vector<std::string>& outputs, Index controls, const ssm::Structure& s) {
  if (s.controls != controls || s.outputs != static_cast<Index>(outputs.size())) {
    throw InputError(fmt::format("model: {} controls and {} outputs, expected {} and {} as the system has", s.controls,
                                 s.outputs, controls, outputs.size()));
  }
}

}  // namespace

Evaluation::Evaluation(const systems::System& system, bool wrap_angles, TestRange range) {
  auto state = std::make_unique<State>();
  for (const systems::Channel& output : system.spec().outputs) {
    state->outputs.push_back(output.name);
  }
  state->controls = system.control_dim();
  state->is_map = system.is_map();
  if (state->is_map) {
    state->names = {"rmse", "nlpd", "coverage90"};
    state->grid = make_grid(system);
  } else {
    state->names = trajectory_metrics(state->outputs);
    state->trajectories = side_by_side(make_test_set(system, range), system.spec().own_outputs());
    if (wrap_angles) {
      state->trajectories.turns = turns_of(system.spec()).cwiseQuotient(state->trajectories.output_sd);
    }
  }
  state_ = std::move(state);
}

Evaluation::Evaluation(const RecordedTests& tests) {
  auto state = std::make_unique<State>();
  state->outputs = tests.outputs;
  state->controls = static_cast<Index>(tests.inputs.size());
  state->names = trajectory_metrics(tests.outputs);
  Trajectories& t = state->trajectories;
  t = side_by_side(recorded_set(tests), all_of(tests.outputs));
  t.turns = tests.turns.cwiseQuotient(t.output_sd);
  t.measured = true;
  if (t.runs.empty()) {
    throw InputError(
        fmt::format("tests: no free run of {} steps in {} sequence(s), expected at least one; those that "
                    "begin anywhere need {} rows before it",
                    kFewestFreeSteps, tests.sequences.size(), kFirstFiltered));
  }
  state_ = std::move(state);
}

double Evaluation::held_rmse() const {
  return trials::held_rmse(state_->trajectories);
}

Evaluation::~Evaluation() = default;
Evaluation::Evaluation(Evaluation&&) noexcept = default;

const std::vector<std::string>& Evaluation::names() const {
  return state_->names;
}

std::vector<Metric> Evaluation::evaluate(const ssm::Model& model) const {
  check_columns(state_->outputs, state_->controls, model.gp.structure);
  const std::vector<double> values =
      state_->is_map ? test_on_grid(state_->grid, model) : test_on_trajectories(state_->trajectories, model);
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < values.size(); ++i) {
    metrics.push_back({state_->names[i], values[i]});
  }
  return metrics;
}

}  // namespace gpilot::trials
