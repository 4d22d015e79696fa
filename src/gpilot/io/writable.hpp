#pragma once

#include <span>
#include <string>

namespace gpilot::io {

/// What a file is, by its content.
enum class FileKind { kNothing, kModel, kTable, kJson, kStudy, kReport, kConfig, kOther };

/// kNothing for a file that is not there, is empty, or is a device or pipe; kReport for a page of `gpilot report`,
/// kConfig for a configuration of a study.
FileKind kind_of_file(const std::string& path);

/// Throws InputError if something of another kind stands at the path: somebody's data are not replaced by a model. Of
/// no use for kOther, which may be anything and so replaces nothing.
void check_replaceable(const std::string& path, FileKind kind);

/// Throws InputError if the output is one of the inputs, by whatever name. Names of no file do no harm.
void check_not_input(const std::string& output, std::span<const std::string> inputs);

/// Throws the InputError that write_file_atomically(path, ..) would throw, before hours of work rather than after. What
/// stands at the path is not touched.
void check_writable(const std::string& path);

/// Makes the directory, unless it is there; its name is on the disk when this returns. Throws InputError if it cannot
/// be made.
void make_directory(const std::string& path);

}  // namespace gpilot::io
