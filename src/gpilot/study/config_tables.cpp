#include "gpilot/study/config_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/study/config_archives.hpp"
#include "gpilot/study/config_layout.hpp"

namespace gpilot::study {

namespace {

constexpr std::string_view kMarkBegin = "<!-- keys: ";
constexpr std::string_view kMarkEnd = " -->";

std::string default_of(const ListedField& listed) {
  if (listed.field.kind == Field::Kind::kRequired) {
    return "required";
  }
  if (listed.field.otherwise[0] != '\0') {
    return listed.field.otherwise;
  }
  if (listed.value.empty()) {
    return listed.type == "flag" ? "false" : "none";
  }
  return listed.is_text ? fmt::format("`{}`", listed.toml()) : listed.value;
}

/// "steps between two trainings. In between a filter follows the state".
std::string meaning_of(const ListedField& listed) {
  std::string text = listed.field.meaning;
  const auto in_text = [&text](const std::string& word) { return text.find(word) != std::string::npos; };
  if (!std::ranges::all_of(listed.known, in_text)) {
    text += fmt::format(": `{}`", fmt::join(listed.known, "`, `"));
  }
  const std::string more = listed.field.more;
  return text + (text.empty() || more.empty() ? "" : ". ") + more;
}

/// Makes a table of every section.
class TableWriter {
 public:
  const std::map<std::string, std::string, std::less<>>& tables() const { return tables_; }

  template <class Describe>
  void section(const char* name, Describe describe) {
    ListArchive list;
    describe(list);
    add(name, list, name != std::string_view("rig"));
  }
  template <class Entry, class Describe>
  void entries(const char* name, const std::vector<Entry>& /*entries*/, Describe describe) {
    ListArchive list;
    const Entry entry{};
    describe(list, entry);
    add(name, list, false);
  }

 private:
  /// Options of the command line stand in their own column, where a section has any.
  void add(const std::string& name, const ListArchive& list, bool options) {
    std::string table = options ? "| Key | Option | Type | Default | Meaning |\n|---|---|---|---|---|\n"
                                : "| Key | Type | Default | Meaning |\n|---|---|---|---|\n";
    for (const ListedField& listed : list.fields()) {
      const std::string unit = listed.field.unit[0] != '\0' ? fmt::format(", {}", listed.field.unit) : "";
      const std::string option = options::option_name(listed.field);
      table += fmt::format("| `{}` |", listed.field.key);
      if (options) {
        table += option.empty() ? " |" : fmt::format(" `{}` |", option);
      }
      const std::string meaning = meaning_of(listed);
      table += fmt::format(" {}{} | {} |{}{} |\n", listed.type, unit, default_of(listed), meaning.empty() ? "" : " ",
                           meaning);
    }
    tables_[name] = table;
  }

  std::map<std::string, std::string, std::less<>> tables_;
};

}  // namespace

std::string with_key_tables(std::string_view page) {
  TableWriter writer;
  const StudyConfig config{};
  const ConfigEntries entries;
  describe_config(writer, config, entries);
  std::vector<std::string> lacking;
  for (const auto& [name, table] : writer.tables()) {
    lacking.push_back(name);
  }
  std::istringstream lines{std::string(page)};
  std::string result;
  bool replaced = false;
  for (std::string line; std::getline(lines, line);) {
    if (replaced && line.starts_with('|')) {
      continue;
    }
    replaced = line.starts_with(kMarkBegin) && line.ends_with(kMarkEnd);
    result += line + '\n';
    if (replaced) {
      const std::string name = line.substr(kMarkBegin.size(), line.size() - kMarkBegin.size() - kMarkEnd.size());
      const auto table = writer.tables().find(name);
      if (table == writer.tables().end()) {
        throw InputError(fmt::format("'{}': a configuration has no section [{}]", line, name));
      }
      result += table->second;
      std::erase(lacking, name);
    }
  }
  if (!lacking.empty()) {
    throw InputError(fmt::format("the page has no line '{}{}{}'", kMarkBegin, lacking.front(), kMarkEnd));
  }
  return result;
}

}  // namespace gpilot::study
