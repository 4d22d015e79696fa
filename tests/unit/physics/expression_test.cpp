#include "gpilot/physics/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "gpilot/physics/units.hpp"

namespace gpilot::physics {
namespace {

const std::vector<std::string> kNames{"x", "y", "m"};

double value(const std::string& text, double x = 0.5, double y = -1.2, double m = 2.0) {
  return Expression(text, kNames).evaluate({Dual::number(x), Dual::number(y), Dual::number(m)}).v(0);
}

TEST(Expression, HasTheValueThatIsWritten) {
  EXPECT_DOUBLE_EQ(value("1 + 2*3"), 7.0);
  EXPECT_DOUBLE_EQ(value("(1 + 2)*3"), 9.0);
  EXPECT_DOUBLE_EQ(value("-x^2"), -0.25);
  EXPECT_DOUBLE_EQ(value("2^3^2"), 512.0);
  EXPECT_DOUBLE_EQ(value("2^-1"), 0.5);
  EXPECT_DOUBLE_EQ(value("8/4/2 - 3 - 1"), -3.0);
  EXPECT_DOUBLE_EQ(value("--x + +x"), 1.0);
  EXPECT_DOUBLE_EQ(value("1.5e1*x"), 7.5);
  EXPECT_DOUBLE_EQ(value("sin(pi/2) + cos(0) + tanh(0)"), 2.0);
  EXPECT_DOUBLE_EQ(value("min(x, y) + max(x, y)"), -0.7);
  EXPECT_DOUBLE_EQ(value("atan2(1, -1)"), 0.75 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(value("abs(y)*sign(y) + sqrt(m^2) + log(exp(1))"), 1.8);
}

TEST(Expression, DerivativesMatchDifferences) {
  const std::vector<std::string> formulas{"(x - m*y - sin(x)*y^2) / (m*x^2 + 1)",
                                          "x^y",
                                          "m^x*exp(-y^2)",
                                          "atan2(x, y) + min(x, y*m) - max(x, m)",
                                          "tanh(x/m) + sqrt(m + x^2) + log(m)*abs(y)",
                                          "asin(x/3) + acos(y/3) + atan(m) + tan(x) + sinh(y) + cosh(x)"};
  RandomStream random(1, Purpose::kTest);
  constexpr Index N = 6;
  for (const std::string& text : formulas) {
    const Expression formula(text, kNames);
    std::vector<Vector> at{Vector(0.6 + 0.2 * random.normal_vector(N).array()), random.normal_vector(N),
                           Vector(1.5 + 0.1 * random.normal_vector(N).array())};
    const auto duals = [&](bool slopes) {
      std::vector<Dual> values;
      for (std::size_t i = 0; i < at.size(); ++i) {
        Matrix d = Matrix::Zero(slopes ? N : 0, slopes ? 3 : 0);
        if (slopes) {
          d.col(static_cast<Index>(i)).setOnes();
        }
        values.push_back({at[i], d});
      }
      return values;
    };
    const Dual result = formula.evaluate(duals(true));
    for (std::size_t i = 0; i < at.size(); ++i) {
      constexpr double kStep = 1e-6;
      const Vector here = at[i];
      at[i] = here.array() + kStep;
      const Vector right = formula.evaluate(duals(false)).v;
      at[i] = here.array() - kStep;
      const Vector left = formula.evaluate(duals(false)).v;
      at[i] = here;
      const Vector difference = (right - left) / (2.0 * kStep);
      EXPECT_LT((result.d.col(static_cast<Index>(i)) - difference).cwiseAbs().maxCoeff(), 1e-7) << text << ", " << i;
    }
  }
}

/// The message, and the place of a formula that cannot be read.
void expect_error(const std::string& text, const std::string& message, std::size_t position) {
  try {
    const Expression formula(text, kNames);
    FAIL() << text;
  } catch (const FormulaError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_EQ(error.position(), position) << error.what();
  }
}

TEST(Expression, ErrorsPointAtThePlace) {
  expect_error("x + torqe", "unknown name 'torqe'", 4);
  expect_error("x + ", "expected a number, a name or '(', not the end", 4);
  expect_error("(x + y", "expected ')', not the end", 6);
  expect_error("x y", "expected an operator or the end, not 'y'", 2);
  expect_error("sine(x)", "unknown function 'sine'", 0);
  expect_error("min(x)", "expected ',', not ')'", 5);
  expect_error("x + 1e999", "expected a number that a double can hold", 4);
  expect_error("x $ y", "expected an operator or the end, not '$'", 2);
  expect_error("x + \x01", "the byte 0x1", 4);
  expect_error("", "not the end", 0);
  expect_error(std::string(300, '(') + "x" + std::string(300, ')'), "nested deeper", 200);
  expect_error(std::string(5000, 'x'), "at most 4000", 4000);
}

TEST(Expression, DivisionByZeroIsFoundWhereItStands) {
  const Expression formula("1 + x/(y - y)", kNames);
  try {
    formula.check_finite({1.0, 2.0, 3.0}, "where training starts");
    FAIL();
  } catch (const FormulaError& error) {
    EXPECT_EQ(error.position(), 5u);
    EXPECT_NE(std::string(error.what()).find("division by zero where training starts"), std::string::npos);
  }
  EXPECT_THROW(Expression("log(y)", kNames).check_finite({1.0, -2.0, 3.0}, ""), FormulaError);
}

TEST(Expression, KnowsTheNamesThatItUses) {
  EXPECT_EQ(Expression("m*sin(x) + m", kNames).used(), (std::vector<std::size_t>{0, 2}));
}

TEST(Units, AreProductsOfPowers) {
  EXPECT_EQ(parse_unit("N m s"), parse_unit("kg m^2/s"));
  EXPECT_EQ(parse_unit("m/s^2"), parse_unit("m s^-2"));
  EXPECT_EQ(parse_unit("rad/s"), parse_unit("1/s"));
  EXPECT_EQ(parse_unit("V A"), parse_unit("W"));
  EXPECT_TRUE(parse_unit("1").plain());
  EXPECT_EQ(format_unit(parse_unit("J")), "m^2 kg s^-2");
  EXPECT_THROW(parse_unit("furlong"), FormulaError);
  EXPECT_THROW(parse_unit("m^"), FormulaError);
  EXPECT_THROW(parse_unit(""), FormulaError);
  EXPECT_FALSE(known_unit("%"));
}

TEST(Units, OfFormulas) {
  const std::vector<std::optional<Unit>> units{parse_unit("rad"), parse_unit("N m"), parse_unit("kg m^2")};
  const auto of = [&](const char* text) { return unit_of(Expression(text, kNames), units); };
  EXPECT_EQ(of("y/m"), parse_unit("1/s^2"));
  EXPECT_EQ(of("2*y + y*sin(x)"), parse_unit("J"));
  EXPECT_EQ(of("sqrt(m)"), parse_unit("kg^0.5 m"));
  EXPECT_THROW(of("y + m"), FormulaError);
  EXPECT_THROW(of("sin(y)"), FormulaError);
  EXPECT_THROW(of("2^m"), FormulaError);
  EXPECT_FALSE(unit_of(Expression("y*x", kNames), {parse_unit("1"), std::nullopt, std::nullopt}));
}

}  // namespace
}  // namespace gpilot::physics
