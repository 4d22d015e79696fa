#pragma once

#include <string>
#include <string_view>

namespace gpilot::io {

/// CRC-32 of the bytes, as eight hexadecimal digits: finds every change of up to four bytes in a row, and all but one
/// in four thousand million others.
std::string checksum(std::string_view bytes);

}  // namespace gpilot::io
