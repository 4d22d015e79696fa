#pragma once

#include <string>

namespace gpilot::study {

/// Throws the InputError that write_file_atomically(path, ..) would throw, before hours of work rather than after. What
/// stands at the path is not touched.
void check_writable(const std::string& path);

/// Makes the directory, unless it is there; its name is on the disk when this returns. Throws InputError if it cannot
/// be made.
void make_directory(const std::string& path);

}  // namespace gpilot::study
