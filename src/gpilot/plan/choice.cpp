#include "gpilot/plan/choice.hpp"

#include "gpilot/core/enum_names.hpp"

namespace gpilot::plan {

namespace {

constexpr EnumNames<Phase, 4> kPhases{
    {{Phase::kRandom, "random"}, {Phase::kChosen, "chosen"}, {Phase::kSafe, "safe"}, {Phase::kImported, "imported"}}};

}  // namespace

std::string_view name(Phase phase) {
  return name_in(kPhases, phase);
}

Phase phase_from_name(std::string_view text) {
  return kind_in(kPhases, "phase of a step", text);
}

}  // namespace gpilot::plan
