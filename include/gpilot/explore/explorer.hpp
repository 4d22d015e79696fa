#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "gpilot/core/types.hpp"
#include "gpilot/explore/options.hpp"
#include "gpilot/explore/training.hpp"
#include "gpilot/plan/choice.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot::plan {
class Strategy;
}

/// Algorithm 1 of the paper: train, choose the most informative control, apply it, measure, train again. It knows
/// nothing of where measurements come from and keeps nothing on the disk: simulations, rigs and studies are built
/// around it.
///
///   Explorer explorer(spec, box, {.strategy = "auto"});
///   for (int k = 0; k < 35; ++k) {
///     const Choice& choice = explorer.ask();          // trains if that is due
///     explorer.tell(measure(choice.control));
///   }
///   use(*explorer.model());
///
/// What it does next follows from what it was told: another Explorer that is told the same, and adopts the same models,
/// makes the same choices, bit for bit. User units. Not for use by several threads at once.
namespace gpilot::explore {

class Explorer {
 public:
  /// Throws InputError for an empty box, an unknown strategy (with the nearest name) or wrong shapes.
  Explorer(ssm::ModelSpec spec, Box box, const ExploreOptions& options);
  /// The same with a strategy of one's own instead of the one that the options name.
  Explorer(ssm::ModelSpec spec, Box box, ExploreOptions options, std::unique_ptr<plan::Strategy> strategy);
  ~Explorer();
  Explorer(Explorer&&) noexcept;
  Explorer& operator=(Explorer&&) noexcept;
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// A sequence begins: the system was brought to the declared p(x_0) or, with a broad start, may be anywhere.
  /// `outputs` [E] were measured before the first control; NaN or empty = missing. Without a call, the first sequence
  /// begins with p(x_0) and any other anywhere.
  void begin_sequence(bool broad_start = false, const Vector& outputs = {});
  /// The system is left to itself: what is told next begins another sequence.
  void end_sequence();

  /// Trains if that is due and decides about the next control. Asked again before tell(), it is the same.
  const plan::Choice& ask();
  /// The same without training: the newest model decides. `step` is the choice's number.
  const plan::Choice& choose(Index step);
  /// What came back: outputs [E] (NaN = missing) under the control that was asked for, or another one [P].
  void tell(VectorRef outputs);
  void tell(VectorRef applied, VectorRef outputs);
  /// The same for a choice that was made elsewhere, or before: an exploration is rebuilt from these.
  void tell(plan::Choice choice, VectorRef applied, VectorRef outputs);

  /// Whether a choice says that nothing more needs to be measured (ExploreOptions::until_sd).
  bool sure_enough(const plan::Choice& choice) const;

  /// What the next training would learn from, if one is due.
  std::optional<TrainingJob> due_training() const;
  /// Takes the result of train(due_training()): a model decides from now on. A failed training is not repeated before
  /// there is more to learn from.
  void adopt(const TrainingResult& result);
  /// A training is due, whatever was told: the newest model is lost.
  void lose_model();
  /// Trains if it is due. Returns how that went.
  std::optional<TrainingSummary> update();

  /// When `*stop` becomes true, ask(), choose() and update() end with Cancelled, as if they had not been called. Null:
  /// never. It must outlive the calls.
  void set_stop(const std::atomic<bool>* stop);

  /// The newest model, or null.
  const std::shared_ptr<const ssm::Model>& model() const;
  /// All sequences with at least one row that was told; the last row of each has no control.
  const ssm::Dataset& data() const;
  Index measurements() const;  ///< rows that were told
  const ssm::ModelSpec& spec() const;
  const Box& box() const;
  const ExploreOptions& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpilot::explore
