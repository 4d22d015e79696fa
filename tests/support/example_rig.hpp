#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/rig/rig.hpp"

/// For the tests of the rig; the paths are defined for those sources alone.
namespace gpilot::test {

/// The command of the example rigs.
inline std::string pendulum_rig(const std::string& options = "") {
  return "exec '" GPILOT_PENDULUM_RIG "' " + options;
}
inline std::string python_rig(const std::string& options = "") {
  return "exec '" GPILOT_PYTHON "' '" GPILOT_PYTHON_RIG "' " + options;
}
/// A rig in the language of the shell that has said hello.
inline std::string shell_rig(const std::string& script) {
  return R"(read -r line; echo '{"v":1,"id":0,"ok":true}'; )" + script;
}

inline const rig::RigHello kPendulumHello{.dt = 0.1, .inputs = {"torque"}, .outputs = {"angle"}};

/// Deadlines so long that no busy machine misses them.
inline rig::RigOptions patient(std::string command) {
  return {.command = std::move(command), .start_s = 60.0, .deadline_s = 60.0, .reset_s = 60.0, .close_s = 60.0};
}

/// A directory of its own for each test, removed at its end.
class RigTest : public testing::Test {
 protected:
  RigTest() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = test->name();
    std::ranges::replace(name, '/', '_');
    directory_ = testing::TempDir() + "gpilot_rig_" + name + "_" + std::to_string(::getpid());
    std::filesystem::create_directories(directory_);
  }
  ~RigTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string text_of(const std::string& name) const {
    std::ifstream file(path(name));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  /// What the example rig has applied, as "step 1", "close -1", ...
  std::vector<std::string> record(const std::string& name = "record") const {
    std::vector<std::string> entries;
    std::ifstream file(path(name));
    for (std::string line; std::getline(file, line);) {
      const auto entry = nlohmann::json::parse(line);
      const std::string id = entry["id"].is_null() ? "" : " " + entry["id"].dump();
      entries.push_back(entry["op"].get<std::string>() + id);
    }
    return entries;
  }

 private:
  std::string directory_;
};

}  // namespace gpilot::test
