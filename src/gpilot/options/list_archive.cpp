#include "gpilot/options/list_archive.hpp"

namespace gpilot::options {

std::vector<std::string> ListArchive::keys() const {
  std::vector<std::string> names;
  for (const ListedField& listed : fields_) {
    names.emplace_back(listed.field.key);
  }
  return names;
}

std::string ListedField::toml() const {
  if (!is_text) {
    return value;
  }
  std::string result;
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
    }
    result += letter;
  }
  return fmt::format("\"{}\"", result);
}

std::string ListedField::comment() const {
  const std::string otherwise = field.otherwise;
  return otherwise.empty() ? field.meaning : fmt::format("{} (default: {})", field.meaning, otherwise);
}

}  // namespace gpilot::options
