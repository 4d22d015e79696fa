#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/test_set.hpp"

namespace gpilot::trials {

/// One number about a model, e.g. {"rmse", 0.31}.
struct Metric {
  std::string name;
  double value = 0.0;
};

/// Measured sequences, of any length: the tests of a rig, whose truth nobody knows. User units.
struct RecordedTests {
  std::vector<std::string> inputs, outputs;
  ssm::Dataset sequences;  ///< a broad start: no free run begins at its first row
  Vector turns;            ///< [E] full turns of outputs that are angles, 0 for others
};

/// The fixed test of a learned model of a simulated system (docs/results/protocol.md). Everything random about it
/// depends on the system alone: every strategy, trial and training is judged by the same test data.
///
/// The first metric is always "rmse", what strategies are compared by: for a map (kink) the error of f on a grid of its
/// region; for the others the pooled error of free runs in units of each output's standard deviation. Outputs that only
/// observe_states() gave the system are not pooled: figures compare with those of the system whose states are latent.
class Evaluation {
 public:
  /// With `wrap_angles`, errors of outputs that are angles are those to the nearest turn.
  explicit Evaluation(const systems::System& system, bool wrap_angles = false, TestRange range = TestRange::kRegion);
  /// The same test with recorded sequences: errors are those of measurements, so intervals include the output noise.
  /// Throws InputError if nothing can be judged by them.
  explicit Evaluation(const RecordedTests& tests);
  ~Evaluation();
  Evaluation(Evaluation&&) noexcept;
  Evaluation& operator=(Evaluation&&) = delete;
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  /// In the order that evaluate() gives them.
  const std::vector<std::string>& names() const;
  /// The "rmse" of holding the last measured output in all free runs; not for maps.
  double held_rmse() const;
  /// Never NaN for a model whose predictions are finite. Thread-safe.
  std::vector<Metric> evaluate(const ssm::Model& model) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace gpilot::trials
