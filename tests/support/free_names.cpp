#include "support/free_names.hpp"

#include <fmt/format.h>

namespace gpilot::test {

std::vector<std::string> free_names(const ssm::Parameters& p, const ssm::Free& free) {
  ssm::Parameters numbered = p;
  std::vector<std::string> all;
  // Every parameter becomes its number, so that the packed ones say which they are.
  const auto number = [&all](const char* text, auto& block) {
    for (Index i = 0; i < block.size(); ++i) {
      block.data()[i] = static_cast<double>(all.size());
      all.push_back(fmt::format("{}[{},{}]", text, i % block.rows(), i / block.rows()));
    }
  };
  number("log_variance", numbered.log_variance);
  number("log_length_scales", numbered.log_length_scales);
  number("log_linear_sd", numbered.log_linear_sd);
  number("mean_weights", numbered.mean_weights);
  number("Z", numbered.Z);
  number("log_q", numbered.log_q);
  number("log_r", numbered.log_r);
  number("C", numbered.C);
  number("d", numbered.d);
  number("physics", numbered.physics);
  Vector flat(ssm::free_count(numbered, free));
  ssm::pack(numbered, free, flat);
  std::vector<std::string> names;
  for (const double packed : flat) {
    names.push_back(all.at(static_cast<std::size_t>(packed)));
  }
  return names;
}

}  // namespace gpilot::test
