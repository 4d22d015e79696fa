#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot::inference {

/// Something that could be declared, and what the data say about it: free runs over rows that a model with it had not
/// learned from, beside those of the model without it, run by run (rolling_runs).
struct Suggestion {
  std::string what;         ///< "x is cyclic"
  std::string option;       ///< "--cyclic x"
  ssm::ModelSpec spec;      ///< with it
  double rmse = 0.0;        ///< scaled units
  double without = 0.0;     ///< of the model as it was declared
  double difference = 0.0;  ///< mean over runs of the mean squared error less that without it
  double sd = 0.0;          ///< standard error of the difference
  Index runs = 0;

  enum class Verdict { kSupported, kCompatible, kContradicted, kUnknown };
  /// Supported: better by more than two standard errors. Contradicted: worse by more than one. Unknown: too few runs.
  Verdict verdict() const;
};

std::string_view name(Suggestion::Verdict verdict);

/// Tries each structure that a model could be told beyond what `spec` says, one at a time: cyclic states, inputs that a
/// function does not depend on, odd symmetry about the centres, control-affine functions. Nothing is adopted. Best
/// first. `on_try` is called before each with its words and the share of the work that is done.
std::vector<Suggestion> suggest(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options,
                                const std::function<void(const std::string&, double)>& on_try = {});

}  // namespace gpilot::inference
