#include <string>
#include <vector>

#include "fuzz.hpp"
#include "gpilot/physics/program.hpp"
#include "gpilot/physics/units.hpp"

namespace {

/// As text: NaN is equal to itself in it.
std::string bits_of(const gpilot::Matrix& values) {
  return {reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.size()) * sizeof(double)};
}

}  // namespace

/// A formula, and the same text as a unit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpilot;
  using fuzz::require;
  const std::vector<std::string> names{"x", "v", "u", "b"};
  const std::string text(fuzz::text_of(data, size));
  try {
    const physics::Expression formula(text, names);
    std::vector<physics::Dual> values;
    for (std::size_t i = 0; i < names.size(); ++i) {
      Matrix d = Matrix::Zero(3, 4);
      d.col(static_cast<Index>(i)).setOnes();
      values.push_back({Vector::LinSpaced(3, -1.0, 2.0), d});
    }
    const physics::Dual result = formula.evaluate(values);
    require(result.v.size() == 3 || result.v.size() == 1, "a value a point");
    require(result.constant() || (result.d.rows() == 3 && result.d.cols() == 4), "a derivative a variable");
    const physics::Dual again = physics::Program({formula, formula}).evaluate(values).back();
    require(bits_of(again.v) == bits_of(result.v) && bits_of(again.d) == bits_of(result.d), "a program does the same");
    for (const std::size_t i : formula.used()) {
      require(i < names.size(), "names are those that were given");
    }
    const std::vector<std::optional<physics::Unit>> units{physics::Unit{}, physics::parse_unit("1/s"),
                                                          physics::parse_unit("N"), std::nullopt};
    physics::unit_of(formula, units);
    formula.check_finite({0.5, -1.0, 2.0, 1.0}, "here");
  } catch (const physics::FormulaError& error) {
    require(error.position() <= text.size(), "a place in the text");
    fuzz::require_readable(error.what());
  }
  physics::known_unit(text);
  return 0;
}
