#pragma once

#include <compare>
#include <map>
#include <vector>

#include "gpilot/physics/expression.hpp"

namespace gpilot::physics {

/// Formulas as one list of operations. What occurs twice, within a formula or in two of them, is done once: equations
/// of motion share most of their terms.
class Program {
 public:
  Program() = default;
  explicit Program(const std::vector<Expression>& formulas);

  /// The value of every formula where `values` are those of the names.
  std::vector<Dual> evaluate(const std::vector<Dual>& values) const;

 private:
  struct Step {
    Op op;
    double number;
    std::size_t index;
    std::size_t a, b;  ///< steps before it

    auto operator<=>(const Step&) const = default;
  };

  std::size_t add(const Node& node, std::map<Step, std::size_t>& known);

  std::vector<Step> steps_;
  std::vector<std::size_t> results_;  ///< the step of each formula
};

}  // namespace gpilot::physics
