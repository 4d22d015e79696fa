#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/physics/expression.hpp"

/// Dimensions of formulas. Units are coherent ones of the SI: a formula in them needs no factor.
namespace gpilot::physics {

/// Powers of m, kg, s, A, K, mol; radians have none.
struct Unit {
  std::array<double, 6> powers{};

  bool operator==(const Unit&) const = default;
  bool plain() const { return *this == Unit{}; }
};

/// "N m s", "kg m^2", "m/s^2", "1/s", "1": blanks, * and . multiply, / divides what follows it, ^ takes a power. Throws
/// FormulaError with the place in the text.
Unit parse_unit(std::string_view text);
/// The same for what stands beside a column, which may be anything: nothing where it is not such a unit.
std::optional<Unit> known_unit(std::string_view text);
/// "kg m^2 s^-1"; "1" without any.
std::string format_unit(const Unit& unit);

/// a times b to the given power.
Unit product(const Unit& a, const Unit& b, double power = 1.0);

/// The unit of a formula, given those of its names where they are known. Nothing where it cannot be told. Throws
/// FormulaError where terms of different units are added, or a function that needs a plain number has none.
std::optional<Unit> unit_of(const Expression& formula, const std::vector<std::optional<Unit>>& names);

}  // namespace gpilot::physics
