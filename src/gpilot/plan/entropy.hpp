#pragma once

#include <memory>

#include "gpilot/plan/criterion.hpp"

namespace gpilot::plan {

/// The greedy criterion of Buisson-Fenet et al. (2020): sum_d 1/2 log(1 + var f_d(m, c) / q_d) over the states that
/// have a Gaussian process, at the mean m of the current state.
class Entropy : public Criterion {
 public:
  explicit Entropy(const DecisionContext& context) : context_(context) {}
  double value(VectorRef control, Vector* gradient) const override;

 private:
  DecisionContext context_;
};

std::unique_ptr<Criterion> entropy(const DecisionContext& context);

}  // namespace gpilot::plan
