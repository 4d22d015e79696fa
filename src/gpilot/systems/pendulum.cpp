#include "gpilot/systems/pendulum.hpp"

#include <cmath>

#include "gpilot/systems/parameter_fields.hpp"

namespace gpilot::systems {
namespace {

constexpr Field<PendulumParameters> kPendulumFields[] = {
    {"g", &PendulumParameters::g, "m/s^2", "gravity"},
    {"m", &PendulumParameters::m, "kg", "mass", Range::kPositive},
    {"l", &PendulumParameters::l, "m", "length", Range::kPositive},
    {"b", &PendulumParameters::b, "N m s/rad", "friction", Range::kNonNegative},
};

SystemSpec pendulum_spec() {
  return {
      .name = "pendulum",
      .summary = "a pendulum driven by a torque, angle observed (0 = hanging)",
      .states = {{"th", "rad"}, {"th_dot", "rad/s"}},
      .controls = {{"c", "N m"}},
      .outputs = {{"y_th", "rad"}},
      .dt = 0.1,
      .substeps = 10,
      // Beyond 0.5 N m the pendulum can turn over the top and leave the region.
      .control_box = {Vector{{-0.5}}, Vector{{0.5}}},
      .x0_mean = Vector{{0.0, 0.0}},
      .x0_sd = Vector{{0.1, 0.1}},
      .process_sd = Vector{{0.005, 0.02}},
      .output_sd = Vector{{0.02}},
      .emission = Matrix{{1.0, 0.0}},
      .region = {Vector{{-0.8, -2.3}}, Vector{{0.8, 2.3}}},
      .derivatives = {{.velocity = 1, .position = 0}},
      .angles = {0},
      .paper = {.kernel = "matern32", .initial_variance = 0.3, .initial_length_scale = 5.0, .epochs = 200},
  };
}

}  // namespace

Pendulum::Pendulum(Variant variant, PendulumParameters parameters)
    : OdeSystem(pendulum_spec(), variant), parameters_(parameters) {}

Pendulum::State Pendulum::rate(const State& x, const VectorRef& c) const {
  const auto& [g, m, l, b] = parameters_;
  const auto& [th, th_dot] = x;
  return {th_dot, (c(0) - b * th_dot - m * g * l * std::sin(th)) / (m * l * l)};
}

double Pendulum::energy(const VectorRef& x) const {
  const auto& [g, m, l, b] = parameters_;
  return 0.5 * m * l * l * x(1) * x(1) + m * g * l * (1.0 - std::cos(x(0)));
}

std::vector<Parameter> Pendulum::parameters() const {
  return list_parameters<PendulumParameters>(kPendulumFields, parameters_);
}

bool Pendulum::assign_parameter(std::string_view name, double value) {
  return assign_field<PendulumParameters>(kPendulumFields, parameters_, name, value);
}

}  // namespace gpilot::systems
