#pragma once

#include <array>

#include "gpilot/systems/system.hpp"

namespace gpilot::systems {

/// A system given by an ordinary differential equation in D states. The transition integrates it over dt with the
/// classical Runge-Kutta method of order 4 in `substeps` equal steps, at constant control.
template <int D>
class OdeSystem : public System {
 public:
  using State = std::array<double, D>;

  Vector next(const VectorRef& x, const VectorRef& c) const final;
  bool is_map() const final { return false; }
  Vector derivative(const VectorRef& x, const VectorRef& c) const final;

 protected:
  using System::System;

  /// dx/dt; x and c have the right sizes.
  virtual State rate(const State& x, const VectorRef& c) const = 0;
};

extern template class OdeSystem<2>;
extern template class OdeSystem<4>;

}  // namespace gpilot::systems
