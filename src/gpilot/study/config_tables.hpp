#pragma once

#include <string>
#include <string_view>

namespace gpilot::study {

/// A page of the documentation with its tables of keys brought up to date: after a line "<!-- keys: training -->" the
/// lines that begin with '|' are replaced by the table of that section, as it is described (config_layout.hpp). Throws
/// InputError for a section that a configuration does not have, and if the page lacks one that it has.
std::string with_key_tables(std::string_view page);

}  // namespace gpilot::study
