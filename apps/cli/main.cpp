#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli_archive.hpp"
#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/core/version.hpp"
#include "interrupt.hpp"

namespace gpilot::cli {
namespace {

enum ExitCode : int { kOk = 0, kFailed = 1, kWrongInput = 2, kInterrupted = 130 };

/// Standard error may be gone, with the terminal: the exit code then says all.
int say(const std::string& line, ExitCode code) {
  std::signal(SIGPIPE, SIG_IGN);
  std::fputs(line.c_str(), stderr);
  return code;
}

int report(std::string_view message, ExitCode code) {
  return say(fmt::format("gpilot: error: {}\n", message), code);
}

/// CLI11 has no word for a mistyped command: it would say that a command is missing.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0') {
    return;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  if (std::ranges::find(names, argv[1]) == names.end()) {
    throw InputError(unknown_name_message("command", argv[1], names));
  }
}

/// One sentence in this program's manner out of CLI11's.
std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  std::ranges::replace(message, '\n', ' ');
  while (!message.empty() && (message.back() == '.' || message.back() == ' ')) {
    message.pop_back();
  }
  if (message.size() > 1 && !std::isupper(static_cast<unsigned char>(message[1]))) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  const std::vector<CLI::App*> used = app.get_subcommands();
  return fmt::format("{}; see 'gpilot {}--help'", message, used.empty() ? "" : used.front()->get_name() + " ");
}

int run(int argc, char** argv) {
  CLI::App app("Learn the dynamics of a system from few measurements.", "gpilot");
  app.set_version_flag("--version", fmt::format("gpilot {}", version()));
  app.require_subcommand(1);
  app.footer("'gpilot COMMAND --help' explains a command, with examples.");
  for (const auto add : kCommands) {
    add(app);
  }
  for (CLI::App* command : app.get_subcommands({})) {
    refuse_empty_values(*command);
  }
  try {
    check_command(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help and --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return report(describe(app, error), kWrongInput);
  }
  std::cout.flush();
  if (std::fflush(stdout) != 0 || !std::cout) {
    return report("cannot write to standard output", kFailed);
  }
  return kOk;
}

}  // namespace
}  // namespace gpilot::cli

int main(int argc, char** argv) {
  using namespace gpilot::cli;
  try {
    return run(argc, argv);
  } catch (const gpilot::InputError& error) {
    return report(error.what(), kWrongInput);
  } catch (const Interrupted& interrupted) {
    return say(fmt::format("gpilot: {}\n", interrupted.what()), kInterrupted);
  } catch (const std::bad_alloc&) {
    return report("out of memory", kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}
