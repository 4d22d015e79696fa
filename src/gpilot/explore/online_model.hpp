#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/explore/options.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/plan/choice.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::explore {

/// What one decision is about. User units; refers to its parts without owning them.
struct Decision {
  const Box& box;                         ///< of the next control
  const ssm::Dataset* history = nullptr;  ///< all data up to now, the current sequence last, or null where the
                                          ///< current sequence has only its first row
  const Matrix* previous_plan = nullptr;  ///< [.. x P] what is left of it, the next control first; null: none
  Index step = 0;                         ///< names the random streams
  const std::atomic<bool>* stop = nullptr;
};

/// A trained model in use: what it believes about the current state, and what follows from it and the options alone,
/// computed once. User units in and out.
class OnlineModel {
 public:
  /// Stands at the end of the model's last training sequence. `box` is that of all controls.
  OnlineModel(std::shared_ptr<const ssm::Model> model, const Box& box, const ExploreOptions& options);

  /// Steps to the first row of a new sequence, and sees its outputs [E] (NaN = missing).
  void begin(bool broad_start, VectorRef outputs);
  /// Follows one row: a control was applied, outputs came back (NaN = missing). Where that leads to no sensible state
  /// it throws NumericalError and stays.
  void follow(VectorRef control, VectorRef outputs);

  /// The strategy's choice inside the decision's box.
  plan::Choice choose(const plan::Strategy& strategy, const Decision& decision);

  /// What a criterion may look at; refers to this object and to `box` and `history`, which are in scaled units.
  plan::DecisionContext context(const Box& box, const ssm::Series* history, Index step = 0);

  const ssm::Model& model() const { return *model_; }
  const std::shared_ptr<const ssm::Model>& shared_model() const { return model_; }
  Box scaled(const Box& box) const;
  /// All rows in scaled units. Rows that were scaled before are not scaled again, so the data may only grow.
  const ssm::Series& scaled(const ssm::Dataset& data);
  Vector scaled_control(VectorRef control) const;
  Vector user_control(VectorRef scaled) const;

 private:
  std::shared_ptr<const ssm::Model> model_;
  ssm::Transition transition_;
  gp::Nodes nodes_;
  ssm::StateBelief belief_;
  plan::PlanningOptions planning_;
  std::uint64_t seed_;
  std::uint32_t trial_;
  Box box_;                                   ///< of all controls, user units
  Box scaled_box_;                            ///< the same, scaled
  std::optional<Box> region_;                 ///< of (x, c), scaled
  std::optional<Vector> slew_;                ///< [P] scaled
  std::optional<plan::OutputLimits> limits_;  ///< scaled
  Box range_;                                 ///< [E] where outputs are meant to be, scaled
  plan::ModelMemo memo_;
  ssm::Dataset scaled_rows_;  ///< before angles are unwrapped
  ssm::Series series_;
};

}  // namespace gpilot::explore
