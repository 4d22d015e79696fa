#include "misbehave.hpp"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <thread>

namespace {

using Json = Misbehaviour::Json;
using Reply = std::function<std::string(const Json& request, Json answer)>;

std::string line_of(const Json& json) {
  return json.dump() + '\n';
}

void say(const std::string& text) {
  std::cout << text << std::flush;
}

[[noreturn]] void hang() {
  for (;;) {
    ::pause();
  }
}

[[noreturn]] void ignore_everything() {
  ::signal(SIGTERM, SIG_IGN);
  hang();
}

void wait(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::string with(Json answer, const char* key, const Json& value) {
  answer[key] = value;
  return line_of(answer);
}

/// hello with one input called torque, and what it says of it.
std::string declaring(Json answer, const Json& more) {
  Json input{{"name", "torque"}};
  input.update(more);
  answer["inputs"] = Json::array({input});
  return line_of(answer);
}

/// The answer with text that no JSON library would write in place of y.
std::string with_y(Json answer, const std::string& y) {
  answer["y"] = "@";
  std::string line = line_of(answer);
  return line.replace(line.find("\"@\""), 3, y);
}

std::string flood_stderr(const Json& /*request*/, const Json& answer) {
  const std::string text = std::string(127, '#') + '\n';
  for (int i = 0; i < (64 << 20) / 128; ++i) {
    std::fputs(text.c_str(), stderr);
  }
  return line_of(answer);
}

std::string give_up(const Json& request, const char* status) {
  return line_of({{"v", 1}, {"id", request["id"]}, {"ok", false}, {"status", status}, {"msg", "told to misbehave"}});
}

/// A line that arrives byte by byte is a line all the same.
std::string slow_bytes(const Json& /*request*/, const Json& answer) {
  for (const char letter : line_of(answer)) {
    say(std::string(1, letter));
    wait(0.001);
  }
  return "";
}

std::string die_amid_line(const Json& /*request*/, const Json& answer) {
  const std::string line = line_of(answer);
  say(line.substr(0, line.size() / 2));
  std::_Exit(4);
}

const std::map<std::string, Reply>& at_steps() {
  static const std::map<std::string, Reply> kinds{
      {"hang", [](auto&&, auto&&) -> std::string { hang(); }},
      {"late",
       [](const Json& request, const Json& answer) {
         wait(request["deadline_s"].get<double>() + 0.5);
         return line_of(answer);
       }},
      {"die",
       [](auto&&, auto&&) -> std::string {
         std::cerr << "told to die\n";
         std::_Exit(3);
       }},
      {"die-midline", die_amid_line},
      {"killed",
       [](auto&&, auto&&) -> std::string {
         ::raise(SIGKILL);
         return "";
       }},
      {"closes-output",
       [](auto&&, auto&&) -> std::string {
         ::close(STDOUT_FILENO);
         return "";
       }},
      {"garbage", [](auto&&, auto&&) { return std::string("Torque \x01\xff applied: 0.5 Nm\n"); }},
      {"empty-line", [](auto&&, auto&&) { return std::string("\n"); }},
      {"long-line", [](auto&&, auto&&) { return std::string(100'000'000, 'x') + '\n'; }},
      {"deep", [](auto&&, auto&&) { return std::string(500'000, '[') + '\n'; }},
      {"wrong-id",
       [](const Json& request, const Json& answer) { return with(answer, "id", request["id"].get<long>() + 1000); }},
      {"old-id",
       [](const Json& request, const Json& answer) { return with(answer, "id", request["id"].get<long>() - 1); }},
      {"wrong-version", [](auto&&, const Json& answer) { return with(answer, "v", 2); }},
      {"nan", [](auto&&, const Json& answer) { return with_y(answer, "[NaN]"); }},
      {"infinity", [](auto&&, const Json& answer) { return with_y(answer, "[-Infinity]"); }},
      {"overflow", [](auto&&, const Json& answer) { return with_y(answer, "[1e400]"); }},
      {"missing", [](auto&&, const Json& answer) { return with_y(answer, "[null]"); }},
      {"wrong-dimension", [](auto&&, const Json& answer) { return with_y(answer, "[0.1, 0.2]"); }},
      {"no-outputs", [](auto&&, const Json& answer) { return with_y(answer, "null"); }},
      {"flood-stderr", flood_stderr},
      {"fail", [](const Json& request, auto&&) { return give_up(request, "failed"); }},
      {"unsafe", [](const Json& request, auto&&) { return give_up(request, "unsafe"); }},
      {"done", [](auto&&, const Json& answer) { return with(answer, "done", true); }},
      {"done-garbage", [](auto&&, const Json& answer) { return with(answer, "done", "yes"); }},
      {"done-number", [](auto&&, const Json& answer) { return with(answer, "done", 1); }},
      {"done-without-outputs",
       [](auto&&, Json answer) {
         answer.erase("y");
         return with(answer, "done", true);
       }},
      {"done-failed",
       [](const Json& request, auto&&) {
         return line_of({{"v", 1}, {"id", request["id"]}, {"ok", false}, {"msg", "told to misbehave"}, {"done", true}});
       }},
      {"array", [](auto&&, const Json& answer) { return line_of(Json::array({answer})); }},
      {"twice", [](auto&&, const Json& answer) { return line_of(answer) + line_of(answer); }},
      {"nulls", [](auto&&, auto&&) { return std::string(100, '\0') + '\n'; }},
      {"text-outputs", [](auto&&, const Json& answer) { return with_y(answer, "[\"0.1\"]"); }},
      {"applied-null", [](auto&&, const Json& answer) { return with(answer, "u_applied", Json::array({nullptr})); }},
      {"not-ok-number", [](auto&&, const Json& answer) { return with(answer, "ok", 1); }},
      {"slow-bytes", slow_bytes},
      {"extra-line", [](auto&&, const Json& answer) { return line_of(answer) + "and another thing\n"; }},
  };
  return kinds;
}

const std::map<std::string, Reply>& at_hello() {
  static const std::map<std::string, Reply> kinds{
      {"no-hello", [](auto&&, auto&&) -> std::string { hang(); }},
      {"slow-start",
       [](auto&&, const Json& answer) {
         wait(1.0);
         return line_of(answer);
       }},
      {"chatty-start", [](auto&&, const Json& answer) { return "Rig ready.\n" + line_of(answer); }},
      {"range-reversed",
       [](auto&&, const Json& answer) {
         return declaring(answer, {{"low", 1.0}, {"high", -1.0}});
       }},
      {"range-text",
       [](auto&&, const Json& answer) {
         return declaring(answer, {{"low", "-1"}, {"high", 1.0}});
       }},
      {"range-half",
       [](auto&&, const Json& answer) {
         return declaring(answer, {{"low", -1.0}});
       }},
      {"safe-outside",
       [](auto&&, const Json& answer) {
         return declaring(answer, {{"low", -1.0}, {"high", 1.0}, {"safe", 2.0}});
       }},
      {"channels-text", [](auto&&, const Json& answer) { return with(answer, "inputs", "torque"); }},
      {"channels-names", [](auto&&, const Json& answer) { return with(answer, "inputs", Json::array({"torque"})); }},
      {"same-names",
       [](auto&&, Json answer) {
         answer["outputs"] = Json::array({Json{{"name", "torque"}}});
         return declaring(answer, Json::object());
       }},
      {"dt-negative", [](auto&&, const Json& answer) { return with(answer, "dt", -0.1); }},
      {"refuses",
       [](auto&&, auto&&) {
         return line_of({{"v", 1}, {"id", 0}, {"ok", false}, {"msg", "the emergency stop is pressed"}});
       }},
  };
  return kinds;
}

const std::map<std::string, Reply>& at_close() {
  static const std::map<std::string, Reply> kinds{
      {"ignores-close", [](auto&&, auto&&) -> std::string { ignore_everything(); }},
      {"stays",
       [](auto&&, const Json& answer) -> std::string {
         say(line_of(answer));
         hang();
       }},
  };
  return kinds;
}

}  // namespace

Misbehaviour::Misbehaviour(const std::string& text) : kind_(text.substr(0, text.find('@'))) {
  const std::size_t at = text.find('@');
  if (at != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + at + 1, end, step_);
    if (error != std::errc{} || stop != end || step_ < 1) {
      throw std::invalid_argument("expected KIND or KIND@N with a step N from 1, not " + text);
    }
  }
  if (!text.empty() && !at_steps().contains(kind_) && !at_hello().contains(kind_) && !at_close().contains(kind_)) {
    throw std::invalid_argument("unknown misbehaviour: " + kind_);
  }
}

std::vector<std::string> Misbehaviour::kinds() {
  std::vector<std::string> names;
  for (const auto* table : {&at_hello(), &at_steps(), &at_close()}) {
    for (const auto& [name, reply] : *table) {
      names.push_back(name);
    }
  }
  return names;
}

std::string Misbehaviour::reply(const Json& request, const Json& answer) {
  const std::string& op = request["op"].get_ref<const std::string&>();
  const auto& table = op == "hello" ? at_hello() : op == "close" ? at_close() : at_steps();
  const auto found = table.find(kind_);
  const bool due = op != "step" || ++steps_ == step_;
  const bool concerned = op == "hello" || op == "close" || op == "step";
  return found != table.end() && due && concerned ? found->second(request, answer) : line_of(answer);
}
