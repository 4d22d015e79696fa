#include "gpilot/explore/online_model.hpp"

#include <algorithm>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/explore/region.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::explore {

namespace {

/// Every row of a matrix of controls through a function of one.
template <typename Convert>
Matrix rows_converted(const Matrix& controls, const Convert& convert) {
  Matrix result(controls.rows(), controls.cols());
  for (Index n = 0; n < controls.rows(); ++n) {
    result.row(n) = convert(controls.row(n).transpose()).transpose();
  }
  return result;
}

/// Scales the rows that `scaled` does not have yet, and its last, whose control was not known before.
void append_scaled(const ssm::Scaling& scaling, const ssm::Sequence& user, ssm::Sequence& scaled) {
  const Index first = std::max<Index>(scaled.rows() - 1, 0);
  const Index fresh = user.rows() - first;
  const ssm::Sequence tail = scaling.to_scaled({.controls = user.controls.bottomRows(fresh),
                                                .outputs = user.outputs.bottomRows(fresh),
                                                .broad_start = user.broad_start});
  scaled.controls.conservativeResize(user.rows(), user.controls.cols());
  scaled.outputs.conservativeResize(user.rows(), user.outputs.cols());
  scaled.controls.bottomRows(fresh) = tail.controls;
  scaled.outputs.bottomRows(fresh) = tail.outputs;
  scaled.broad_start = user.broad_start;
}

}  // namespace

OnlineModel::OnlineModel(std::shared_ptr<const ssm::Model> model, const Box& box, const ExploreOptions& options)
    : model_(std::move(model)),
      transition_(model_->gp.structure, model_->gp.parameters, model_->gp.weights),
      nodes_(gp::make_nodes(model_->spec.nodes, model_->gp.structure.states, model_->spec.node_points, options.seed)),
      planning_(options.planning),
      seed_(options.seed),
      trial_(options.trial),
      box_(box),
      scaled_box_(scaled(box)) {
  const Index D = model_->states.states();
  const Index last = model_->states.rows() - 1;
  belief_ = {model_->states.m.col(last), ssm::marginal_covariances(model_->states).middleCols(D * last, D)};
  const ssm::Scaling& s = model_->scaling;
  if (!options.region.empty()) {
    region_ = scaled_region(*model_, options.region, scaled_box_);
  }
  range_ = scaled_range(*model_, options.region);
  if (options.slew.size() > 0 && options.slew.array().isFinite().any()) {
    slew_ = options.slew.cwiseQuotient(s.control_scale);
  }
  if (options.limits.any()) {
    options.limits.validate(model_->spec.outputs);
    limits_ = {.low = (options.limits.low - s.output_offset).cwiseQuotient(s.output_scale),
               .high = (options.limits.high - s.output_offset).cwiseQuotient(s.output_scale),
               .delta = options.limits.delta};
  }
}

void OnlineModel::begin(bool broad_start, VectorRef outputs) {
  const ssm::Filter filter(transition_, nodes_);
  ssm::StateBelief start = filter.initial(broad_start);
  const ssm::Scaling& s = model_->scaling;
  filter.update(start, (outputs - s.output_offset).cwiseQuotient(s.output_scale));
  if (!ssm::is_sensible(start)) {
    throw NumericalError("the first outputs lead to no sensible state");
  }
  belief_ = std::move(start);
}

void OnlineModel::follow(VectorRef control, VectorRef outputs) {
  const ssm::Scaling& s = model_->scaling;
  const ssm::Filter filter(transition_, nodes_);
  ssm::StateBelief next = filter.predict(belief_, scaled_control(control));
  filter.update(next, (outputs - s.output_offset).cwiseQuotient(s.output_scale));
  if (!ssm::is_sensible(next)) {
    throw NumericalError("the newest outputs lead to no sensible state");
  }
  belief_ = std::move(next);
}

plan::DecisionContext OnlineModel::context(const Box& box, const ssm::Series* history, Index step) {
  return {.transition = transition_,
          .nodes = nodes_,
          .belief = belief_,
          .box = box,
          .history = history,
          .q = &model_->states,
          .seed = seed_,
          .trial = trial_,
          .step = static_cast<std::uint32_t>(step),
          .limits = limits_ ? &*limits_ : nullptr,
          .planning = planning_,
          .whole_box = &scaled_box_,
          .slew = slew_ ? &*slew_ : nullptr,
          .region = region_ ? &*region_ : nullptr,
          .range = &range_,
          .memo = &memo_};
}

plan::Choice OnlineModel::choose(const plan::Strategy& strategy, const Decision& decision) {
  const Box inside = scaled(decision.box);
  plan::DecisionContext here =
      context(inside, decision.history != nullptr ? &scaled(*decision.history) : nullptr, decision.step);
  here.stop = decision.stop;
  Matrix plan;
  if (decision.previous_plan != nullptr) {
    plan = rows_converted(*decision.previous_plan, [this](VectorRef c) { return scaled_control(c); });
    here.previous_plan = &plan;
  }
  plan::Choice choice = strategy.choose(here);
  // Rounding on the way through scaled units must not leave the box.
  const auto to_user = [this](const Box& limits) {
    return [this, &limits](VectorRef c) { return Vector(user_control(c).cwiseMax(limits.low).cwiseMin(limits.high)); };
  };
  choice.control = to_user(decision.box)(choice.control);
  choice.plan = rows_converted(choice.plan, to_user(box_));
  if (choice.landscape.rows() > 0) {
    const Index P = box_.low.size();
    choice.landscape.leftCols(P) = rows_converted(choice.landscape.leftCols(P), to_user(decision.box));
  }
  return choice;
}

Box OnlineModel::scaled(const Box& box) const {
  return {scaled_control(box.low), scaled_control(box.high)};
}

const ssm::Series& OnlineModel::scaled(const ssm::Dataset& data) {
  scaled_rows_.resize(data.size());
  for (std::size_t k = 0; k < data.size(); ++k) {
    if (scaled_rows_[k].rows() != data[k].rows()) {
      append_scaled(model_->scaling, data[k], scaled_rows_[k]);
    }
  }
  ssm::Dataset unwrapped = scaled_rows_;
  for (ssm::Sequence& sequence : unwrapped) {
    ssm::unwrap(model_->gp.structure, model_->gp.parameters, sequence);
  }
  series_ = ssm::concatenate(unwrapped);
  return series_;
}

Vector OnlineModel::scaled_control(VectorRef control) const {
  return (control - model_->scaling.control_offset).cwiseQuotient(model_->scaling.control_scale);
}

Vector OnlineModel::user_control(VectorRef scaled) const {
  return model_->scaling.control_offset + model_->scaling.control_scale.cwiseProduct(scaled);
}

}  // namespace gpilot::explore
