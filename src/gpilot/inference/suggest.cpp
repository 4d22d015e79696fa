#include "gpilot/inference/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/rolling_runs.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::inference {

namespace {

constexpr Index kRuns = 24;      ///< twice as many as a fit is judged by: differences are small
constexpr Index kLeastRuns = 6;  ///< fewer say nothing about a difference
constexpr double kBetter = 2.0;  ///< standard errors
constexpr double kWorse = 1.0;

/// The states that have a function of their own.
std::vector<std::string> function_states(const ssm::ModelSpec& spec) {
  std::vector<std::string> states = spec.states;
  for (const ssm::DerivativeOf& k : spec.derivatives) {
    std::erase(states, spec.states[static_cast<std::size_t>(k.position)]);
  }
  return states;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_valid(const ssm::ModelSpec& spec) {
  try {
    spec.validate();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

void add_cyclic(const ssm::ModelSpec& spec, std::vector<Suggestion>& all) {
  for (const std::string& state : spec.states) {
    Suggestion s{fmt::format("{} is cyclic", state), fmt::format("--cyclic {}", state), spec};
    s.spec.cyclic.push_back(state);
    for (ssm::DependsOn& d : s.spec.depends_on) {
      std::erase(d.names, state);
    }
    if (!holds(spec.cyclic, state)) {
      all.push_back(std::move(s));
    }
  }
}

/// One input less for one function.
void add_independence(const ssm::ModelSpec& spec, std::vector<Suggestion>& all) {
  std::vector<std::string> inputs = spec.states;
  inputs.insert(inputs.end(), spec.inputs.begin(), spec.inputs.end());
  std::erase_if(inputs, [&](const std::string& name) { return holds(spec.cyclic, name); });
  for (const std::string& state : function_states(spec)) {
    const auto known = std::ranges::find(spec.depends_on, state, &ssm::DependsOn::state);
    const std::vector<std::string> now = known == spec.depends_on.end() ? inputs : known->names;
    for (const std::string& input : now) {
      std::vector<std::string> rest = now;
      std::erase(rest, input);
      Suggestion s{fmt::format("the change of {} does not depend on {}", state, input),
                   fmt::format("--depends-on {}={}", state, fmt::join(rest, ",")), spec};
      std::erase_if(s.spec.depends_on, [&](const ssm::DependsOn& d) { return d.state == state; });
      s.spec.depends_on.push_back({state, rest});
      if (!rest.empty()) {
        all.push_back(std::move(s));
      }
    }
  }
}

void add_forms(const ssm::ModelSpec& spec, std::vector<Suggestion>& all) {
  const std::vector<std::string> states = function_states(spec);
  const std::string list = fmt::format("{}", fmt::join(states, ","));
  Suggestion odd{"functions are odd about the centres", "--odd " + list, spec};
  odd.spec.odd = states;
  Suggestion affine{"functions are affine in the controls", "--control-affine " + list, spec};
  affine.spec.control_affine = states;
  if (spec.odd.empty()) {
    all.push_back(std::move(odd));
  }
  if (spec.control_affine.empty()) {
    all.push_back(std::move(affine));
  }
}

/// Squared errors of each run.
RollingRuns runs_of(const ssm::Dataset& data, const ssm::Model& model, const FitOptions& options) {
  ssm::Dataset scaled;
  for (const ssm::Sequence& sequence : data) {
    scaled.push_back(model.scaling.to_scaled(sequence));
    if (!model.gp.structure.angles.empty()) {
      ssm::unwrap(model.gp.structure, model.gp.parameters, scaled.back());
    }
  }
  const ssm::Series series = ssm::concatenate(scaled);
  const gp::Nodes nodes =
      gp::make_nodes(model.spec.nodes, model.gp.structure.states, model.spec.node_points, options.seed);
  return rolling_runs(model.gp, model.states, series, nodes, {.runs = kRuns, .threads = options.threads});
}

void compare(const RollingRuns& with, const RollingRuns& without, Suggestion& s) {
  s.rmse = with.rmse();
  s.without = without.rmse();
  std::vector<double> differences;
  for (std::size_t n = 0; n < std::min(with.run_squares.size(), without.run_squares.size()); ++n) {
    if (with.run_counts[n] > 0.0 && without.run_counts[n] > 0.0) {
      differences.push_back(with.run_squares[n] / with.run_counts[n] - without.run_squares[n] / without.run_counts[n]);
    }
  }
  s.runs = static_cast<Index>(differences.size());
  if (s.runs < 2) {
    return;
  }
  const Eigen::Map<const Vector> d(differences.data(), s.runs);
  const auto n = static_cast<double>(s.runs);
  s.difference = d.mean();
  s.sd = std::sqrt((d.array() - s.difference).square().sum() / (n - 1.0) / n);
}

}  // namespace

Suggestion::Verdict Suggestion::verdict() const {
  if (runs < kLeastRuns) {
    return Verdict::kUnknown;
  }
  return difference < -kBetter * sd ? Verdict::kSupported
         : difference > kWorse * sd ? Verdict::kContradicted
                                    : Verdict::kCompatible;
}

std::string_view name(Suggestion::Verdict verdict) {
  switch (verdict) {
    case Suggestion::Verdict::kSupported:
      return "supported";
    case Suggestion::Verdict::kCompatible:
      return "compatible";
    case Suggestion::Verdict::kContradicted:
      return "contradicted";
    case Suggestion::Verdict::kUnknown:
      return "too few rows";
  }
  return "";
}

std::vector<Suggestion> suggest(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options,
                                const std::function<void(const std::string&, double)>& on_try) {
  std::vector<Suggestion> all;
  add_cyclic(spec, all);
  add_independence(spec, all);
  add_forms(spec, all);
  std::erase_if(all, [](const Suggestion& s) { return !is_valid(s.spec); });
  const auto stopped = [&] { return options.stop != nullptr && options.stop->load(); };
  const auto say = [&](const std::string& what, std::size_t done) {
    if (on_try) {
      on_try(what, static_cast<double>(done) / static_cast<double>(all.size() + 1));
    }
  };
  FitOptions quiet = options;
  quiet.on_progress = nullptr;
  say("as declared", 0);
  const RollingRuns without = runs_of(data, fit(data, spec, quiet), options);
  std::vector<Suggestion> tried;
  for (std::size_t k = 0; k < all.size() && !stopped(); ++k) {
    say(all[k].what, k + 1);
    const ssm::Model model = fit(data, all[k].spec, quiet);
    if (!stopped()) {
      compare(runs_of(data, model, options), without, all[k]);
      tried.push_back(std::move(all[k]));
    }
  }
  std::ranges::stable_sort(tried, {}, &Suggestion::difference);
  return tried;
}

}  // namespace gpilot::inference
