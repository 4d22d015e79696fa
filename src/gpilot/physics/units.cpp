#include "gpilot/physics/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "gpilot/core/suggest.hpp"

namespace gpilot::physics {

namespace {

struct NamedUnit {
  std::string_view name;
  Unit unit;
};

constexpr std::array<std::string_view, 6> kBase{"m", "kg", "s", "A", "K", "mol"};

// m, kg, s, A, K, mol
constexpr std::array kUnits{NamedUnit{"1", {}},
                            NamedUnit{"rad", {}},
                            NamedUnit{"m", {{1, 0, 0, 0, 0, 0}}},
                            NamedUnit{"kg", {{0, 1, 0, 0, 0, 0}}},
                            NamedUnit{"s", {{0, 0, 1, 0, 0, 0}}},
                            NamedUnit{"A", {{0, 0, 0, 1, 0, 0}}},
                            NamedUnit{"K", {{0, 0, 0, 0, 1, 0}}},
                            NamedUnit{"mol", {{0, 0, 0, 0, 0, 1}}},
                            NamedUnit{"Hz", {{0, 0, -1, 0, 0, 0}}},
                            NamedUnit{"N", {{1, 1, -2, 0, 0, 0}}},
                            NamedUnit{"Pa", {{-1, 1, -2, 0, 0, 0}}},
                            NamedUnit{"J", {{2, 1, -2, 0, 0, 0}}},
                            NamedUnit{"W", {{2, 1, -3, 0, 0, 0}}},
                            NamedUnit{"C", {{0, 0, 1, 1, 0, 0}}},
                            NamedUnit{"V", {{2, 1, -3, -1, 0, 0}}},
                            NamedUnit{"Ohm", {{2, 1, -3, -2, 0, 0}}},
                            NamedUnit{"F", {{-2, -1, 4, 2, 0, 0}}},
                            NamedUnit{"H", {{2, 1, -2, -2, 0, 0}}},
                            NamedUnit{"T", {{0, 1, -2, -1, 0, 0}}},
                            NamedUnit{"Wb", {{2, 1, -2, -1, 0, 0}}}};

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const NamedUnit& unit : kUnits) {
    names.emplace_back(unit.name);
  }
  return names;
}

/// Reads a signed number after '^'.
double read_power(std::string_view text, std::size_t& at) {
  double power = 0.0;
  const char* const begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), power);
  if (error != std::errc() || !std::isfinite(power) || std::abs(power) > 20.0) {
    throw FormulaError("unit: expected a power from -20 to 20", text, at);
  }
  at += static_cast<std::size_t>(end - begin);
  return power;
}

using Known = std::optional<Unit>;

class Checker {
 public:
  Checker(const Expression& formula, const std::vector<Known>& names) : text_(formula.text()), names_(names) {}

  Known of(const Node& n) const {
    switch (n.op) {
      case Op::kNumber:
        return {};  // 0 and 2 are of any unit: the user knows what it stands for
      case Op::kName:
        return names_[n.index];
      case Op::kAdd:
      case Op::kSubtract:
        return same(n, n.op == Op::kAdd ? "added" : "subtracted");
      case Op::kMultiply:
      case Op::kDivide:
        return multiplied(n, n.op == Op::kMultiply ? 1.0 : -1.0);
      case Op::kPower:
        return powered(n);
      case Op::kNegate:
        return of(*n.a);
      case Op::kFunction1:
        return function(n);
      case Op::kFunction2:
        return function_name(n) == "atan2" ? (same(n, "compared"), Known(Unit{})) : same(n, "compared");
    }
    return {};
  }

 private:
  /// A number beside a unit is one without: "2 * x" has the unit of x.
  Known multiplied(const Node& n, double power) const {
    const Known a = of(*n.a);
    const Known b = of(*n.b);
    const auto plain = [](const Node& node, const Known& unit) {
      return node.op == Op::kNumber ? Known(Unit{}) : unit;
    };
    const Known left = plain(*n.a, a);
    const Known right = plain(*n.b, b);
    return left && right ? Known(product(*left, *right, power)) : Known();
  }

  Known same(const Node& n, std::string_view what) const {
    const Known a = of(*n.a);
    const Known b = of(*n.b);
    if (a && b && !(*a == *b)) {
      throw FormulaError(fmt::format("'{}' and '{}' are {}", format_unit(*a), format_unit(*b), what), text_,
                         n.position);
    }
    return a ? a : b;
  }

  Known powered(const Node& n) const {
    const Known base = of(*n.a);
    require_plain(*n.b, "an exponent");
    if (n.b->op == Op::kNumber && base) {
      return product({}, *base, n.b->number);
    }
    return base && base->plain() ? base : Known();
  }

  Known function(const Node& n) const {
    const std::string_view name = function_name(n);
    if (name == "abs") {
      return of(*n.a);
    }
    if (name == "sqrt") {
      const Known a = of(*n.a);
      return a ? Known(product({}, *a, 0.5)) : Known();
    }
    if (name != "sign") {
      require_plain(*n.a, fmt::format("the argument of {}", name));
    }
    return Unit{};
  }

  void require_plain(const Node& n, std::string_view what) const {
    if (const Known unit = of(n); unit && !unit->plain()) {
      throw FormulaError(fmt::format("{} is a plain number or an angle, not '{}'", what, format_unit(*unit)), text_,
                         n.position);
    }
  }

  std::string_view text_;
  const std::vector<Known>& names_;
};

}  // namespace

Unit product(const Unit& a, const Unit& b, double power) {
  Unit result = a;
  for (std::size_t i = 0; i < result.powers.size(); ++i) {
    result.powers[i] += power * b.powers[i];
  }
  return result;
}

Unit parse_unit(std::string_view text) {
  Unit unit;
  double sign = 1.0;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ' || c == '*' || c == '.') {
      ++at;
      continue;
    }
    if (c == '/') {
      sign = -1.0;
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
    }
    const std::string_view word = text.substr(begin, at - begin);
    const auto found = std::ranges::find(kUnits, word, &NamedUnit::name);
    if (found == kUnits.end()) {
      throw FormulaError("unit: " + unknown_name_message("unit", std::string(word), unit_names()), text, begin);
    }
    double power = 1.0;
    if (at < text.size() && text[at] == '^') {
      power = read_power(text, ++at);
    }
    unit = product(unit, found->unit, sign * power);
    sign = 1.0;
    any = true;
  }
  if (!any) {
    throw FormulaError("unit: expected one such as \"N m s\", or \"1\"", text, 0);
  }
  return unit;
}

std::optional<Unit> known_unit(std::string_view text) {
  try {
    return parse_unit(text);
  } catch (const FormulaError&) {
    return {};
  }
}

std::string format_unit(const Unit& unit) {
  std::string text;
  for (std::size_t i = 0; i < kBase.size(); ++i) {
    if (unit.powers[i] != 0.0) {
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", kBase[i],
                          unit.powers[i] == 1.0 ? "" : fmt::format("^{:g}", unit.powers[i]));
    }
  }
  return text.empty() ? "1" : text;
}

std::optional<Unit> unit_of(const Expression& formula, const std::vector<std::optional<Unit>>& names) {
  return Checker(formula, names).of(formula.root());
}

}  // namespace gpilot::physics
