#include "gpilot/io/model_file.hpp"

#include <fmt/format.h>

#include "gpilot/io/checksum.hpp"
#include "gpilot/io/model_layout.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"

namespace gpilot::io {

namespace {

using Json = JsonReader::Json;

constexpr std::string_view kFormat = "gpilot-model";
constexpr std::uint64_t kFirstWithChecksum = 4;  ///< format version

[[noreturn]] void fail(const std::string& name, std::string_view message) {
  throw InputError(fmt::format("{}: {}", name, message));
}

/// For a text that does not begin as a JSON object: what it seems to be instead.
[[noreturn]] void fail_other_format(std::string_view text, std::string_view start, const std::string& name) {
  if (start.empty()) {
    fail(name, text.empty() ? "not a gpilot model: the file is empty" : "not a gpilot model: the file is blank");
  }
  const std::string_view line = start.substr(0, start.find_first_of("\r\n"));
  const bool printable = line.find_first_not_of(
                             " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                             "abcdefghijklmnopqrstuvwxyz{|}~") == std::string_view::npos;
  if (printable && line.find(',') != std::string_view::npos && line.front() != '[') {
    fail(name, fmt::format("not a gpilot model but what looks like a CSV file (it begins '{}')", line.substr(0, 40)));
  }
  fail(name, "not a gpilot model: expected a JSON file written by 'gpilot fit'");
}

Json parse_json(std::string_view text, const std::string& name) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::string_view start = first == std::string_view::npos ? "" : text.substr(first);
  if (!start.starts_with('{')) {
    fail_other_format(text, start, name);
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const bool truncated = error.byte > text.size();
    fail(name, truncated
                   ? fmt::format("damaged model file: it ends at byte {} within the JSON text, so its end is lost",
                                 text.size())
                   : fmt::format("damaged model file: not valid JSON at byte {} of {}", error.byte, text.size()));
  } catch (const Json::exception&) {
    fail(name, "damaged model file: a number in it is out of a double's range");
  }
}

void check_version(const Json& json, const std::string& name) {
  const auto format = json.find("format");
  if (format == json.end() || !format->is_string() || format->get_ref<const std::string&>() != kFormat) {
    fail(name, fmt::format("not a gpilot model: the JSON text has no \"format\": \"{}\"", kFormat));
  }
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_unsigned() || version->get<std::uint64_t>() == 0) {
    fail(name, "damaged model file: version: expected a whole number of at least 1");
  }
  if (version->get<std::uint64_t>() > kModelFormatVersion) {
    fail(name, fmt::format("written by a newer gpilot (format version {}, this program reads up to {})",
                           version->get<std::uint64_t>(), kModelFormatVersion));
  }
}

/// Of the values, however they are laid out in the file.
std::string checksum_of(Json json) {
  json.erase("checksum");
  return checksum(json.dump());
}

/// Old files have no checksum, and null stands for a change on purpose; one that is there, or should be, must be right.
void check_values(const Json& json, const std::string& name) {
  const auto stored = json.find("checksum");
  const bool old = stored == json.end() && json["version"].get<std::uint64_t>() < kFirstWithChecksum;
  if (old || (stored != json.end() && stored->is_null())) {
    return;
  }
  if (stored == json.end() || *stored != checksum_of(json)) {
    fail(name,
         "damaged model file: checksum: a value in the file is not what was stored; if it was changed on purpose, "
         "set the checksum to null");
  }
}

}  // namespace

std::string format_model(const ssm::Model& model) {
  if (model.spec.physics.function) {
    throw InputError("a model whose physics is a function of a program cannot be saved: expected formulas");
  }
  JsonWriter file;
  file.text("format", std::string(kFormat));
  file.count("version", Index{kModelFormatVersion}, 1, kModelFormatVersion);
  describe_model(file, model);
  try {
    file.text("checksum", checksum_of(Json::parse(file.format())));
    return file.format();
  } catch (const nlohmann::json::type_error&) {
    throw InputError("a name of a column or state is not valid UTF-8, so that it cannot stand in a model file");
  }
}

ssm::Model parse_model(std::string_view text, const std::string& name) {
  const Json json = parse_json(text, name);
  check_version(json, name);
  JsonReader file(json, name, "");
  ssm::Model model;
  describe_model(file, model);
  check_values(json, name);  // last: what is wrong with a single value is said by its name
  return model;
}

void save_model(const std::string& path, const ssm::Model& model) {
  check_replaceable(path, FileKind::kModel);
  write_file_atomically(path, format_model(model));
}

ssm::Model load_model(const std::string& path) {
  return parse_model(read_text(path, "a model file"), path);
}

}  // namespace gpilot::io
