#include "gpilot/report/decision.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "gpilot/core/error.hpp"
#include "gpilot/core/grid.hpp"
#include "gpilot/explore/slew_box.hpp"
#include "gpilot/plan/planner.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::report {

namespace {

using study::StepRecord;
using study::StepStatus;
using study::Study;

constexpr Index kLinePoints = 61;   // of a landscape of one control
constexpr Index kPlanePoints = 19;  // along each of two

/// The rows of a study up to a step, as the loop had them when it chose the step's control.
struct Past {
  ssm::Dataset data;      ///< the sequence of the step last, if it has rows
  bool has_rows = false;  ///< the step's sequence has a row before it
  Vector previous;        ///< [P] the control before it
};

void append_row(ssm::Sequence& rows, VectorRef applied, VectorRef outputs) {
  rows.controls.bottomRows(1) = applied.transpose();
  rows.controls.conservativeResize(rows.controls.rows() + 1, applied.size());
  rows.controls.bottomRows(1).setConstant(kNaN);
  rows.outputs.conservativeResize(rows.outputs.rows() + 1, outputs.size());
  rows.outputs.bottomRows(1) = outputs.transpose();
}

/// `last` is the first step that does not count; `sequence` the one it belongs to.
Past past_of(const Study& study, Index last, Index sequence) {
  const study::StudyConfig& config = study.config();
  const Index P = config.box.low.size();
  Past past;
  past.previous = config.explore.safe.size() > 0 ? config.explore.safe : Vector::Zero(P);
  Index open = 0;  // the sequence whose rows stand last in the data
  for (const StepRecord& step : study.steps()) {
    if (step.id >= last) {
      break;
    }
    if (step.status != StepStatus::kTold) {
      continue;
    }
    if (step.sequence != open) {
      const study::SequenceRecord& begun = study.sequences()[static_cast<std::size_t>(step.sequence - 1)];
      past.data.push_back({.controls = Matrix::Constant(1, P, kNaN),
                           .outputs = config.explore.learnable(begun.outputs).transpose(),
                           .broad_start = begun.broad});
      open = step.sequence;
    }
    append_row(past.data.back(), step.applied, learned_outputs(config, step));
    if (step.sequence == sequence) {
      past.previous = step.applied;
    }
  }
  past.has_rows = open == sequence && open != 0;
  return past;
}

/// Brings a model from the end of what it learned from to the row before a step.
void place(explore::OnlineModel& online, const Study& study, Index after_step, Index last, Index sequence) {
  const study::StudyConfig& config = study.config();
  Index standing = 0;
  for (const StepRecord& step : study.steps()) {
    if (step.id <= after_step && step.status == StepStatus::kTold) {
      standing = step.sequence;
    }
  }
  if (standing != sequence) {
    const study::SequenceRecord& begun = study.sequences()[static_cast<std::size_t>(sequence - 1)];
    online.begin(begun.broad, config.explore.learnable(begun.outputs));
  }
  for (const StepRecord& step : study.steps()) {
    if (step.id < last && step.id > (standing == sequence ? after_step : 0) && step.sequence == sequence &&
        step.status == StepStatus::kTold) {
      online.follow(step.applied, learned_outputs(config, step));
    }
  }
}

/// Outputs expected along controls [H x P]: {"mean": [E][H], "sd": [E][H]}, user units.
Json expected_outputs(explore::OnlineModel& online, const Box& box, const Matrix& controls) {
  const plan::DecisionContext context = online.context(box, nullptr);
  const ssm::Filter filter(context.transition, context.nodes);
  const ssm::Scaling& s = online.model().scaling;
  ssm::StateBelief belief = context.belief;
  const Index H = controls.rows();
  Matrix mean(H, s.output_scale.size());
  Matrix sd = mean;
  for (Index t = 0; t < H; ++t) {
    belief = filter.predict(belief, online.scaled_control(controls.row(t).transpose()));
    Vector y;
    Vector variance;
    filter.outputs(belief, y, variance);
    mean.row(t) = (s.output_offset + s.output_scale.cwiseProduct(y)).transpose();
    sd.row(t) = s.output_scale.cwiseProduct(variance.cwiseMax(0.0).cwiseSqrt()).transpose();
  }
  return {{"mean", columns(mean)}, {"sd", columns(sd)}};
}

/// Controls to draw a landscape over: the box of one or two, none for more.
Matrix landscape_grid(const Box& box) {
  const Index P = box.low.size();
  if (P == 1) {
    return regular_grid(box, std::array<Index, 1>{kLinePoints});
  }
  if (P == 2) {
    return regular_grid(box, std::array<Index, 2>{kPlanePoints, kPlanePoints});
  }
  return {};
}

/// The criterion at each control of the grid: of one control, or of the chosen plan with another first control.
Vector landscape_values(const std::string& strategy_name, const explore::OnlineModel& online,
                        const plan::DecisionContext& context, const Matrix& plan, const Matrix& grid, Index hold) {
  const std::unique_ptr<plan::Strategy> strategy = plan::make_strategy(strategy_name);
  if (const auto criterion = strategy->criterion(context)) {
    Vector values(grid.rows());
    for (Index n = 0; n < grid.rows(); ++n) {
      values(n) = criterion->value(online.scaled_control(grid.row(n).transpose()), nullptr);
    }
    return values;
  }
  if (plan.rows() == 0) {
    return {};
  }
  const Index P = grid.cols();
  Matrix plans(P * plan.rows(), grid.rows());
  for (Index n = 0; n < grid.rows(); ++n) {
    for (Index t = 0; t < plan.rows(); ++t) {
      const Vector control = t < hold ? Vector(grid.row(n).transpose()) : Vector(plan.row(t).transpose());
      plans.block(t * P, n, P, 1) = online.scaled_control(control);
    }
  }
  return strategy->plan_values(context, plans);
}

Json landscape_json(explore::OnlineModel& online, const Study& study, const Past& past, const StepRecord& step) {
  const study::StudyConfig& config = study.config();
  const Matrix grid = landscape_grid(config.box);
  if (grid.rows() == 0) {
    return {};
  }
  const Box reach =
      config.explore.slew.size() > 0 ? explore::slew_box(config.box, config.explore.slew, past.previous) : config.box;
  const Box inside = online.scaled(reach);
  plan::DecisionContext context = online.context(inside, past.has_rows ? &online.scaled(past.data) : nullptr, step.id);
  context.planning = context.planning.with_horizon(config.box.low.size());
  const Vector values = landscape_values(config.explore.strategy, online, context, step.choice.plan, grid,
                                         std::max<Index>(context.planning.hold, 1));
  if (values.size() == 0) {
    return {};
  }
  return {{"controls", columns(grid)}, {"values", list(values)}, {"reach", {list(reach.low), list(reach.high)}}};
}

/// Takes what `work` gives, or nothing where the numerics of a poor model fail: the rest of the report stands.
template <class Work>
void set_if_computed(Json& json, const char* key, const Work& work) {
  try {
    if (Json value = work(); !value.is_null()) {
      json[key] = std::move(value);
    }
  } catch (const NumericalError&) {  // said by what is missing
  }
}

}  // namespace

Vector learned_outputs(const study::StudyConfig& config, const StepRecord& step) {
  return step.voided ? Vector(Vector::Constant(step.outputs.size(), kNaN)) : config.explore.learnable(step.outputs);
}

Json decision_json(const Study& study, const study::TrainingRecord& training,
                   const std::shared_ptr<const ssm::Model>& model, const StepRecord* step) {
  const study::StudyConfig& config = study.config();
  Json json = {{"training", training.id}, {"after_step", training.summary.after_step}};
  if (step == nullptr || model->gp.dead_time > 0 || model->gp.input_lags > 0) {
    return json;
  }
  json["step"] = step->id;
  try {
    explore::OnlineModel online(model, config.box, config.explore);
    place(online, study, training.summary.after_step, step->id, step->sequence);
    const Box inside = online.scaled(config.box);
    const Vector& control = step->status == StepStatus::kTold ? step->applied : step->choice.control;
    set_if_computed(json, "expected", [&] { return expected_outputs(online, inside, control.transpose()); });
    if (step->choice.phase == plan::Phase::kChosen) {
      if (step->choice.plan.rows() > 1) {
        set_if_computed(json, "plan", [&] { return expected_outputs(online, inside, step->choice.plan); });
      }
      if (step->choice.evaluations > 0) {
        const Past past = past_of(study, step->id, step->sequence);
        set_if_computed(json, "landscape", [&] { return landscape_json(online, study, past, *step); });
      }
    }
  } catch (const NumericalError& error) {
    json["failure"] = error.what();
  }
  return json;
}

}  // namespace gpilot::report
