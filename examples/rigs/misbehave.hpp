#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// What a rig can do wrong, for tests of whoever talks to it.
class Misbehaviour {
 public:
  using Json = nlohmann::ordered_json;

  /// "KIND" or "KIND@N": at the N-th step that this process answers (the first by default), or at hello or close if it
  /// concerns those. Empty: never. Throws std::invalid_argument.
  explicit Misbehaviour(const std::string& text);

  /// What is to be written in place of the answer; may also wait or end the process.
  std::string reply(const Json& request, const Json& answer);

  static std::vector<std::string> kinds();

 private:
  std::string kind_;
  long step_ = 1;
  long steps_ = 0;
};
