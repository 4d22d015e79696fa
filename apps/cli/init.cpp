#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/study/config.hpp"
#include "options.hpp"

namespace gpilot::cli {

namespace {

struct InitArguments {
  std::string file;
  std::string example = "blank";
  bool force = false;
  Format format = Format::kText;
};

void run_init(const CLI::App& command, const InitArguments& arguments) {
  refuse_ignored(command,
                 {{{"--force", "--format"}, arguments.file != "-", "goes with a file, not with standard output"}});
  const std::string text = study::example_config(arguments.example);
  if (arguments.file == "-") {
    fmt::print("{}", text);
    return;
  }
  // A file that is there may be the work of hours.
  std::error_code ignored;
  if (!arguments.force && std::filesystem::is_regular_file(arguments.file, ignored)) {
    throw InputError(fmt::format("{}: the file is there already; --force replaces it", arguments.file));
  }
  io::write_file_atomically(arguments.file, text);
  if (arguments.format == Format::kJson) {
    fmt::print("{}\n", nlohmann::ordered_json{{"file", arguments.file}, {"example", arguments.example}}.dump(2));
  } else {
    fmt::print("wrote {} (example {}); change it, then: gpilot check {}\n", arguments.file, arguments.example,
               arguments.file);
  }
}

}  // namespace

void add_init(CLI::App& app) {
  const auto arguments = std::make_shared<InitArguments>();
  CLI::App* command = app.add_subcommand("init", "write a commented configuration of a study, to change");
  command->add_option("FILE", arguments->file, "file to write; - for standard output")
      ->required()
      ->type_name("FILE.toml");
  command
      ->add_option("--example", arguments->example,
                   fmt::format("what to start from: {}", fmt::join(study::example_names(), ", ")))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--force", arguments->force, "replace a file that is there");
  add_format(*command, arguments->format);
  command->footer(
      "The file explains its keys. 'blank' is a rig of your own with one input and one output; the others describe "
      "the\n"
      "simulated systems ('gpilot systems'). Examples:\n"
      "  gpilot init rig.toml\n"
      "  gpilot init pendulum.toml --example pendulum\n"
      "  gpilot init - --example cart-pole");
  command->callback([arguments, command] { run_init(*command, *arguments); });
}

}  // namespace gpilot::cli
