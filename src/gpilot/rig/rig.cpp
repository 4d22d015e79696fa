#include "gpilot/rig/rig.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/rig/channel.hpp"
#include "gpilot/rig/log.hpp"
#include "gpilot/rig/posix.hpp"
#include "gpilot/rig/process.hpp"
#include "gpilot/rig/protocol.hpp"

namespace gpilot::rig {
namespace {

using Kind = RigError::Kind;

void check_seconds(double seconds, const char* what) {
  if (!(seconds > 0.0) || !std::isfinite(seconds)) {
    throw InputError(fmt::format("the rig's {} must be a positive number of seconds, not {}", what, seconds));
  }
}

}  // namespace

void RigOptions::validate() const {
  if (command.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw InputError("the rig's command is empty");
  }
  if (command.find('\0') != std::string::npos) {
    throw InputError("the rig's command has a zero byte");
  }
  check_seconds(start_s, "start_s");
  check_seconds(deadline_s, "deadline_s");
  check_seconds(reset_s, "reset_s");
  check_seconds(close_s, "close_s");
  if (log_bytes <= 0) {
    throw InputError(fmt::format("the rig's log_bytes must be positive, not {}", log_bytes));
  }
}

class Rig::Implementation {
 public:
  Implementation(RigOptions options, RigHello hello) : options_(std::move(options)), hello_(std::move(hello)) {
    if (!options_.log.empty()) {
      log_.emplace(options_.log, options_.log_bytes);
    }
    posix::Pipe input;
    posix::Pipe output;
    process_.emplace(options_.command, input.read.get(), output.write.get(), log_ ? log_->writable() : -1);
    if (log_) {
      log_->close_writable();
    }
    channel_.emplace(std::move(input.write), std::move(output.read));
  }

  ~Implementation() { close(nullptr); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  Implementation(Implementation&&) = delete;
  Implementation& operator=(Implementation&&) = delete;

  /// Without names: it is asked for its own.
  void greet() {
    exchange("hello", hello_.inputs.empty() ? rig_describe_request() : rig_hello_request(hello_), options_.start_s,
             [&](std::string_view line) { traits_ = parse_rig_hello(line); });
    greeted_ = true;
  }

  RigAnswer ask(const std::string& what, Index id, const std::string& request, double deadline_s, bool needs_outputs) {
    RigAnswer answer;
    exchange(what, request, deadline_s,
             [&](std::string_view line) { answer = parse_rig_answer(line, id, hello_, needs_outputs); });
    return answer;
  }

  /// Without a safe control, the end of its input tells the rig to apply its own.
  bool close(const VectorRef* safe_control) noexcept {
    if (closed_) {
      return confirmed_;
    }
    closed_ = true;
    try {
      say_goodbye(safe_control);
    } catch (...) {  // no memory: it is ended all the same
    }
    process_->end();
    channel_.reset();
    log_.reset();
    return confirmed_;
  }

  void check_control(VectorRef control) const {
    if (control.size() != static_cast<Index>(hello_.inputs.size())) {
      throw InputError(
          fmt::format("the rig has {} input(s), but the control {} value(s)", hello_.inputs.size(), control.size()));
    }
  }

  const RigOptions& options() const { return options_; }
  const RigTraits& traits() const { return traits_; }
  const RigProcess& process() const { return *process_; }
  Index next_id() { return --last_id_; }

 private:
  using Read = std::function<void(std::string_view line)>;

  void exchange(const std::string& what, const std::string& request, double deadline_s, const Read& read) {
    if (closed_ || !failure_.empty()) {
      throw RigError(Kind::kGivenUp, closed_ ? fmt::format("{} to a rig that was closed", what)
                                             : fmt::format("{} to a rig that was given up: {}", what, failure_));
    }
    try {
      const posix::Deadline deadline(deadline_s);
      if (greeted_) {  // what it says before hello is taken for its answer, whichever comes first
        channel_->expect_silence();
      }
      channel_->send(request, deadline);
      read(channel_->receive(deadline));
    } catch (const RigError& error) {
      failure_ = explain(what, deadline_s, error);
      throw RigError(error.kind(), failure_);
    }
  }

  std::string explain(const std::string& what, double deadline_s, const RigError& error) {
    const std::string detail = *error.what() == '\0' ? "" : fmt::format(" ({})", error.what());
    switch (error.kind()) {
      case Kind::kTimeout:
        return fmt::format("the rig did not answer {} within {} s{}{}", what, deadline_s, detail, end_of_log());
      case Kind::kDied: {
        // It may have closed its output only; its end, if it comes, follows at once.
        constexpr double kMoment = 0.3;
        const char* event = process_->wait(kMoment) ? "ended" : "closed its output";
        return fmt::format("the rig {} before it answered {}: {}{}{}", event, what, process_->fate(), detail,
                           end_of_log());
      }
      case Kind::kUnsolicited:
        return fmt::format("before {} the rig sent a line that it was not asked for: {}", what, error.what());
      case Kind::kRefused:
        return error.what();
      default:
        return fmt::format("the rig's answer to {} is wrong: {}", what, error.what());
    }
  }

  std::string end_of_log() {
    constexpr double kMoment = 0.3;
    const std::string lines = log_ ? log_->last_lines(process_->ended() ? kMoment : 0.0) : "";
    const std::string state = process_->ended() ? "" : "; its process is still running";
    return lines.empty() ? state : fmt::format("{}; its log {} ends with: {}", state, log_->path(), lines);
  }

  /// Nothing, so that the rig applies its own safe control, if this one makes no sense.
  std::string goodbye(Index id, VectorRef safe_control) const {
    try {
      check_control(safe_control);
      return rig_close_request(id, safe_control);
    } catch (const InputError&) {
      return "";
    }
  }

  void say_goodbye(const VectorRef* safe_control) {
    const Index id = next_id();
    const std::string request = safe_control == nullptr ? "" : goodbye(id, *safe_control);
    const auto ended = [this] { return process_->ended(); };
    const auto read_answer = [&](std::string_view line) {
      try {
        confirmed_ = confirmed_ ||
                     (safe_control != nullptr && parse_rig_answer(line, id, hello_, false).status == RigStatus::kOk);
      } catch (const RigError&) {  // an answer to a request before, or nothing that counts any more
      }
    };
    channel_->finish(request, posix::Deadline(options_.close_s), ended, read_answer);
    if (!process_->ended()) {
      process_->signal_group(SIGTERM);
      channel_->finish("", posix::Deadline(options_.close_s), ended, read_answer);
    }
  }

  RigOptions options_;
  RigHello hello_;
  RigTraits traits_;
  std::optional<RigLog> log_;
  std::optional<RigProcess> process_;
  std::optional<RigChannel> channel_;
  std::string failure_;  ///< why the rig was given up; empty while it works
  Index last_id_ = 0;    ///< of the messages that are no steps
  bool greeted_ = false;
  bool closed_ = false;
  bool confirmed_ = false;
};

std::unique_ptr<Rig::Implementation> Rig::start(RigOptions options, RigHello hello) {
  options.validate();
  try {
    auto started = std::make_unique<Implementation>(std::move(options), std::move(hello));
    started->greet();
    return started;
  } catch (const std::system_error& error) {
    throw RigError(Kind::kStart, fmt::format("the rig could not be started: {}", error.what()));
  }
}

Rig::Rig(RigOptions options, RigHello hello) {
  hello.validate();
  implementation_ = start(std::move(options), std::move(hello));
}

RigTraits Rig::describe(RigOptions options) {
  return start(std::move(options), {})->traits();
}

Rig::~Rig() = default;

const RigTraits& Rig::traits() const {
  return implementation_->traits();
}

RigAnswer Rig::reset(std::optional<Index> seed) {
  const double deadline_s = implementation_->options().reset_s;
  const Index id = implementation_->next_id();
  return implementation_->ask("reset", id, rig_reset_request(id, deadline_s, seed), deadline_s, false);
}

RigAnswer Rig::step(Index id, VectorRef control) {
  return step(id, control, implementation_->options().deadline_s);
}

RigAnswer Rig::step(Index id, VectorRef control, double deadline_s) {
  if (id < 1) {
    throw InputError(fmt::format("the number of a step must be at least 1, not {}", id));
  }
  implementation_->check_control(control);
  return implementation_->ask(fmt::format("step {}", id), id, rig_step_request(id, control, deadline_s), deadline_s,
                              true);
}

RigAnswer Rig::safe(VectorRef control) {
  implementation_->check_control(control);
  const double deadline_s = implementation_->options().deadline_s;
  const Index id = implementation_->next_id();
  return implementation_->ask("the safe control", id, rig_safe_request(id, control, deadline_s), deadline_s, false);
}

bool Rig::close(VectorRef safe_control) noexcept {
  return implementation_->close(&safe_control);
}

bool Rig::running() const {
  return !implementation_->process().ended();
}

int Rig::process_id() const {
  return implementation_->process().id();
}

}  // namespace gpilot::rig
