#pragma once

#include "gpilot/systems/system.hpp"

namespace gpilot::systems {

struct KinkParameters {
  double shift = 0.2;
  double gain = 5.0;
  double rate = 2.0;
};

/// The kink function with an additive control, a map of one state (after Ialongo et al., 2019):
///
///   f(x, c) = c + (x + shift) (1 - gain / (1 + exp(-rate x)))
///
/// Its slope turns from about 1 to about -4 near x = 0, and the map is chaotic. The paper's c_t is our c_{t-1}: the
/// control that is applied before x_t; the equations are the same in both variants.
class Kink final : public System {
 public:
  explicit Kink(Variant variant = Variant::kCorrected, KinkParameters parameters = {});

  Vector next(const VectorRef& x, const VectorRef& c) const override;
  bool is_map() const override { return true; }
  Vector derivative(const VectorRef& x, const VectorRef& c) const override;
  std::unique_ptr<System> clone() const override { return std::make_unique<Kink>(*this); }
  std::vector<Parameter> parameters() const override;

 private:
  bool assign_parameter(std::string_view name, double value) override;

  KinkParameters parameters_;
};

}  // namespace gpilot::systems
