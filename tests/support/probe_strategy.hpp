#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gpilot/acquisition/strategy.hpp"

namespace gpilot::test {

/// What a ProbeStrategy was shown, and what it is to answer.
struct Probe {
  std::vector<std::optional<acquisition::OutputLimits>> limits{};  ///< of each situation
  acquisition::Choice answer{};                                    ///< but for its control
  double shrinking = 1.0;                                          ///< factor of the answer's reference_sd a choice
};

/// A strategy that takes the middle of the box and answers what it was told.
class ProbeStrategy : public acquisition::Strategy {
 public:
  explicit ProbeStrategy(std::shared_ptr<Probe> probe) : probe_(std::move(probe)) {}

  acquisition::Choice choose(const acquisition::Situation& situation) const override {
    probe_->limits.push_back(situation.limits != nullptr ? std::optional(*situation.limits) : std::nullopt);
    acquisition::Choice choice = probe_->answer;
    choice.control = 0.5 * (situation.box.low + situation.box.high);
    probe_->answer.reference_sd *= probe_->shrinking;
    return choice;
  }
  std::unique_ptr<acquisition::Criterion> criterion(const acquisition::Situation& /*situation*/) const override {
    return nullptr;
  }

 private:
  std::shared_ptr<Probe> probe_;
};

}  // namespace gpilot::test
