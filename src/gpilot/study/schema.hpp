#pragma once

#include <string_view>
#include <vector>

namespace gpilot::study {

/// The SQL texts schema/001.sql, 002.sql, ..: entry k brings a file of version k to version k + 1.
const std::vector<std::string_view>& schema_versions();

}  // namespace gpilot::study
