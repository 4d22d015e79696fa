#include "gpilot/systems/kink.hpp"

#include <cmath>
#include <stdexcept>

#include "gpilot/systems/parameter_fields.hpp"

namespace gpilot::systems {
namespace {

constexpr Field<KinkParameters> kKinkFields[] = {
    {"shift", &KinkParameters::shift, "", "where the line x + shift crosses zero"},
    {"gain", &KinkParameters::gain, "", "drop of the slope across the kink"},
    {"rate", &KinkParameters::rate, "", "sharpness of the kink"},
};

SystemSpec kink_spec() {
  return {
      .name = "kink",
      .summary = "a chaotic map with a kink, state observed",
      .states = {{"x", ""}},
      .controls = {{"c", ""}},
      .outputs = {{"y", ""}},
      .dt = 1.0,
      .substeps = 1,
      .control_box = {Vector{{0.0}}, Vector{{1.0}}},
      .x0_mean = Vector{{0.5}},
      .x0_sd = Vector{{0.03}},
      .process_sd = Vector{{0.05}},
      .output_sd = Vector{{0.05}},
      .emission = Matrix{{1.0}},
      .region = {Vector{{-3.0}}, Vector{{1.1}}},
      .derivatives = {},
      .paper = {.kernel = "se", .initial_variance = 1.0, .initial_length_scale = 1.0, .epochs = 100},
  };
}

}  // namespace

Kink::Kink(Variant variant, KinkParameters parameters) : System(kink_spec(), variant), parameters_(parameters) {}

Vector Kink::next(const VectorRef& x, const VectorRef& c) const {
  check_sizes(x, c);
  const auto& [shift, gain, rate] = parameters_;
  return Vector{{c(0) + (x(0) + shift) * (1.0 - gain / (1.0 + std::exp(-rate * x(0))))}};
}

Vector Kink::derivative(const VectorRef& /*x*/, const VectorRef& /*c*/) const {
  throw std::logic_error("kink is a map: it has no time derivative");
}

std::vector<Parameter> Kink::parameters() const {
  return list_parameters<KinkParameters>(kKinkFields, parameters_);
}

bool Kink::assign_parameter(std::string_view name, double value) {
  return assign_field<KinkParameters>(kKinkFields, parameters_, name, value);
}

}  // namespace gpilot::systems
