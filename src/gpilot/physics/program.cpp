#include "gpilot/physics/program.hpp"

#include <utility>

namespace gpilot::physics {

Program::Program(const std::vector<Expression>& formulas) {
  std::map<Step, std::size_t> known;
  for (const Expression& formula : formulas) {
    results_.push_back(add(formula.root(), known));
  }
}

std::size_t Program::add(const Node& node, std::map<Step, std::size_t>& known) {
  Step step{node.op, node.number, node.index, 0, 0};
  if (node.a) {
    step.a = add(*node.a, known);
  }
  if (node.b) {
    step.b = add(*node.b, known);
  }
  const auto [found, is_new] = known.emplace(step, steps_.size());
  if (is_new) {
    steps_.push_back(step);
  }
  return found->second;
}

std::vector<Dual> Program::evaluate(const std::vector<Dual>& values) const {
  std::vector<Dual> own(steps_.size());
  std::vector<const Dual*> at(steps_.size());
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const Step& s = steps_[k];
    at[k] = s.op == Op::kName ? &values[s.index] : &own[k];
    if (s.op == Op::kNumber) {
      own[k] = Dual::number(s.number);
    } else if (s.op != Op::kName) {
      own[k] = operate(s.op, s.index, *at[s.a], *at[s.b]);
    }
  }
  std::vector<Dual> results;
  results.reserve(results_.size());
  for (const std::size_t k : results_) {
    results.push_back(*at[k]);
  }
  return results;
}

}  // namespace gpilot::physics
