#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpilot::io {

/// Nanoseconds since 1970 of an ISO 8601 time stamp: 2026-01-31T12:00:00.5Z, a blank instead of T, without seconds,
/// with Z, with an offset (+01:00, +0100, +01) or without a zone, which is then taken as UTC. Nothing for any other
/// text.
std::optional<std::int64_t> parse_time_stamp(std::string_view text);

}  // namespace gpilot::io
