#include "gpilot/options/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"

namespace gpilot::options {

void set_kernel(ssm::ModelSpec& spec, std::string_view text, std::string_view field) {
  std::vector<std::string> known;
  for (const kernels::Kind kind : kernels::kKinds) {
    known.emplace_back(kernels::name(kind));
    known.push_back(known.back() + "+linear");
  }
  known.emplace_back("linear");
  if (std::ranges::find(known, text) == known.end()) {
    throw InputError(fmt::format("{}: {}", field, unknown_name_message("kernel", text, known)));
  }
  spec.linear_kernel = text.ends_with("linear");
  if (text == "linear") {
    spec.inducing = 0;
  } else {
    spec.kernel = kernels::kind_from_name(text.substr(0, text.find('+')));
  }
}

}  // namespace gpilot::options
