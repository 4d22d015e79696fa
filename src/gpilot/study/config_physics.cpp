#include "gpilot/study/config_physics.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "gpilot/core/suggest.hpp"
#include "gpilot/io/printable.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/physics/expression.hpp"
#include "gpilot/study/config_layout.hpp"

namespace gpilot::study {

namespace {

using io::TomlValue;

constexpr const char* kIntegration = "integration";
constexpr std::size_t kMostParameters = 100;

[[noreturn]] void fail_at(const std::string& key, const std::string& reason) {
  throw ConfigError({kPhysics, -1, "", key}, reason);
}

bool is_number(const TomlValue& value) {
  return value.type == TomlValue::Type::kInteger || value.type == TomlValue::Type::kNumber;
}

double number_of(const TomlValue& value) {
  return value.type == TomlValue::Type::kInteger ? static_cast<double>(value.integer) : value.number;
}

/// "b = { start = 0.1, sd = 0.1 }", or "m = 0.1", which is known.
ssm::PhysicsParameter read_parameter(const TomlValue& entry) {
  const std::string key = fmt::format("{}.{}", kPhysicsParameters, entry.key);
  ssm::PhysicsParameter p{.name = entry.key};
  if (is_number(entry)) {
    p.start = number_of(entry);
    p.known = true;
    return p;
  }
  if (entry.type != TomlValue::Type::kTable) {
    fail_at(key,
            fmt::format("expected a number, or a table such as {{ start = 0.1, sd = 0.1 }}, not {}", describe(entry)));
  }
  const std::array<std::pair<const char*, double*>, 5> numbers{
      {{"start", &p.start}, {"sd", &p.sd}, {"factor", &p.factor}, {"low", &p.low}, {"high", &p.high}}};
  for (const TomlValue& member : entry.members) {
    double* target = nullptr;
    std::vector<std::string> known{"unit", "known"};
    for (const auto& [name, value] : numbers) {
      target = member.key == name ? value : target;
      known.emplace_back(name);
    }
    if (target != nullptr && is_number(member)) {
      *target = number_of(member);
    } else if (target != nullptr) {
      fail_at(key, fmt::format("{}: expected a number, not {}", member.key, describe(member)));
    } else if (member.key == "unit" && member.type == TomlValue::Type::kText) {
      p.unit = member.text;
    } else if (member.key == "known" && member.type == TomlValue::Type::kFlag) {
      p.known = member.flag;
    } else if (member.key == "unit" || member.key == "known") {
      fail_at(key, fmt::format("{}: expected {}, not {}", member.key,
                               member.key == "unit" ? "a text in quotes" : "true or false", describe(member)));
    } else {
      fail_at(key, unknown_name_message("key", io::printable(member.key), known));
    }
  }
  return p;
}

}  // namespace

void read_physics(const TomlValue& root, ssm::Physics& physics) {
  const TomlValue* section = root.find(kPhysics);
  if (section == nullptr) {
    return;
  }
  if (section->type != TomlValue::Type::kTable) {
    fail_at("", fmt::format("expected one section [physics], not {}", describe(*section)));
  }
  for (const TomlValue& member : section->members) {
    if (member.key == kPhysicsParameters) {
      if (member.type != TomlValue::Type::kTable || member.members.size() > kMostParameters) {
        fail_at(kPhysicsParameters,
                fmt::format("expected a section [physics.parameters] of at most {} parameters", kMostParameters));
      }
      for (const TomlValue& entry : member.members) {
        physics.parameters.push_back(read_parameter(entry));
      }
      continue;
    }
    if (member.type != TomlValue::Type::kText) {
      fail_at(member.key, fmt::format("expected a formula in quotes, not {}", describe(member)));
    }
    if (member.key == kIntegration) {
      try {
        physics.integration = ssm::integration_from_name(member.text);
      } catch (const InputError& error) {
        fail_at(kIntegration, io::printable(error.what()));
      }
    } else {
      physics.formulas.push_back({member.key, member.text});
    }
  }
  if (physics.formulas.empty()) {
    fail_at("", "expected at least one formula, such as v = \"(u - b*v) / m\"");
  }
}

ssm::Physics load_physics(const std::string& path) {
  const TomlValue root = io::parse_toml(io::read_text(path, "a file with [physics]", io::kLargestToml), path);
  ssm::Physics physics;
  try {
    read_physics(root, physics);
    if (physics.formulas.empty()) {
      throw InputError("expected a section [physics]");
    }
  } catch (const ConfigError& error) {
    throw InputError(fmt::format("{}:{}: {}", path, physics_line(root, error.path().key), error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
  return physics;
}

std::vector<std::pair<std::string, std::string>> physics_settings(const ssm::Physics& physics) {
  std::vector<std::pair<std::string, std::string>> settings;
  if (physics.empty()) {
    return settings;
  }
  settings.emplace_back("physics.integration", std::string(name(physics.integration)));
  for (const ssm::Formula& formula : physics.formulas) {
    settings.emplace_back("physics." + formula.state, formula.text);
  }
  for (const ssm::PhysicsParameter& p : physics.parameters) {
    std::string text = fmt::format("{}", p.start);
    const auto add = [&text](const char* what, double value) {
      text += std::isnan(value) ? "" : fmt::format(", {} {}", what, value);
    };
    add("sd", p.sd);
    add("factor", p.factor);
    add("low", p.low);
    add("high", p.high);
    settings.emplace_back("physics.parameters." + p.name, text);
  }
  return settings;
}

std::size_t physics_line(const TomlValue& root, const std::string& key) {
  const TomlValue* section = root.find(kPhysics);
  if (section == nullptr) {
    return 0;
  }
  const std::string prefix = fmt::format("{}.", kPhysicsParameters);
  const TomlValue* parameters = section->find(kPhysicsParameters);
  const TomlValue* found = key.starts_with(prefix) && parameters != nullptr
                               ? parameters->find(key.substr(prefix.size()))
                               : section->find(key);
  return found != nullptr && found->line > 0 ? found->line : section->line;
}

}  // namespace gpilot::study
