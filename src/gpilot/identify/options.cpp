#include "gpilot/identify/options.hpp"

#include <fmt/format.h>

#include <limits>

#include "gpilot/core/enum_names.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::identify {

namespace {

constexpr EnumNames<StateKind, 4> kStateKinds{{{StateKind::kAuto, "auto"},
                                               {StateKind::kLinear, "linear"},
                                               {StateKind::kDelay, "delay"},
                                               {StateKind::kSubspace, "subspace"}}};

}  // namespace

std::string_view name(StateKind kind) {
  return name_in(kStateKinds, kind);
}

StateKind state_kind_from_name(std::string_view text) {
  return kind_in(kStateKinds, "structure", text);
}

void IdentifyOptions::validate() const {
  const auto within = [](const char* field, Index value, Index lowest, Index highest) {
    if (value < lowest || value > highest) {
      throw InputError(fmt::format("{}: {}, expected {} to {}", field, value, lowest, highest));
    }
  };
  constexpr Index kMostDelay = 1000;
  within("states", states, 1, ssm::kMaxStates);
  within("order", order.value_or(1), 1, ssm::kMaxStates);
  within("dead-time", dead_time.value_or(0), 0, kMostDelay);
  within("output-lags", output_lags.value_or(1), 1, ssm::kMaxStates);
  within("input-lags", input_lags.value_or(0), 0, kMostDelay);
  within("iterations", iterations, 1, std::numeric_limits<int>::max());
  within("threads", threads, 1, std::numeric_limits<int>::max());
}

}  // namespace gpilot::identify
