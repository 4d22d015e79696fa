#pragma once

#include <string>

#include "gpilot/core/types.hpp"

namespace gpilot::io {

/// "[0.1,null]": a JSON array with digits that read back to the same bits, NaN as null.
std::string format_numbers(VectorRef values);
/// Throws InputError for anything else.
Vector parse_numbers(const std::string& text);

}  // namespace gpilot::io
