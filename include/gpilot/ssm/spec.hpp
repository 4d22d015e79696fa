#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/node_rule.hpp"
#include "gpilot/kernels/kind.hpp"

namespace gpilot::ssm {

/// What the transition is before anything is learned: nothing, "nothing moves", or a learned linear map.
enum class MeanKind { kZero, kIdentity, kLinear };

/// "zero", "identity", "linear".
std::string_view name(MeanKind kind);
/// Throws InputError listing the valid names.
MeanKind mean_from_name(std::string_view text);

/// A declared range of a column, in user units.
struct Range {
  std::string name;
  double low = 0.0;
  double high = 1.0;

  bool operator==(const Range&) const = default;
};

/// State `velocity` is the time derivative of state `position` (indices of states).
struct DerivativeOf {
  Index velocity = 0;
  Index position = 0;

  bool operator==(const DerivativeOf&) const = default;
};

/// What the user declares about a model, in user units. An entry that is NaN is "not given".
struct ModelSpec {
  std::vector<std::string> inputs;   ///< P names
  std::vector<std::string> outputs;  ///< E names
  std::vector<std::string> states;   ///< D names
  double dt = 1.0;                   ///< seconds between rows
  kernels::Kind kernel = kernels::Kind::kSquaredExponential;
  bool linear_kernel = true;
  MeanKind mean = MeanKind::kIdentity;
  Index inducing = 20;
  std::vector<DerivativeOf> derivatives;
  std::vector<std::string> angles;  ///< states that are angles, in radians
  Vector x0_mean;                   ///< [D] or empty
  Vector x0_sd;                     ///< [D] or empty
  Matrix C;                         ///< [E x D] or empty for [I 0]
  Vector d;                         ///< [E] or empty for 0
  bool learn_C = false;
  bool learn_d = false;
  Vector output_sd;   ///< [E] fixed noise, or empty / NaN to learn
  Vector process_sd;  ///< [D] fixed noise, or empty / NaN to learn
  std::vector<Range> ranges;
  gp::NodeRule nodes = gp::NodeRule::kAuto;
  Index node_points = 0;

  /// Throws InputError naming the field.
  void validate() const;
  /// A full turn of each output [E] that measures an angle and nothing else, in its units; 0 for all others.
  Vector turns() const;
};

}  // namespace gpilot::ssm
