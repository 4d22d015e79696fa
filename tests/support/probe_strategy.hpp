#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gpilot/plan/strategy.hpp"

namespace gpilot::test {

/// What a ProbeStrategy was shown, and what it is to answer.
struct Probe {
  std::vector<std::optional<plan::OutputLimits>> limits{};  ///< of each context
  plan::Choice answer{};                                    ///< but for its control
  double shrinking = 1.0;                                   ///< factor of the answer's reference_sd a choice
};

/// A strategy that takes the middle of the box and answers what it was told.
class ProbeStrategy : public plan::Strategy {
 public:
  explicit ProbeStrategy(std::shared_ptr<Probe> probe) : probe_(std::move(probe)) {}

  plan::Choice choose(const plan::DecisionContext& context) const override {
    probe_->limits.push_back(context.limits != nullptr ? std::optional(*context.limits) : std::nullopt);
    plan::Choice choice = probe_->answer;
    choice.control = 0.5 * (context.box.low + context.box.high);
    probe_->answer.reference_sd *= probe_->shrinking;
    return choice;
  }
  std::unique_ptr<plan::Criterion> criterion(const plan::DecisionContext& /*context*/) const override {
    return nullptr;
  }

 private:
  std::shared_ptr<Probe> probe_;
};

}  // namespace gpilot::test
