#include <set>
#include <string>
#include <utility>

#include "fuzz.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/study/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpilot;
  using fuzz::require;
  study::StudyConfig config;
  try {
    config = study::parse_config(fuzz::text_of(data, size), "rig.toml");
  } catch (const InputError& error) {
    fuzz::require_readable(error.what());
    return 0;
  }
  config.validate();  // what was accepted is valid
  require((config.explore.safe.array() >= config.box.low.array()).all() &&
              (config.explore.safe.array() <= config.box.high.array()).all(),
          "safe controls lie in the box");
  std::set<std::string> keys;
  for (const auto& [key, value] : study::settings_of(config)) {
    require(!value.empty(), "every setting has a value", key);
    require(keys.insert(key).second, "every setting is listed once", key);
  }
  require(!keys.empty(), "there are settings");
  for (const std::string& difference : study::differences(config, config)) {
    require(false, "a configuration does not differ from itself", difference);
  }
  return 0;
}
