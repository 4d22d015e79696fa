#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/study/study.hpp"

/// What the commands that work on a study share.
namespace gpilot::cli {

/// Opens a study to write; if it is not there and a configuration is given, makes it. A configuration that differs from
/// the study's in what results depend on is an InputError that says where. `before` is called before a study is made
/// (Study::create).
study::Study open_or_create(const std::string& path, const std::string& config_path,
                            const std::function<void()>& before = {});

/// What is damaged in a study and does not keep it from being used, on standard error.
void note_damage(const study::Study& study);

/// "0.3,nan,": numbers, with nan, null or nothing for a missing one.
Vector parse_outputs(std::string_view option, std::string_view text);

/// "torque = 0.31 N m, ..".
std::string with_units(const std::vector<std::string>& names, const std::vector<std::string>& units,
                       const Vector& values);

}  // namespace gpilot::cli
