#include <cmath>
#include <string>

#include "fuzz.hpp"
#include "gpilot/rig/protocol.hpp"

namespace {

using namespace gpilot;
using fuzz::require;

constexpr Index kId = 12;

void check(const rig::RigAnswer& answer, const rig::RigHello& hello, bool needs_outputs) {
  constexpr std::size_t kLongestMessage = 1000;
  require(answer.message.size() <= kLongestMessage, "what the rig says is cut", answer.message);
  if (!answer.message.empty()) {
    fuzz::require_readable(answer.message);
  }
  require(answer.outputs || !needs_outputs || answer.status != rig::RigStatus::kOk, "a step has outputs");
  if (answer.outputs) {
    require(answer.outputs->size() == static_cast<Index>(hello.outputs.size()), "a value for every output");
    require(!answer.outputs->array().isInf().any(), "outputs are finite or missing");
  }
  if (answer.applied) {
    require(answer.applied->size() == static_cast<Index>(hello.inputs.size()), "a value for every input");
    require(answer.applied->allFinite(), "applied controls are finite");
  }
  require(!answer.time || std::isfinite(*answer.time), "times are finite");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rig::RigHello hello{.dt = 0.1, .inputs = {"u"}, .outputs = {"a", "b"}};
  const std::string_view line = fuzz::text_of(data, size);
  try {
    rig::parse_rig_hello(line);
  } catch (const rig::RigError& error) {
    fuzz::require_readable(error.what());
  }
  for (const bool needs_outputs : {false, true}) {
    try {
      check(rig::parse_rig_answer(line, kId, hello, needs_outputs), hello, needs_outputs);
    } catch (const rig::RigError& error) {
      fuzz::require_readable(error.what());
    }
  }
  return 0;
}
