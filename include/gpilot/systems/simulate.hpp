#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpilot/systems/system.hpp"

namespace gpilot::systems {

/// A standard deviation of zero is no noise; one value stands for all states or outputs.
struct SimulateOptions {
  std::uint64_t seed = 0;
  std::uint32_t trial = 0;
  std::optional<Vector> x0 = {};          ///< [D]; by default drawn from N(x0_mean, x0_sd^2)
  std::optional<Vector> process_sd = {};  ///< [D] or [1]; by default the system's
  std::optional<Vector> output_sd = {};   ///< [E] or [1]; by default the system's
};

/// One recorded run of T steps. Row 0 has no output (NaN): x_0 is not measured. The last row has no control (NaN).
struct Trajectory {
  Vector times;     ///< [T+1], seconds; steps for a map
  Matrix states;    ///< [T+1 x D], the truth
  Matrix controls;  ///< [T+1 x P]
  Matrix outputs;   ///< [T+1 x E]
};

/// A noisy system, one step at a time. Every random number is keyed by (seed, trial, step, purpose): it does not depend
/// on which other noise is on, nor on whether the run was interrupted. Keeps a reference to the system.
class Simulator {
 public:
  /// Throws InputError if a size is wrong or a standard deviation is negative or not finite.
  Simulator(const System& system, const SimulateOptions& options);

  /// Without any noise, the mean of x_0 (unless x0 is given).
  Vector initial_state() const;
  /// x_{t+1} = f(x_t, c_t) + noise. Throws InputError if c is outside the control box, NumericalError if x_{t+1} is not
  /// finite.
  Vector advance(const VectorRef& x, const VectorRef& c, Index t) const;
  /// y_t = C x_t + noise.
  Vector measure(const VectorRef& x, Index t) const;

 private:
  const System& system_;
  SimulateOptions options_;
  std::vector<Index> own_outputs_;
  Vector process_sd_;
  Vector output_sd_;
};

/// The times t dt of rows 0, 1, .. without the digits that come from rounding: 0.3, not 0.30000000000000004.
Vector time_grid(Index rows, double dt);

/// Applies the rows of `controls` [T x P] in turn; T >= 1.
Trajectory simulate(const System& system, const MatrixRef& controls, const SimulateOptions& options = {});

/// For how many steps a random control value is held: uniform in {shortest, .., longest}.
struct Hold {
  Index shortest = 1;
  Index longest = 1;
};

// Every generator returns [steps x P]. The first rows do not depend on `steps`.

/// Values uniform in the control box, of a system or any other.
Matrix random_controls(const Box& box, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial = 0);
Matrix random_controls(const System& system, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial = 0);

/// Values at random corners of the control box (bang-bang).
Matrix extreme_controls(const Box& box, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial = 0);
Matrix extreme_controls(const System& system, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial = 0);

/// The same value at every step; throws InputError if it has another size than P or lies outside the control box.
Matrix constant_controls(const System& system, Index steps, const VectorRef& value);

}  // namespace gpilot::systems
