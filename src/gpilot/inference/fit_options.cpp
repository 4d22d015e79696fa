#include <fmt/format.h>

#include "gpilot/core/at_least.hpp"
#include "gpilot/core/enum_names.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/inference/fit.hpp"

namespace gpilot::inference {

namespace {

constexpr EnumNames<Method, 3> kMethods{{{Method::kEm, "em"}, {Method::kLbfgs, "lbfgs"}, {Method::kAdam, "adam"}}};
constexpr EnumNames<ProcessNoise, 2> kProcessNoises{{{ProcessNoise::kAny, "any"}, {ProcessNoise::kSmall, "small"}}};

}  // namespace

void FitOptions::validate() const {
  check_at_least("rounds", rounds, 0);
  check_at_least("e-steps", e_steps, 1);
  check_at_least("m-iterations", m_iterations, 1);
  check_at_least("polish", polish, 1);
  check_at_least("restarts", restarts, 1);
  check_at_least("noise-path", noise_path, 0);
  check_at_least("horizon", horizon, 1);
  check_at_least("epochs", epochs, 1);
  check_at_least("samples", samples, 1);
  check_at_least("threads", threads, 1);
  if (!(learning_rate > 0.0)) {
    throw InputError(fmt::format("learning-rate: {} is not positive", learning_rate));
  }
  if (tied && method != Method::kAdam) {
    throw InputError("tied q(x) goes with method adam only");
  }
  if (paper_start && method != Method::kAdam) {
    throw InputError("the paper's start goes with method adam only");
  }
  if (paper_start && !(paper_start->variance > 0.0 && paper_start->length_scale > 0.0)) {
    throw InputError(fmt::format("the paper's start: variance {} and length scale {}, expected positive numbers",
                                 paper_start->variance, paper_start->length_scale));
  }
}

std::string_view name(Method method) {
  return name_in(kMethods, method);
}

std::string_view name(ProcessNoise noise) {
  return name_in(kProcessNoises, noise);
}

Method method_from_name(std::string_view text) {
  return kind_in(kMethods, "method", text);
}

}  // namespace gpilot::inference
