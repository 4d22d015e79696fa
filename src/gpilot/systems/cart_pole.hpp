#pragma once

#include "gpilot/systems/ode_system.hpp"

namespace gpilot::systems {

struct CartPoleParameters {
  double g = 9.81;     ///< gravity, m/s^2
  double m_p = 0.1;    ///< mass of the pole, kg
  double m_c = 0.5;    ///< mass of the cart, kg
  double l = 0.5;      ///< half the length of the pole, m
  double mu_c = 0.05;  ///< Coulomb friction of the cart on its track
  double mu_p = 0.01;  ///< friction of the pole's joint, N m s/rad
  double v_s = 0.05;   ///< speed at which the cart's friction saturates, m/s; unused by the paper's variant
};

/// A uniform pole on a cart that a force c drives along a track (Florian, 2007). th = 0 is upright, p the position of
/// the cart; th and p are observed. With M = m_c + m_p, the track's normal force N and s the sign of the cart's
/// friction:
///
///   N     = M g - m_p l (th'' sin th + th'^2 cos th)
///   th''  = [g sin th + cos th ((-c - m_p l th'^2 (sin th + mu_c s cos th)) / M + mu_c g s) - mu_p th' / (m_p l)]
///           / [l (4/3 - m_p cos th (cos th - mu_c s sin th) / M)]
///   p''   = [c + m_p l (th'^2 sin th - th'' cos th) - mu_c N s] / M
///
/// Corrected: s = sgn(N) tanh(p' / v_s), smooth at rest. The paper prints s = sgn(N p') and has no sin th beside mu_c s
/// in the denominator of th''.
class CartPole final : public OdeSystem<4> {
 public:
  explicit CartPole(Variant variant = Variant::kCorrected, CartPoleParameters parameters = {});

  /// Kinetic plus potential energy in J, zero with the pole hanging at rest.
  double energy(const VectorRef& x) const;
  std::unique_ptr<System> clone() const override { return std::make_unique<CartPole>(*this); }
  std::vector<Parameter> parameters() const override;

 private:
  /// Accelerations and the normal force that follow from an assumed friction sign s.
  struct Motion {
    double th_ddot = 0.0;
    double p_ddot = 0.0;
    double normal_force = 0.0;
  };

  State rate(const State& x, const VectorRef& c) const override;
  Motion motion(const State& x, double force, double s) const;
  bool assign_parameter(std::string_view name, double value) override;

  CartPoleParameters parameters_;
};

}  // namespace gpilot::systems
