#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/rig/rig.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/study/rig_run.hpp"
#include "options.hpp"

namespace gpilot::cli {

namespace {

struct InitArguments {
  std::string file;
  std::string example = "blank";
  std::string rig;
  bool force = false;
  Format format = Format::kText;
};

/// The rig is started only to answer hello. What it writes to stderr is seen here.
std::string asked(const std::string& command) {
  study::RigSettings settings;
  rig::RigOptions options = study::rig_options(settings, "");
  options.command = command;
  options.log.clear();
  return study::rig_config(rig::Rig::describe(options), command);
}

/// What keeps the file from being used as it is; "" if nothing does.
std::string left_to_do(const std::string& text, const std::string& file) {
  try {
    study::parse_config(text, file);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

void print_written(const InitArguments& arguments, const std::string& missing) {
  const bool from_rig = !arguments.rig.empty();
  if (arguments.format == Format::kJson) {
    nlohmann::ordered_json json{{"file", arguments.file}};
    json[from_rig ? "rig" : "example"] = from_rig ? arguments.rig : arguments.example;
    if (from_rig) {
      json["missing"] = missing;
    }
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("wrote {} ({}); {}, then: gpilot check {}\n", arguments.file,
             from_rig ? "from what the rig declares" : fmt::format("example {}", arguments.example),
             from_rig ? "look through it" : "change it", arguments.file);
  if (!missing.empty()) {
    fmt::print("it cannot be used yet, since the rig does not say all: {}\n", missing);
  }
}

void run_init(const CLI::App& command, const InitArguments& arguments) {
  refuse_ignored(command,
                 {{{"--force", "--format"}, arguments.file != "-", "goes with a file, not with standard output"},
                  {{"--example"}, arguments.rig.empty(), "the rig says what the configuration holds; give one"}});
  // A file that is there may be the work of hours.
  std::error_code ignored;
  if (!arguments.force && arguments.file != "-" && std::filesystem::is_regular_file(arguments.file, ignored)) {
    throw InputError(fmt::format("{}: the file is there already; --force replaces it", arguments.file));
  }
  const std::string text = arguments.rig.empty() ? study::example_config(arguments.example) : asked(arguments.rig);
  if (arguments.file == "-") {
    fmt::print("{}", text);
    return;
  }
  io::write_file_atomically(arguments.file, text);
  print_written(arguments, arguments.rig.empty() ? "" : left_to_do(text, arguments.file));
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
  command
      ->add_option("--rig", arguments->rig,
                   "command that starts a rig: it is asked for its inputs, outputs, ranges, units and dt")
      ->type_name("COMMAND");
  command->add_flag("--force", arguments->force, "replace a file that is there");
  add_format(*command, arguments->format);
  command->footer(
      "The file explains its keys. 'blank' is a rig of your own with one input and one output; the others describe "
      "the\n"
      "simulated systems ('gpilot systems'). With --rig the rig is started, says hello (docs/rig-protocol.md) and is "
      "ended;\n"
      "nothing moves. What it does not declare is marked TO FILL IN. Examples:\n"
      "  gpilot init rig.toml\n"
      "  gpilot init rig.toml --rig \"python3 my_rig.py\"\n"
      "  gpilot init pendulum.toml --example pendulum\n"
      "  gpilot init - --example cart-pole");
  command->callback([arguments, command] { run_init(*command, *arguments); });
}

}  // namespace gpilot::cli
