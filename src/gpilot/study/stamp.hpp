#pragma once

#include <string>

namespace gpilot::study {

/// The time now: "2026-01-31T12:00:00.000Z".
std::string utc_now();

/// The name of this machine.
std::string host_name();

}  // namespace gpilot::study
