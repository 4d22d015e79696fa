#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/model.hpp"

/// The region of states and controls where a model will be used, as a user declares it.
namespace gpilot::explore {

/// "th=-0.8:0.8, c=-0.3:0.3": names of states, of outputs that measure one, or of inputs, with ranges in their units.
/// Throws InputError for text of another form.
std::vector<ssm::Range> parse_region(std::string_view text);

/// The other direction.
std::string format_region(const std::vector<ssm::Range>& region);

/// Throws InputError for a name that the model does not have (with the nearest one), a name twice or an empty range.
void check_region(const ssm::ModelSpec& spec, const std::vector<ssm::Range>& region);

/// The region as a box of (x, c) in scaled units [D + P]. A state that is not named has its range, a control that is
/// not named the whole of `box`, which is in scaled units.
Box scaled_region(const ssm::Model& model, const std::vector<ssm::Range>& region, const Box& box);

/// Where outputs and states are meant to be [E + D], scaled units: as the region says, otherwise their declared range,
/// otherwise anywhere. An angle may always turn.
Box scaled_range(const ssm::Model& model, const std::vector<ssm::Range>& region);

}  // namespace gpilot::explore
