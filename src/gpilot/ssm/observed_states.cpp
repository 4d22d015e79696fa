#include "gpilot/ssm/observed_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "gpilot/core/error.hpp"

namespace gpilot::ssm {

namespace {

/// Rule 1, or nothing if it does not hold for every output.
std::vector<Index> by_name(const ModelSpec& spec) {
  std::vector<Index> observed;
  for (const std::string& output : spec.outputs) {
    const auto state = std::find_if(spec.states.begin(), spec.states.end(),
                                    [&](const std::string& s) { return output == s || output == "y_" + s; });
    if (state == spec.states.end()) {
      return {};
    }
    observed.push_back(state - spec.states.begin());
  }
  const std::set<Index> distinct(observed.begin(), observed.end());
  return distinct.size() == observed.size() ? observed : std::vector<Index>{};
}

}  // namespace

std::vector<Index> observed_states(const ModelSpec& spec) {
  std::vector<Index> observed = by_name(spec);
  if (!observed.empty()) {
    return observed;
  }
  const std::size_t E = spec.outputs.size();
  const std::size_t D = spec.states.size();
  observed.resize(D);
  std::iota(observed.begin(), observed.end(), Index{0});
  if (E != D) {
    std::erase_if(observed, [&](Index state) {
      return std::ranges::any_of(spec.derivatives, [state](const DerivativeOf& d) { return d.velocity == state; });
    });
  }
  if (observed.size() < E) {
    throw InputError(
        fmt::format("{} outputs but {} state(s){}: name more states, name each output like the state it "
                    "measures (NAME or y_NAME), or give the emission",
                    E, observed.size(), observed.size() < D ? " that are no declared derivative" : ""));
  }
  observed.resize(E);
  return observed;
}

Matrix emission_matrix(const std::vector<Index>& observed, Index states) {
  Matrix C = Matrix::Zero(static_cast<Index>(observed.size()), states);
  for (std::size_t e = 0; e < observed.size(); ++e) {
    C(static_cast<Index>(e), observed[e]) = 1.0;
  }
  return C;
}

}  // namespace gpilot::ssm
