#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "describe_report.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/report/live_server.hpp"
#include "gpilot/study/study.hpp"
#include "interrupt.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

struct ServeArguments {
  std::string study;
  std::string port = "8717";
  std::string clients = "64";
  report::ServeOptions options;
  Format format = Format::kText;
};

std::string address_of(const report::ServeOptions& options, std::uint16_t port) {
  const bool v6 = options.host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}/{}", v6 ? "[" + options.host + "]" : options.host, port,
                     options.token.empty() ? "" : "?token=" + options.token);
}

void say_where(const ServeArguments& arguments, std::uint16_t port) {
  const std::string address = address_of(arguments.options, port);
  if (arguments.format == Format::kJson) {
    const nlohmann::ordered_json json = {{"study", arguments.study}, {"address", address}, {"port", port}};
    fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{} is shown live at {}\nCtrl-C ends it; the study is only read.\n", arguments.study, address);
  }
  std::fflush(stdout);
}

void run_serve(ServeArguments& arguments) {
  constexpr Index kLargestPort = 65535;
  const Index port = parse_count("--port", arguments.port, 0);
  if (port > kLargestPort) {
    throw InputError(fmt::format("--port: {}, expected at most {}", port, kLargestPort));
  }
  arguments.options.port = static_cast<std::uint16_t>(port);
  arguments.options.clients = parse_count("--clients", arguments.clients, 1);
  arguments.options.describe = describe_for_report;
  study::Study::open(arguments.study, study::Access::kRead);  // a wrong name is said at once
  // The run that writes the study goes first.
  constexpr int kNice = 10;
  errno = 0;
  if (::nice(kNice) == -1 && errno != 0) {
    fmt::print(stderr, "gpilot: note: the priority could not be lowered\n");
  }
  const InterruptGuard guard;
  report::serve_study(arguments.study, arguments.options, InterruptGuard::requested(),
                      [&](std::uint16_t bound) { say_where(arguments, bound); });
}

}  // namespace

void add_serve(CLI::App& app) {
  const auto arguments = std::make_shared<ServeArguments>();
  report::ServeOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand("serve", "the report of a study as a live page, while it runs");
  command->add_option("STUDY", arguments->study, "the study's file")->required();
  command->add_option("--port", arguments->port, "port to listen at; 0 is any that is free")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--host", options.host,
                   "address of this machine to listen at; others than the loopback's need a token")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command->add_option("--token", options.token, "what a client must know: at least 16 letters, digits, - and _")
      ->type_name("TEXT")
      ->envname("GPILOT_TOKEN");
  command->add_option("--allow-host", options.names, "another name by which this machine is asked for")
      ->type_name("NAME");
  command->add_option("--clients", arguments->clients, "most connections at a time")
      ->type_name("N")
      ->capture_default_str();
  add_format(*command, arguments->format);
  command->footer(
      "The study is only read, at low priority: the run that writes it is not disturbed. The page follows by itself,\n"
      "says when the study last moved, and connects again after a restart. Nothing is encrypted: across a network "
      "that\n"
      "others share, use a tunnel (ssh -L 8717:localhost:8717 RIG). Examples:\n"
      "  gpilot serve rig.study\n"
      "  gpilot serve rig.study --port 0 --format json\n"
      "  GPILOT_TOKEN=$(openssl rand -hex 16) gpilot serve rig.study --host 0.0.0.0");
  command->callback([arguments] { run_serve(*arguments); });
}

}  // namespace gpilot::cli
