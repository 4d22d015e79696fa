#pragma once

#include <string>
#include <string_view>

#include "gpilot/ssm/model.hpp"

/// A fitted model as a file: JSON with "format": "gpilot-model" and a version, complete, so that a loaded model
/// predicts the same bits. Numbers are written with the fewest digits that read back to the same bits, a number that is
/// not finite as null (which reads as NaN), a matrix as an array of its rows. Wall-clock times are left out: the same
/// fit gives the same bytes.
namespace gpilot::io {

/// The newest version of the format that this library reads, and the one it writes.
inline constexpr int kModelFormatVersion = 4;

/// The file's text. Throws InputError for a name that is not valid UTF-8, and for a model whose physics is a function
/// of a program.
std::string format_model(const ssm::Model& model);

/// The model in a text; `name` is the file's, for messages. Every shape is checked against every other. Throws
/// InputError that names the file, the byte or the key (such as gp.parameters.Z[3]) and what was expected there.
ssm::Model parse_model(std::string_view text, const std::string& name);

/// Writes the file whole or not at all, see write_file_atomically.
void save_model(const std::string& path, const ssm::Model& model);
ssm::Model load_model(const std::string& path);

}  // namespace gpilot::io
