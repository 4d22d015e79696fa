#pragma once

#include <string>

#include "gpilot/trials/comparison_summary.hpp"

namespace gpilot::cli {

/// The tables of one system: the RMSE along the steps, the tests against the references, the effort. Aligned, every
/// line with its end.
std::string format_tables(const trials::SystemSummary& system, Index trials, Index last_step);

}  // namespace gpilot::cli
