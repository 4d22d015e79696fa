#include <string>

#include "fuzz.hpp"
#include "gpilot/error.hpp"
#include "gpilot/study/model_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpilot;
  using fuzz::require;
  ssm::Model model;
  try {
    model = study::parse_model(fuzz::text_of(data, size), "model.json");
  } catch (const InputError& error) {
    fuzz::require_readable(error.what());
    return 0;
  }
  // What was accepted can be written, and reads back as what it was.
  const std::string text = study::format_model(model);
  require(study::format_model(study::parse_model(text, "model.json")) == text, "a model that was written reads back",
          text);
  return 0;
}
