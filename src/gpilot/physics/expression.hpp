#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/physics/dual.hpp"

/// Formulas of names and numbers: + - * / ^, parentheses, a sign before a term, pi, and functions of one or two
/// arguments (function_names()). ^ binds closest and to the right, so that -x^2 is -(x^2).
namespace gpilot::physics {

/// What is wrong with a formula, and where: `position` counts bytes from 0.
class FormulaError : public InputError {
 public:
  FormulaError(const std::string& reason, std::string_view text, std::size_t position);
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

inline constexpr std::size_t kLongestFormula = 4000;  ///< bytes
inline constexpr int kDeepest = 200;                  ///< levels of nesting

enum class Op { kNumber, kName, kAdd, kSubtract, kMultiply, kDivide, kPower, kNegate, kFunction1, kFunction2 };

/// A node of the tree.
struct Node {
  Op op = Op::kNumber;
  double number = 0.0;
  std::size_t index = 0;     ///< of a name among those that were given, or of a function
  std::size_t position = 0;  ///< where it stands in the text; of an operation its sign
  std::unique_ptr<Node> a = nullptr, b = nullptr;
};

/// An operation or function; those of one argument do not look at b.
Dual operate(Op op, std::size_t function, const Dual& a, const Dual& b);

/// A formula that was read.
class Expression {
 public:
  /// Throws FormulaError. A name must be one of `names`.
  Expression(std::string text, const std::vector<std::string>& names);

  const std::string& text() const { return text_; }
  const Node& root() const { return *root_; }
  /// The names that occur, as indices, in order.
  std::vector<std::size_t> used() const;

  /// Its value where `values` are those of the names.
  Dual evaluate(const std::vector<Dual>& values) const;
  /// Throws FormulaError at the innermost operation whose value is not finite, if there is one.
  void check_finite(const std::vector<double>& values, std::string_view where) const;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

/// "sin", "cos", .. for help texts.
std::vector<std::string> function_names();
std::string_view function_name(const Node& node);

}  // namespace gpilot::physics
