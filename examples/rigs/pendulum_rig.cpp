// A simulated pendulum as a rig: it speaks the rig protocol (docs/rig-protocol.md) on stdin and stdout.
//
//   pendulum_rig --seed 1                    a rig that can be reset
//   pendulum_rig --seed 1 --state rig.json   one that knows, even after a restart, which step it applied last
//   pendulum_rig --seed 1 --episode 20       one whose episodes are over after 20 steps
//
// A short rig to copy is pendulum_rig.py; this one also serves the tests, which need a rig that misbehaves.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpilot/io/table.hpp"
#include "gpilot/systems/pendulum.hpp"
#include "gpilot/systems/simulate.hpp"
#include "misbehave.hpp"

namespace {

using gpilot::Index;
using gpilot::Vector;
using Json = Misbehaviour::Json;

struct Options {
  std::uint64_t seed = 0;
  std::optional<double> dt;
  std::string state;
  std::string record;
  std::string misbehave;
  Index episode = 0;
  bool no_reset = false;
  bool real_time = false;
};

/// What has to survive a restart of an idempotent rig.
struct State {
  std::vector<double> x;
  Index steps = 0;    ///< since the last reset
  Index last_id = 0;  ///< of the last step
  Json answer;        ///< to it
};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// Held to the end of the process: another one that has not yet noticed that its gpilot is gone is waited for.
void lock_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ::flock(file, LOCK_EX) != 0) {
    fail(path);
  }
}

/// On the disk when it returns.
void append_line(const std::string& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string text = line + '\n';
  const bool done =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
  if (!done || ::close(file) != 0) {
    fail(path);
  }
}

class PendulumRig {
 public:
  explicit PendulumRig(Options options) : options_(std::move(options)) {
    if (options_.dt) {
      pendulum_.set_dt(*options_.dt);
    }
    if (!options_.state.empty()) {
      lock_file(options_.state + ".lock");
    }
    if (options_.state.empty() || !load()) {
      begin_sequence(0);
    }
  }

  /// The answer to one request, which has been applied by then.
  Json handle(const Json& request) {
    const std::string& op = request.at("op").get_ref<const std::string&>();
    Json answer{{"v", 1}, {"id", request.at("id")}, {"ok", true}};
    if (op == "hello") {
      hello(request, answer);
    } else if (op == "reset") {
      reset(request, answer);
    } else if (op == "step") {
      return step(request, std::move(answer));
    } else if (op == "safe" && options_.real_time) {
      safe(request, answer);
    } else if (op == "safe" || op == "close") {
      record(op, request.at("id"), request.at("u"));  // between two steps the simulated time stands still
    } else {
      refuse(answer, "unknown op: " + op);
    }
    return answer;
  }

  /// At the end of the input: nobody can say any more what is safe.
  void apply_own_safe_control() { record("end", nullptr, {0.0}); }

 private:
  using Simulator = gpilot::systems::Simulator;
  using Clock = std::chrono::steady_clock;

  /// Noise depends on the seed and the number of the step alone, so that a restart changes nothing.
  Simulator simulator(Index trial) const {
    return {pendulum_, {.seed = options_.seed, .trial = static_cast<std::uint32_t>(trial)}};
  }

  /// Without names gpilot asks what this rig is (gpilot init --rig); with them it says how it calls things.
  void hello(const Json& request, Json& answer) {
    const bool asks = request.at("inputs").empty();
    const double dt = asks ? pendulum_.spec().dt : request.at("dt").get<double>();
    if (options_.dt && *options_.dt != dt) {
      return refuse(answer, "this rig runs with --dt " + std::to_string(*options_.dt));
    }
    if (!asks && (request.at("inputs").size() != 1 || request.at("outputs").size() != 1)) {
      return refuse(answer, "a pendulum has 1 input and 1 output");
    }
    pendulum_.set_dt(dt);
    answer["can_reset"] = !options_.no_reset;
    answer["idempotent"] = !options_.state.empty();
    answer["dt"] = dt;
    if (asks) {
      const gpilot::Box& box = pendulum_.spec().control_box;
      answer["inputs"] = {
          {{"name", "torque"}, {"unit", "N m"}, {"low", box.low(0)}, {"high", box.high(0)}, {"safe", 0.0}}};
      answer["outputs"] = {{{"name", "angle"}, {"unit", "rad"}, {"low", -1.0}, {"high", 1.0}}};
    }
  }

  void begin_sequence(std::uint32_t number) {
    const Vector x = Simulator(pendulum_, {.seed = options_.seed, .trial = number}).initial_state();
    state_.x.assign(x.begin(), x.end());
    state_.steps = 0;
  }

  /// The request's seed chooses the initial state, so that a sequence can be had again.
  void reset(const Json& request, Json& answer) {
    if (options_.no_reset) {
      return refuse(answer, "this rig cannot be reset");
    }
    begin_sequence(request.value("seed", static_cast<std::uint32_t>(state_.last_id)));
    record("reset", answer["id"], nullptr);
    save();
    answer["y"] = measure(simulator(state_.last_id), 0);
  }

  Json step(const Json& request, Json answer) {
    const Index id = request.at("id").get<Index>();
    if (!options_.state.empty() && id == state_.last_id) {
      return state_.answer;  // answered again, not applied again
    }
    if (!options_.state.empty() && id < state_.last_id) {
      refuse(answer, "step " + std::to_string(id) + " is over");
      return answer;
    }
    const gpilot::Box& box = pendulum_.spec().control_box;
    const Vector u{{std::clamp(request.at("u").at(0).get<double>(), box.low(0), box.high(0))}};
    if (options_.real_time) {
      wait_for_the_end_of_the_step();
    }
    const Simulator noisy = simulator(0);
    const Vector x = noisy.advance(Eigen::Map<const Vector>(state_.x.data(), 2), u, id - 1);
    state_.x.assign(x.begin(), x.end());
    state_.last_id = id;
    answer["y"] = measure(noisy, id);
    answer["u_applied"] = {u(0)};
    answer["t"] = static_cast<double>(++state_.steps) * pendulum_.spec().dt;
    if (state_.steps == options_.episode) {
      answer["done"] = true;  // the measurement counts
    }
    state_.answer = answer;
    record("step", id, answer["u_applied"]);
    save();  // before the answer is sent: what was answered is never forgotten
    return answer;
  }

  /// dt after the end of the step before, or, if the request comes later than that, dt after the request.
  void wait_for_the_end_of_the_step() {
    const auto dt = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(pendulum_.spec().dt));
    const Clock::time_point now = Clock::now();
    end_of_step_ = (now < end_of_step_ + dt ? end_of_step_ : now) + dt;
    std::this_thread::sleep_until(end_of_step_);
  }

  /// In real time a period passes under the safe control as under any other.
  void safe(const Json& request, Json& answer) {
    constexpr Index kOwnNoise = 1'000'000'000;  // apart from that of the steps
    const Vector u{{request.at("u").at(0).get<double>()}};
    wait_for_the_end_of_the_step();
    const Simulator noisy = simulator(0);
    const Index t = kOwnNoise + state_.steps++;
    const Vector x = noisy.advance(Eigen::Map<const Vector>(state_.x.data(), 2), u, t);
    state_.x.assign(x.begin(), x.end());
    record("safe", answer["id"], request.at("u"));
    save();
    answer["y"] = measure(noisy, t);
  }

  Json measure(const Simulator& noisy, Index id) const {
    return {noisy.measure(Eigen::Map<const Vector>(state_.x.data(), 2), id)(0)};
  }

  static void refuse(Json& answer, const std::string& reason) {
    answer["ok"] = false;
    answer["status"] = "failed";
    answer["msg"] = reason;
  }

  void record(const std::string& op, const Json& id, const Json& u) const {
    if (!options_.record.empty()) {
      append_line(options_.record, Json{{"op", op}, {"id", id}, {"u", u}}.dump());
    }
  }

  void save() const {
    if (!options_.state.empty()) {
      const Json json{{"x", state_.x}, {"steps", state_.steps}, {"last_id", state_.last_id}, {"answer", state_.answer}};
      gpilot::io::write_file_atomically(options_.state, json.dump() + '\n');
    }
  }

  bool load() {
    std::ifstream file(options_.state);
    if (!file) {
      return false;
    }
    const Json json = Json::parse(file);
    state_ = {json.at("x"), json.at("steps"), json.at("last_id"), json.at("answer")};
    return true;
  }

  Options options_;
  gpilot::systems::Pendulum pendulum_;
  State state_;
  Clock::time_point end_of_step_;
};

int serve(const Options& options) {
  Misbehaviour misbehaviour(options.misbehave);
  PendulumRig rig(options);
  std::string line;
  try {
    while (std::getline(std::cin, line)) {
      const Json request = Json::parse(line);
      const Json answer = rig.handle(request);
      std::cout << misbehaviour.reply(request, answer) << std::flush;
      if (request["op"] == "close") {
        return 0;
      }
    }
  } catch (const std::exception& error) {
    rig.apply_own_safe_control();
    std::cerr << "pendulum_rig: " << error.what() << '\n';
    return 1;
  }
  rig.apply_own_safe_control();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A simulated pendulum that speaks the rig protocol on stdin and stdout.");
  Options options;
  std::string kinds;
  for (const std::string& kind : Misbehaviour::kinds()) {
    kinds += " " + kind;
  }
  app.add_option("--seed", options.seed, "Of all noise")->capture_default_str();
  app.add_option("--dt", options.dt, "Seconds a step; by default what gpilot says")->check(CLI::PositiveNumber);
  app.add_option("--state", options.state, "File that keeps the state and the last answer: makes the rig idempotent");
  app.add_option("--record", options.record, "File to which every message that was applied is appended");
  app.add_option("--episode", options.episode, "Steps after a reset with which an episode is over; 0 = it goes on")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--no-reset", options.no_reset, "A rig that cannot be reset");
  app.add_flag("--real-time", options.real_time, "End a step dt after the one before, not at once");
  app.add_option("--misbehave", options.misbehave, "KIND or KIND@N, at the N-th step:" + kinds);
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);  // the safe control comes before any complaint about a lost gpilot
  try {
    return serve(options);
  } catch (const std::exception& error) {
    std::cerr << "pendulum_rig: " << error.what() << '\n';
    return 1;
  }
}
