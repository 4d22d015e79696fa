#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace gpilot::io {

/// The text of a whole file. Throws InputError "PATH: .." if it cannot be read, is a directory (`expected` says what
/// should be there, e.g. "a model file") or has more than `largest` bytes.
std::string read_text(const std::string& path, std::string_view expected,
                      std::size_t largest = std::numeric_limits<std::size_t>::max());

/// Whether a file is there that holds an SQLite database, and so may be a study.
bool is_database(const std::string& path);

}  // namespace gpilot::io
