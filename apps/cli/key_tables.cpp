#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/study/config_tables.hpp"

namespace gpilot::cli {

void add_key_tables(CLI::App& app) {
  const auto page = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("key-tables", "a page of the documentation with its tables of keys up to date");
  command->group("");  // for those who work on gpilot: not in the help
  command->add_option("PAGE", *page, "docs/configuration.md")->required()->type_name("FILE.md");
  command->footer(
      "Examples:\n"
      "  gpilot key-tables docs/configuration.md >new.md && mv new.md docs/configuration.md");
  command->callback([page] { fmt::print("{}", study::with_key_tables(io::read_text(*page, "a page"))); });
}

}  // namespace gpilot::cli
