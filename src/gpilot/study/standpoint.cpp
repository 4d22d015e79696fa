#include "gpilot/study/standpoint.hpp"

#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/study/region.hpp"

namespace gpilot::study {

namespace {

constexpr double kAbsurdState = 1e6;  ///< scaled: a measurement that leads there is no basis for a choice

bool sensible(const ssm::StateBelief& belief) {
  return belief.covariance.allFinite() && belief.mean.cwiseAbs().maxCoeff() < kAbsurdState;
}

/// Every row of a matrix of controls through a function of one.
template <typename Convert>
Matrix rows_converted(const Matrix& controls, const Convert& convert) {
  Matrix result(controls.rows(), controls.cols());
  for (Index n = 0; n < controls.rows(); ++n) {
    result.row(n) = convert(controls.row(n).transpose()).transpose();
  }
  return result;
}

}  // namespace

Standpoint::Standpoint(ssm::Model model, std::uint64_t seed)
    : model_(std::move(model)),
      transition_(model_.gp.structure, model_.gp.parameters, model_.gp.weights),
      nodes_(gp::make_nodes(model_.spec.nodes, model_.gp.structure.states, model_.spec.node_points, seed)) {
  const Index D = model_.states.states();
  const Index last = model_.states.rows() - 1;
  belief_ = {model_.states.m.col(last), ssm::marginal_covariances(model_.states).middleCols(D * last, D)};
}

void Standpoint::begin(bool broad_start, VectorRef outputs) {
  const ssm::Filter filter(transition_, nodes_);
  ssm::StateBelief start = filter.initial(broad_start);
  const ssm::Scaling& s = model_.scaling;
  filter.update(start, (outputs - s.output_offset).cwiseQuotient(s.output_scale));
  if (!sensible(start)) {
    throw NumericalError("the first outputs lead to no sensible state");
  }
  belief_ = std::move(start);
}

void Standpoint::follow(VectorRef control, VectorRef outputs) {
  const ssm::Scaling& s = model_.scaling;
  const ssm::Filter filter(transition_, nodes_);
  ssm::StateBelief next = filter.predict(belief_, scaled_control(control));
  filter.update(next, (outputs - s.output_offset).cwiseQuotient(s.output_scale));
  if (!sensible(next)) {
    throw NumericalError("the newest outputs lead to no sensible state");
  }
  belief_ = std::move(next);
}

void Standpoint::limit(const acquisition::OutputLimits& limits) {
  limits.validate(model_.spec.outputs);
  const ssm::Scaling& s = model_.scaling;
  limits_ = {.low = (limits.low - s.output_offset).cwiseQuotient(s.output_scale),
             .high = (limits.high - s.output_offset).cwiseQuotient(s.output_scale),
             .delta = limits.delta};
}

acquisition::Situation Standpoint::situation(const Box& box, const ssm::Series* history, std::uint64_t seed,
                                             std::uint32_t trial, std::uint32_t step) const {
  return {.transition = transition_,
          .nodes = nodes_,
          .belief = belief_,
          .box = box,
          .history = history,
          .q = &model_.states,
          .seed = seed,
          .trial = trial,
          .step = step,
          .limits = limits_ ? &*limits_ : nullptr};
}

acquisition::Choice Standpoint::choose(const acquisition::Strategy& strategy, const Decision& decision) const {
  const Box& box = decision.box;
  const Box inside = scaled(box);
  std::optional<ssm::Series> series;
  if (decision.history != nullptr) {
    series = scaled(*decision.history);
  }
  acquisition::Situation here =
      situation(inside, series ? &*series : nullptr, decision.seed, decision.trial, decision.step);
  here.planning = decision.planning;
  Box whole;
  if (decision.whole_box != nullptr) {
    whole = scaled(*decision.whole_box);
    here.whole_box = &whole;
  }
  Vector slew;
  if (decision.slew != nullptr) {
    slew = decision.slew->cwiseQuotient(model_.scaling.control_scale);
    here.slew = &slew;
  }
  Matrix plan;
  if (decision.previous_plan != nullptr) {
    plan = rows_converted(*decision.previous_plan, [this](VectorRef c) { return scaled_control(c); });
    here.previous_plan = &plan;
  }
  Box region;
  if (decision.region != nullptr && !decision.region->empty()) {
    region = scaled_region(model_, *decision.region, here.later_box());
    here.region = &region;
  }
  acquisition::Choice choice = strategy.choose(here);
  // Rounding on the way through scaled units must not leave the box.
  const auto to_user = [this](const Box& limits) {
    return [this, &limits](VectorRef c) { return Vector(user_control(c).cwiseMax(limits.low).cwiseMin(limits.high)); };
  };
  choice.control = to_user(box)(choice.control);
  choice.plan = rows_converted(choice.plan, to_user(decision.whole_box != nullptr ? *decision.whole_box : box));
  if (choice.landscape.rows() > 0) {
    const Index P = box.low.size();
    choice.landscape.leftCols(P) = rows_converted(choice.landscape.leftCols(P), to_user(box));
  }
  return choice;
}

Box Standpoint::scaled(const Box& box) const {
  return {scaled_control(box.low), scaled_control(box.high)};
}

ssm::Series Standpoint::scaled(const ssm::Dataset& data) const {
  ssm::Dataset sequences;
  sequences.reserve(data.size());
  for (const ssm::Sequence& s : data) {
    sequences.push_back(model_.scaling.to_scaled(s));
    ssm::unwrap(model_.gp.structure, model_.gp.parameters, sequences.back());
  }
  return ssm::concatenate(sequences);
}

Vector Standpoint::scaled_control(VectorRef control) const {
  return (control - model_.scaling.control_offset).cwiseQuotient(model_.scaling.control_scale);
}

Vector Standpoint::user_control(VectorRef scaled) const {
  return model_.scaling.control_offset + model_.scaling.control_scale.cwiseProduct(scaled);
}

}  // namespace gpilot::study
