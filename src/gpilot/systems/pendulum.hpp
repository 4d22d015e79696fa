#pragma once

#include "gpilot/systems/ode_system.hpp"

namespace gpilot::systems {

struct PendulumParameters {
  double g = 9.81;  ///< gravity, m/s^2
  double m = 0.1;   ///< mass, kg
  double l = 1.0;   ///< length, m
  double b = 0.05;  ///< friction, N m s/rad
};

/// A point mass on a rod, driven by a torque c at the joint; th = 0 hangs down, only th is observed:
///
///   th'' = (c - b th' - m g l sin th) / (m l^2)
///
/// The equations are the same in both variants.
class Pendulum final : public OdeSystem<2> {
 public:
  explicit Pendulum(Variant variant = Variant::kCorrected, PendulumParameters parameters = {});

  /// Kinetic plus potential energy in J, zero at rest.
  double energy(const VectorRef& x) const;
  std::unique_ptr<System> clone() const override { return std::make_unique<Pendulum>(*this); }
  std::vector<Parameter> parameters() const override;

 private:
  State rate(const State& x, const VectorRef& c) const override;
  bool assign_parameter(std::string_view name, double value) override;

  PendulumParameters parameters_;
};

}  // namespace gpilot::systems
