#include <fmt/format.h>

#include "gpilot/core/error.hpp"
#include "gpilot/inference/fit.hpp"

namespace gpilot::inference {

void FitOptions::validate() const {
  const auto at_least = [](const char* field, double value, double lowest) {
    if (!(value >= lowest)) {
      throw InputError(fmt::format("{}: {} is below {}", field, value, lowest));
    }
  };
  at_least("rounds", rounds, 0);
  at_least("e-steps", e_steps, 1);
  at_least("m-iterations", m_iterations, 1);
  at_least("polish", polish, 1);
  at_least("restarts", restarts, 1);
  at_least("noise-path", noise_path, 0);
  at_least("horizon", horizon, 1);
  at_least("epochs", epochs, 1);
  at_least("samples", static_cast<double>(samples), 1);
  at_least("threads", threads, 1);
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
  switch (method) {
    case Method::kEm:
      return "em";
    case Method::kLbfgs:
      return "lbfgs";
    case Method::kAdam:
      return "adam";
  }
  return "";
}

std::string_view name(ProcessNoise noise) {
  switch (noise) {
    case ProcessNoise::kAny:
      return "any";
    case ProcessNoise::kSmall:
      return "small";
  }
  return "";
}

Method method_from_name(std::string_view text) {
  for (const Method method : {Method::kEm, Method::kLbfgs, Method::kAdam}) {
    if (text == name(method)) {
      return method;
    }
  }
  throw InputError(fmt::format("unknown method '{}': expected em, lbfgs or adam", text));
}

}  // namespace gpilot::inference
