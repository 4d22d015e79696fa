#include "gpilot/systems/cart_pole.hpp"

#include <cmath>
#include <numbers>

#include "gpilot/systems/parameter_fields.hpp"

namespace gpilot::systems {
namespace {

constexpr Field<CartPoleParameters> kCartPoleFields[] = {
    {"g", &CartPoleParameters::g, "m/s^2", "gravity"},
    {"m_p", &CartPoleParameters::m_p, "kg", "mass of the pole", Range::kPositive},
    {"m_c", &CartPoleParameters::m_c, "kg", "mass of the cart", Range::kPositive},
    {"l", &CartPoleParameters::l, "m", "half the length of the pole", Range::kPositive},
    {"mu_c", &CartPoleParameters::mu_c, "", "friction of the cart", Range::kNonNegative},
    {"mu_p", &CartPoleParameters::mu_p, "N m s/rad", "friction of the joint", Range::kNonNegative},
    {"v_s", &CartPoleParameters::v_s, "m/s", "speed at which the cart's friction saturates", Range::kPositive},
};

SystemSpec cart_pole_spec() {
  return {
      .name = "cart-pole",
      .summary = "a pole on a cart driven by a force, angle and position observed (th = 0 is upright)",
      .states = {{"th", "rad"}, {"th_dot", "rad/s"}, {"p", "m"}, {"p_dot", "m/s"}},
      .controls = {{"c", "N"}},
      .outputs = {{"y_th", "rad"}, {"y_p", "m"}},
      .dt = 0.1,
      .substeps = 10,
      .control_box = {Vector{{-3.0}}, Vector{{3.0}}},
      .x0_mean = Vector{{std::numbers::pi, 0.0, 0.0, 0.0}},
      .x0_sd = Vector::Constant(4, 0.05),
      .process_sd = Vector{{0.004, 0.02, 0.003, 0.01}},
      .output_sd = Vector{{0.01, 0.01}},
      .emission = Matrix{{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}},
      .region = {Vector{{std::numbers::pi - 0.45, -1.8, -1.9, -1.4}}, Vector{{std::numbers::pi + 0.45, 1.8, 1.4, 1.2}}},
      .derivatives = {{.velocity = 1, .position = 0}, {.velocity = 3, .position = 2}},
      .angles = {0},
      .paper = {.kernel = "matern32", .initial_variance = 1.0, .initial_length_scale = 1.0, .epochs = 200},
  };
}

double sign(double v) {
  return static_cast<double>((v > 0.0) - (v < 0.0));
}

}  // namespace

CartPole::CartPole(Variant variant, CartPoleParameters parameters)
    : OdeSystem(cart_pole_spec(), variant), parameters_(parameters) {}

CartPole::Motion CartPole::motion(const State& x, double force, double s) const {
  const auto& [g, m_p, m_c, l, mu_c, mu_p, v_s] = parameters_;
  const auto& [th, th_dot, p, p_dot] = x;
  const double sin_th = std::sin(th);
  const double cos_th = std::cos(th);
  const double M = m_c + m_p;
  const double centrifugal = m_p * l * th_dot * th_dot;
  const double friction_arm = variant() == Variant::kPaper ? 1.0 : sin_th;

  const double torque = g * sin_th - mu_p * th_dot / (m_p * l) +
                        cos_th * ((-force - centrifugal * (sin_th + mu_c * s * cos_th)) / M + mu_c * g * s);
  const double inertia = l * (4.0 / 3.0 - m_p * cos_th / M * (cos_th - mu_c * s * friction_arm));
  const double th_ddot = torque / inertia;
  const double normal_force = M * g - m_p * l * th_ddot * sin_th - centrifugal * cos_th;
  const double p_ddot = (force + centrifugal * sin_th - m_p * l * th_ddot * cos_th - mu_c * normal_force * s) / M;
  return {th_ddot, p_ddot, normal_force};
}

CartPole::State CartPole::rate(const State& x, const VectorRef& c) const {
  const double p_dot = x[3];
  const double s = variant() == Variant::kPaper ? sign(p_dot) : std::tanh(p_dot / parameters_.v_s);
  // The sign of friction depends on that of the normal force, which depends on friction: assume that the cart presses
  // on the track, and turn the sign if it proves to pull (a pole that whirls at more than 10 rad/s).
  Motion m = motion(x, c(0), s);
  if (m.normal_force < 0.0) {
    m = motion(x, c(0), -s);
  }
  return {x[1], m.th_ddot, p_dot, m.p_ddot};
}

double CartPole::energy(const VectorRef& x) const {
  const auto& [g, m_p, m_c, l, mu_c, mu_p, v_s] = parameters_;
  const double cart = 0.5 * (m_c + m_p) * x(3) * x(3);
  const double coupling = m_p * l * std::cos(x(0)) * x(1) * x(3);
  const double pole = 0.5 * (4.0 / 3.0) * m_p * l * l * x(1) * x(1);
  return cart + coupling + pole + m_p * g * l * (1.0 + std::cos(x(0)));
}

std::vector<Parameter> CartPole::parameters() const {
  return list_parameters<CartPoleParameters>(kCartPoleFields, parameters_);
}

bool CartPole::assign_parameter(std::string_view name, double value) {
  return assign_field<CartPoleParameters>(kCartPoleFields, parameters_, name, value);
}

}  // namespace gpilot::systems
