#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpilot/acquisition/strategy.hpp"
#include "gpilot/box.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"

/// Algorithm 1 of the paper: train, choose the most informative control, apply it, observe, retrain. It knows nothing
/// of where measurements come from: ask it for a control, tell it what was applied and what came back.
namespace gpilot::study {

struct ExplorationOptions {
  std::string strategy = "auto";
  inference::FitOptions fit;
  acquisition::PlanningOptions planning{};  ///< of strategies that plan
  std::vector<ssm::Range> region{};         ///< where the model will be used, user units; empty: where its runs lead
  Index retrain_every = 1;                  ///< steps between two trainings; in between the filter carries the state on
  bool landscape = false;                   ///< keep the criterion's values over the box (one control only)
  std::uint64_t seed = 0;
  std::uint32_t trial = 0;                            ///< a stream of random numbers of its own
  std::optional<acquisition::OutputLimits> limits{};  ///< where outputs must stay, user units
  /// The exploration is done when Choice::reference_sd falls below this, scaled units; NaN = never.
  double until_sd = std::numeric_limits<double>::quiet_NaN();

  /// Throws InputError naming the field.
  void validate() const;
};

/// What happened in one step of the loop.
struct ExplorationStep {
  Index step = 0;          ///< from 1; step 0 is the training on the initial rows
  Vector asked;            ///< [P] user units; empty for step 0
  Vector applied;          ///< [P] what the rig says it did
  Vector outputs;          ///< [E] NaN = missing
  double criterion = 0.0;  ///< its value at the control asked for; NaN for strategies without one
  int evaluations = 0;     ///< of the criterion
  Matrix landscape;        ///< [points x P + 1] controls in user units, value; empty unless asked for
  double choose_seconds = 0.0;
  double train_seconds = 0.0;  ///< 0 if this step did not train
  bool trained = false;
  std::string status;  ///< of the newest training
  std::string chosen;  ///< the candidate it took, e.g. "gp" or "warm start"
  /// Probability, under the model that chose, that the outputs leave their limits; NaN if there are none.
  double violation = std::numeric_limits<double>::quiet_NaN();
  bool safe = true;  ///< false if no control was found that keeps the limits
  double reference_sd = std::numeric_limits<double>::quiet_NaN();  ///< of acquisition::Choice
};

/// "the model's standard deviation on the reference is 0.047, below 0.05: stopped after 22 steps".
std::string sure_enough_words(double reference_sd, double until_sd, Index steps);

class Exploration {
 public:
  /// `initial` holds at least two rows; the control of its last row, if any, is ignored. Trains at once.
  /// Throws InputError for an empty box, an unknown strategy (with the nearest name) or wrong shapes.
  Exploration(ssm::ModelSpec spec, Box box, ssm::Sequence initial, ExplorationOptions options);
  /// The same with a strategy of one's own instead of the one that the options name.
  Exploration(ssm::ModelSpec spec, Box box, ssm::Sequence initial, ExplorationOptions options,
              std::unique_ptr<acquisition::Strategy> strategy);
  ~Exploration();
  Exploration(Exploration&&) noexcept;
  Exploration& operator=(Exploration&&) = delete;
  Exploration(const Exploration&) = delete;
  Exploration& operator=(const Exploration&) = delete;

  /// The next control, inside the box, user units. Asking again gives the same until the next observe().
  const Vector& ask();
  /// Whether the model is as sure, where it will be used, as until_sd asks. Chooses the next control, as ask() does.
  bool sure_enough();
  /// The record of the control that ask() gave, until it is observed; throws std::logic_error if there is none.
  const ExplorationStep& choice() const;
  /// What was applied (it may differ from what was asked) and the outputs that followed (NaN = missing), user units.
  /// Trains if it is due and returns the step's record. What was measured is kept whatever happens: a training or a
  /// filter that fails is told by the status, and the model at hand goes on.
  const ExplorationStep& observe(VectorRef applied, VectorRef outputs);

  const ssm::Model& model() const;
  const ssm::Sequence& data() const;
  const std::vector<ExplorationStep>& steps() const;  ///< steps()[0] is the initial training

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpilot::study
