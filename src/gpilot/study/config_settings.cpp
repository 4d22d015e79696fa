#include <fmt/format.h>

#include <algorithm>

#include "gpilot/study/config_archives.hpp"
#include "gpilot/study/config_layout.hpp"
#include "gpilot/study/config_physics.hpp"

namespace gpilot::study {

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kNone = "none";

/// Lists what results depend on.
struct SettingsLister {
  Settings settings;

  template <class Describe>
  void section(const char* name, Describe describe) {
    ListArchive list;
    describe(list);
    add(list, {name, -1, "", ""});
  }
  template <class Entry, class Describe>
  void entries(const char* name, const std::vector<Entry>& entries, Describe describe) {
    std::string names;
    for (const Entry& entry : entries) {
      names += (names.empty() ? "" : ", ") + entry.name;
    }
    settings.emplace_back(std::string(name) + "s", names);  // their order counts, too
    for (const Entry& entry : entries) {
      ListArchive list;
      describe(list, entry);
      add(list, {name, &entry - entries.data(), entry.name, ""});
    }
  }

 private:
  void add(const ListArchive& list, KeyPath path) {
    for (const ListedField& listed : list.fields()) {
      path.key = listed.field.key;
      if (listed.field.kind != Field::Kind::kAside && path.key != "name") {
        settings.emplace_back(path.text(), listed.value.empty() ? kNone : listed.value);
      }
    }
  }
};

std::string join(const MatrixRef& values) {
  const Vector flat = values.reshaped();  // begin and end of one and the same
  return fmt::format("{}", fmt::join(flat.begin(), flat.end(), ", "));
}

/// What only the library can set: an emission beyond "measures this state", and the paper's start.
void add_beyond_files(const StudyConfig& c, Settings& settings) {
  const ssm::ModelSpec& spec = c.model;
  const auto entries = entries_of(c);
  if (std::ranges::any_of(entries.outputs, [](const OutputEntry& e) { return e.state.empty(); })) {
    settings.emplace_back("model.C", join(spec.C));
  }
  if (spec.d.size() > 0 && !spec.d.isZero(0.0)) {
    settings.emplace_back("model.d", join(spec.d));
  }
  if (spec.learn_C) {
    settings.emplace_back("model.learn_C", "true");
  }
  if (spec.learn_d) {
    settings.emplace_back("model.learn_d", "true");
  }
  if (const auto& start = c.explore.fit.paper_start) {
    settings.emplace_back("training.paper_start", fmt::format("{}, {}", start->variance, start->length_scale));
  }
}

}  // namespace

Settings settings_of(const StudyConfig& config) {
  SettingsLister lister;
  const ConfigEntries entries = entries_of(config);
  describe_config(lister, config, entries);
  add_beyond_files(config, lister.settings);
  for (auto& setting : physics_settings(config.model.physics)) {
    lister.settings.push_back(std::move(setting));
  }
  return lister.settings;
}

std::vector<std::string> differences(const StudyConfig& now, const StudyConfig& before) {
  const Settings a = settings_of(now);
  const Settings b = settings_of(before);
  const auto value_in = [](const Settings& settings, const std::string& key) {
    const auto found = std::ranges::find(settings, key, &Settings::value_type::first);
    return found == settings.end() ? std::string(kNone) : found->second;
  };
  std::vector<std::string> list;
  for (const auto& [key, value] : a) {
    if (const std::string was = value_in(b, key); was != value) {
      list.push_back(fmt::format("{}: {}, was {}", key, value, was));
    }
  }
  for (const auto& [key, was] : b) {
    const bool gone = std::ranges::find(a, key, &Settings::value_type::first) == a.end();
    if (gone && was != kNone) {
      list.push_back(fmt::format("{}: none, was {}", key, was));
    }
  }
  return list;
}

}  // namespace gpilot::study
