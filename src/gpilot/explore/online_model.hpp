#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpilot/acquisition/strategy.hpp"
#include "gpilot/box.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/transition.hpp"
#include "gpilot/types.hpp"

namespace gpilot::study {

/// What a decision is about. User units; refers to its parts without owning them.
struct Decision {
  const Box& box;                         ///< of the next control
  const ssm::Dataset* history = nullptr;  ///< all data up to now, the current sequence last, or null where the
                                          ///< current sequence has only its first row
  acquisition::PlanningOptions planning{};
  const Box* whole_box = nullptr;         ///< of the controls after the next; null: `box`
  const Vector* slew = nullptr;           ///< [P] largest change between controls, infinity = none; null: none
  const Matrix* previous_plan = nullptr;  ///< [.. x P] what is left of it, the next control first; null: none
  const std::vector<ssm::Range>* region = nullptr;  ///< where the model will be used; null or empty: not declared
  std::uint64_t seed = 0;
  std::uint32_t trial = 0;
  std::uint32_t step = 0;
};

/// Where a decision is made from: a trained model and what it believes about the current state. User units in and out.
class Standpoint {
 public:
  /// Stands at the end of the model's last training sequence. `seed` is that of nodes that are drawn.
  Standpoint(ssm::Model model, std::uint64_t seed);

  /// Steps to the first row of a new sequence, and sees its outputs [E] (NaN = missing).
  void begin(bool broad_start, VectorRef outputs);
  /// Follows one row: a control was applied, outputs came back (NaN = missing). Where that leads to no sensible state
  /// it throws NumericalError and stays.
  void follow(VectorRef control, VectorRef outputs);

  /// Where outputs must stay from now on, user units.
  void limit(const acquisition::OutputLimits& limits);

  /// What a criterion may look at; refers to this object and to `box` and `history`, which are in scaled units.
  acquisition::Situation situation(const Box& box, const ssm::Series* history, std::uint64_t seed,
                                   std::uint32_t trial = 0, std::uint32_t step = 0) const;
  /// The strategy's choice inside the box.
  acquisition::Choice choose(const acquisition::Strategy& strategy, const Decision& decision) const;

  const ssm::Model& model() const { return model_; }
  Box scaled(const Box& box) const;
  ssm::Series scaled(const ssm::Dataset& data) const;
  Vector scaled_control(VectorRef control) const;
  Vector user_control(VectorRef scaled) const;

 private:
  ssm::Model model_;
  ssm::Transition transition_;
  gp::Nodes nodes_;
  ssm::StateBelief belief_;
  std::optional<acquisition::OutputLimits> limits_;  ///< scaled
};

}  // namespace gpilot::study
