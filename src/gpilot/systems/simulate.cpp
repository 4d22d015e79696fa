#include "gpilot/systems/simulate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"

namespace gpilot::systems {
namespace {

Vector resolve_sd(const std::optional<Vector>& given, const Vector& standard, std::string_view what) {
  if (!given) {
    return standard;
  }
  if (given->size() != 1 && given->size() != standard.size()) {
    throw InputError(
        fmt::format("{} noise needs 1 or {} standard deviations, not {}", what, standard.size(), given->size()));
  }
  for (const double sd : *given) {
    if (!(sd >= 0.0) || !std::isfinite(sd)) {
      throw InputError(
          fmt::format("a standard deviation of the {} noise must be finite and not negative, not {}", what, sd));
    }
  }
  return given->size() == 1 ? Vector::Constant(standard.size(), (*given)(0)) : *given;
}

void check_x0(const System& system, const Vector& x0) {
  if (x0.size() != system.state_dim()) {
    throw InputError(
        fmt::format("x0 of {} needs {} value(s), not {}", system.spec().name, system.state_dim(), x0.size()));
  }
  if (!x0.allFinite()) {
    throw InputError("x0 must be finite");
  }
}

/// The stream of one purpose at one step.
RandomStream stream_at(const SimulateOptions& options, Purpose purpose, Index t) {
  return {options.seed, purpose, options.trial, static_cast<std::uint32_t>(t)};
}

}  // namespace

Simulator::Simulator(const System& system, const SimulateOptions& options)
    : system_(system),
      options_(options),
      own_outputs_(system.spec().own_outputs()),
      process_sd_(resolve_sd(options.process_sd, system.spec().process_sd, "process")),
      output_sd_(resolve_sd(options.output_sd, system.spec().output_sd, "output")) {
  if (options_.x0) {
    check_x0(system_, *options_.x0);
  }
}

Vector Simulator::initial_state() const {
  if (options_.x0) {
    return *options_.x0;
  }
  const SystemSpec& spec = system_.spec();
  if (process_sd_.isZero(0.0) && output_sd_.isZero(0.0)) {
    return spec.x0_mean;
  }
  RandomStream stream = stream_at(options_, Purpose::kInitialState, 0);
  return spec.x0_mean + spec.x0_sd.cwiseProduct(stream.normal_vector(system_.state_dim()));
}

Vector Simulator::advance(const VectorRef& x, const VectorRef& c, Index t) const {
  check_in_control_box(system_, c.transpose());
  RandomStream stream = stream_at(options_, Purpose::kProcessNoise, t + 1);
  Vector next = system_.next(x, c);
  next += process_sd_.cwiseProduct(stream.normal_vector(next.size()));
  if (!next.allFinite()) {
    throw NumericalError(fmt::format("the state of {} is not finite after step {}", system_.spec().name, t + 1));
  }
  return next;
}

Vector Simulator::measure(const VectorRef& x, Index t) const {
  const SystemSpec& spec = system_.spec();
  const Vector drawn = stream_at(options_, Purpose::kOutputNoise, t).normal_vector(system_.output_dim());
  // A system's own outputs come first, so that their noise is the same whether or not the other states are observed.
  Vector noise(drawn.size());
  Index next = 0;
  for (const std::vector<Index>* part : {&own_outputs_, &spec.added_outputs}) {
    for (const Index e : *part) {
      noise(e) = drawn(next++);
    }
  }
  Vector output = spec.emission * x;
  output += output_sd_.cwiseProduct(noise);
  return output;
}

Vector time_grid(Index rows, double dt) {
  const double scale = std::pow(10.0, 10.0 - std::floor(std::log10(dt)));
  Vector times(rows);
  for (Index t = 0; t < rows; ++t) {
    times(t) = std::round(static_cast<double>(t) * dt * scale) / scale;
  }
  return times;
}

Trajectory simulate(const System& system, const MatrixRef& controls, const SimulateOptions& options) {
  const Index steps = controls.rows();
  if (steps < 1) {
    throw InputError("a simulation needs at least 1 step");
  }
  check_in_control_box(system, controls);
  const Simulator simulator(system, options);

  Trajectory run;
  run.times = time_grid(steps + 1, system.spec().dt);
  run.states.resize(steps + 1, system.state_dim());
  run.controls = Matrix::Constant(steps + 1, system.control_dim(), kNaN);
  run.controls.topRows(steps) = controls;
  run.outputs = Matrix::Constant(steps + 1, system.output_dim(), kNaN);

  run.states.row(0) = simulator.initial_state().transpose();
  for (Index t = 0; t < steps; ++t) {
    const Vector x = simulator.advance(run.states.row(t).transpose(), controls.row(t).transpose(), t);
    run.states.row(t + 1) = x.transpose();
    run.outputs.row(t + 1) = simulator.measure(x, t + 1).transpose();
  }
  return run;
}

}  // namespace gpilot::systems
