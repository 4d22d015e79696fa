#include <string>

#include "fuzz.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/ssm/model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpilot;
  using fuzz::require;
  ssm::Model model;
  try {
    model = io::parse_model(fuzz::text_of(data, size), "model.json");
  } catch (const InputError& error) {
    fuzz::require_readable(error.what());
    return 0;
  }
  // What was accepted can be written, and reads back as what it was.
  const std::string text = io::format_model(model);
  require(io::format_model(io::parse_model(text, "model.json")) == text, "a model that was written reads back", text);
  return 0;
}
