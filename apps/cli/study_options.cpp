#include "study_options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "gpilot/core/error.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/study/config.hpp"
#include "new_data.hpp"
#include "options.hpp"

namespace gpilot::cli {

study::Study open_or_create(const std::string& path, const std::string& config_path,
                            const std::function<void()>& before) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  if (config_path.empty()) {
    if (!exists) {
      throw InputError(fmt::format("{}: there is no such study; --config FILE.toml makes it", path));
    }
    study::Study opened = study::Study::open(path);
    note_damage(opened);
    return opened;
  }
  const std::string config = io::read_text(config_path, "a configuration");
  if (!exists) {
    return study::Study::create(path, config, config_path, before);
  }
  study::Study opened = study::Study::open(path);
  note_damage(opened);
  opened.reconfigure(config, config_path);
  return opened;
}

void note_damage(const study::Study& study) {
  for (const std::string& warning : study.warnings()) {
    print_note(warning);
  }
}

Vector parse_outputs(std::string_view option, std::string_view text) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const bool missing = part.empty() || part == "nan" || part == "NaN" || part == "null";
    values.push_back(missing ? kNaN : parse_number(option, part));
    begin = end + 1;
  }
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

std::string with_units(const std::vector<std::string>& names, const std::vector<std::string>& units,
                       const Vector& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double value = values(static_cast<Index>(i));
    const std::string& unit = units[i];
    parts.push_back(std::isnan(value) ? fmt::format("{} missing", names[i])
                                      : fmt::format("{} = {}{}{}", names[i], value, unit.empty() ? "" : " ", unit));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace gpilot::cli
