#include "gpilot/study/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "gpilot/core/suggest.hpp"
#include "gpilot/explore/region.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/io/printable.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/io/toml_reader.hpp"
#include "gpilot/ssm/knowledge.hpp"
#include "gpilot/study/config_archives.hpp"
#include "gpilot/study/config_layout.hpp"
#include "gpilot/study/config_physics.hpp"

namespace gpilot::study {

namespace {

/// Refuses keys that a section does not have, before anything is said about keys that are missing.
void check_keys(const io::TomlValue& table, const KeyPath& path, const std::vector<std::string>& known) {
  for (const io::TomlValue& member : table.members) {
    if (std::ranges::find(known, member.key) == known.end()) {
      KeyPath at = path;
      at.key = member.key;
      throw ConfigError(
          at, unknown_name_message(path.section.empty() ? "section" : "key", io::printable(member.key), known));
    }
  }
}

std::string entry_name(const io::TomlValue& table) {
  const io::TomlValue* name = table.find("name");
  return name != nullptr && name->type == io::TomlValue::Type::kText ? io::printable(name->text) : "";
}

/// Reads the sections of a file.
class ConfigReader {
 public:
  explicit ConfigReader(const io::TomlValue& root) : root_(root) {}

  template <class Describe>
  void section(const char* name, Describe describe) {
    const io::TomlValue* table = root_.find(name);
    const KeyPath path{name, -1, "", ""};
    if (table != nullptr && table->type != io::TomlValue::Type::kTable) {
      throw ConfigError(path,
                        fmt::format("expected one section [{}], not {}", name,
                                    table->type == io::TomlValue::Type::kArray ? "several" : io::describe(*table)));
    }
    TomlArchive archive(table, path);
    read(table, path, archive, describe);
  }

  template <class Entry, class Describe>
  void entries(const char* name, std::vector<Entry>& entries, Describe describe) {
    const io::TomlValue* list = root_.find(name);
    if (list == nullptr) {
      return;
    }
    const auto is_table = [](const io::TomlValue& value) { return value.type == io::TomlValue::Type::kTable; };
    if (list->type != io::TomlValue::Type::kArray || !std::ranges::all_of(list->items, is_table)) {
      throw ConfigError({name, -1, "", ""},
                        fmt::format("expected [[{}]] with two brackets, one for each {}", name, name));
    }
    for (const io::TomlValue& table : list->items) {
      const KeyPath path{name, static_cast<Index>(entries.size()), entry_name(table), ""};
      TomlArchive archive(&table, path);
      const auto describe_entry = [&](auto& a) { describe(a, entries.back()); };
      entries.emplace_back();
      read(&table, path, archive, describe_entry);
    }
  }

 private:
  template <class Describe>
  static void read(const io::TomlValue* table, const KeyPath& path, TomlArchive& archive, Describe describe) {
    if (table != nullptr) {
      ListArchive list;
      describe(list);
      check_keys(*table, path, list.keys());
    }
    describe(archive);
  }

  const io::TomlValue& root_;
};

struct SectionNames {
  std::vector<std::string> names;
  template <class Describe>
  void section(const char* name, Describe&& /*describe*/) {
    names.emplace_back(name);
  }
  template <class Entries, class Describe>
  void entries(const char* name, Entries& /*entries*/, Describe&& /*describe*/) {
    names.emplace_back(name);
  }
};

/// Checks every value on its own.
struct ConfigChecker {
  template <class Describe>
  void section(const char* name, Describe describe) const {
    CheckArchive archive({name, -1, "", ""});
    describe(archive);
  }
  template <class Entry, class Describe>
  void entries(const char* name, const std::vector<Entry>& entries, Describe describe) const {
    for (const Entry& entry : entries) {
      CheckArchive archive({name, &entry - entries.data(), entry.name, ""});
      describe(archive, entry);
    }
  }
};

/// The line of a key; of its section, if the key is not there; 0 if that is not there either.
std::size_t line_of(const io::TomlValue& root, const KeyPath& path) {
  if (path.section == kPhysics) {
    return physics_line(root, path.key);
  }
  const io::TomlValue* at = root.find(path.section.empty() ? path.key : path.section);
  if (at == nullptr) {
    return 0;
  }
  if (path.entry >= 0 && path.entry < static_cast<Index>(at->items.size())) {
    at = &at->items[static_cast<std::size_t>(path.entry)];
  } else if (at->type == io::TomlValue::Type::kArray && !at->items.empty()) {
    return at->items.front().line;
  }
  const io::TomlValue* value = at->find(path.key);
  return value != nullptr && value->line > 0 ? value->line : at->line;
}

StudyConfig read_config(const io::TomlValue& root, const std::string& file) {
  StudyConfig config;
  ConfigEntries entries;
  SectionNames sections;
  describe_config(sections, config, entries);
  sections.names.emplace_back(kPhysics);
  check_keys(root, {}, sections.names);
  ConfigReader reader(root);
  describe_config(reader, config, entries);
  if (config.name.empty()) {
    config.name = std::filesystem::path(file).stem().string();
  }
  config.explore.fit.seed = config.explore.seed;
  check_entries(entries);
  read_physics(root, config.model.physics);
  apply_entries(entries, config);
  config.validate();
  return config;
}

void check_sizes(const StudyConfig& c) {
  const auto check = [](const char* what, Index size, std::size_t expected) {
    if (size != static_cast<Index>(expected)) {
      throw InputError(fmt::format("{}: {} value(s), expected {}", what, size, expected));
    }
  };
  const std::size_t P = c.model.inputs.size();
  check("box.low", c.box.low.size(), P);
  check("box.high", c.box.high.size(), P);
  check("slew", c.explore.slew.size(), P);
  check("safe", c.explore.safe.size(), P);
  check("input units", static_cast<Index>(c.input_units.size()), P);
  check("limits.low", c.explore.limits.low.size(), c.model.outputs.size());
  check("limits.high", c.explore.limits.high.size(), c.model.outputs.size());
  check("output units", static_cast<Index>(c.output_units.size()), c.model.outputs.size());
}

void check_inputs(const StudyConfig& c) {
  for (std::size_t i = 0; i < c.model.inputs.size(); ++i) {
    const auto p = static_cast<Index>(i);
    const std::string& name = c.model.inputs[i];
    if (!(c.explore.slew(p) > 0.0)) {
      throw ConfigError({"input", p, name, "slew"},
                        fmt::format("expected a positive number, not {}", c.explore.slew(p)));
    }
    if (!given(c.explore.safe(p))) {
      throw ConfigError({"input", p, name, "safe"}, fmt::format("expected a finite number, not {}", c.explore.safe(p)));
    }
    for (const ssm::Range& range : c.model.ranges) {
      if (range.name == name && (range.low != c.box.low(p) || range.high != c.box.high(p))) {
        throw ConfigError({"input", p, name, "low"}, fmt::format("the model's range [{}, {}] is not the box [{}, {}]",
                                                                 range.low, range.high, c.box.low(p), c.box.high(p)));
      }
    }
  }
}

void check_kernel(const ssm::ModelSpec& spec) {
  if (spec.inducing == 0 && !spec.linear_kernel && spec.mean != ssm::MeanKind::kLinear) {
    throw ConfigError({"model", -1, "", "inducing"},
                      "0, with neither linear = true nor mean = \"linear\", leaves nothing to learn; expected more");
  }
  if (!spec.angles.empty() && spec.mean != ssm::MeanKind::kIdentity) {
    throw ConfigError({"model", -1, "", "mean"},
                      fmt::format("\"{}\", but the state '{}' is an angle, and after a full turn the dynamics would be "
                                  "others; expected \"identity\"",
                                  ssm::name(spec.mean), spec.angles.front()));
  }
}

/// The key that an error about knowledge is about.
KeyPath path_of(const ssm::KnowledgeError& error, const ssm::ModelSpec& spec) {
  if (error.key() == "physics.parameters") {
    return {kPhysics, -1, "", fmt::format("{}.{}", kPhysicsParameters, error.subject())};
  }
  if (error.key() == kPhysics) {
    return {kPhysics, -1, "", error.subject()};
  }
  const auto state = std::ranges::find(spec.states, error.subject());
  if (state == spec.states.end()) {
    return {"input", std::ranges::find(spec.inputs, error.subject()) - spec.inputs.begin(), error.subject(),
            error.key()};
  }
  return {"state", state - spec.states.begin(), error.subject(), error.key()};
}

void check_model(const ssm::ModelSpec& spec) {
  try {
    spec.validate();
  } catch (const ssm::KnowledgeError& error) {
    throw ConfigError(path_of(error, spec), io::printable(error.reason()));
  }
}

void check_nodes(const ssm::ModelSpec& spec) {
  try {
    gp::make_nodes(spec.nodes, static_cast<Index>(spec.states.size()), spec.node_points);
  } catch (const InputError& error) {
    throw ConfigError({"model", -1, "", "nodes"}, error.what());
  }
}

}  // namespace

std::string KeyPath::text() const {
  std::string text = section;
  if (!name.empty()) {
    text += fmt::format(".{}", io::printable(name));
  } else if (entry >= 0) {
    text += fmt::format("[{}]", entry + 1);
  }
  if (!key.empty()) {
    text += fmt::format("{}{}", text.empty() ? "" : ".", io::printable(key));
  }
  return text;
}

ConfigError::ConfigError(KeyPath at, const std::string& reason)
    : InputError(fmt::format("{}: {}", at.text(), reason)), path_(std::move(at)) {}

void StudyConfig::validate() const {
  check_kernel(model);
  check_model(model);
  check_sizes(*this);
  const ConfigEntries entries = entries_of(*this);
  const ConfigChecker checker;
  describe_config(checker, *this, entries);
  check_inputs(*this);
  check_entries(entries);
  check_nodes(model);
  try {
    explore.planning.validate();
    explore::check_region(model, explore.region);
  } catch (const InputError& error) {
    throw ConfigError({"planning", -1, "", ""}, error.what());
  }
  try {
    explore.fit.validate();
  } catch (const InputError& error) {
    throw ConfigError({"training", -1, "", ""}, error.what());
  }
}

StudyConfig parse_config(std::string_view toml, const std::string& file) {
  const io::TomlValue root = io::parse_toml(toml, file);
  try {
    return read_config(root, file);
  } catch (const ConfigError& error) {
    const std::size_t line = line_of(root, error.path());
    throw InputError(line > 0 ? fmt::format("{}:{}: {}", file, line, error.what())
                              : fmt::format("{}: {}", file, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
}

std::string implausible_words(const StudyConfig& config, VectorRef outputs) {
  const Vector learned = config.explore.learnable(outputs);
  std::string words;
  for (Index e = 0; e < outputs.size(); ++e) {
    if (std::isnan(outputs(e)) || !std::isnan(learned(e))) {
      continue;
    }
    const auto i = static_cast<std::size_t>(e);
    const std::string unit = config.output_units[i].empty() ? "" : " " + config.output_units[i];
    const Box& box = config.explore.plausible;
    const bool limited = e < box.low.size() && (outputs(e) < box.low(e) || outputs(e) > box.high(e));
    words += fmt::format(
        "{}{} = {:.6g}{} is not plausible ({})", words.empty() ? "" : ", ", config.model.outputs[i], outputs(e), unit,
        limited ? fmt::format("expected {:.6g} to {:.6g}{}", box.low(e), box.high(e), unit) : "it is beyond 1e150");
  }
  return words;
}

StudyConfig load_config(const std::string& path) {
  return parse_config(io::read_text(path, "a configuration", io::kLargestToml), path);
}

}  // namespace gpilot::study
