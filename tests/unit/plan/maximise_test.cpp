#include "gpilot/plan/maximise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/plan/strategy.hpp"
#include "support/message_of.hpp"
#include "support/random_context.hpp"

namespace gpilot::plan {
namespace {

/// A criterion out of a function.
class Formula : public Criterion {
 public:
  using Function = std::function<double(VectorRef, Vector*)>;
  explicit Formula(Function function, bool gradient = true) : function_(std::move(function)), gradient_(gradient) {}
  bool has_gradient() const override { return gradient_; }
  double value(VectorRef control, Vector* gradient) const override { return function_(control, gradient); }

 private:
  Function function_;
  bool gradient_;
};

Box unit_box(Index controls) {
  return {Vector::Constant(controls, -1.0), Vector::Constant(controls, 1.0)};
}

double parabola(VectorRef c, Vector* gradient) {
  const Vector from = c - Vector::LinSpaced(c.size(), 0.123, 0.456);
  if (gradient != nullptr) {
    *gradient = -2.0 * from;
  }
  return -from.squaredNorm();
}

TEST(Maximise, FindsAMaximumInside) {
  for (const Index controls : {1, 2, 5}) {
    for (const bool gradient : {true, false}) {
      const Choice choice = maximise(Formula(parabola, gradient), unit_box(controls));
      EXPECT_LT((choice.control - Vector::LinSpaced(controls, 0.123, 0.456)).norm(), 1e-3)
          << controls << " controls, gradient " << gradient;
      EXPECT_GT(choice.evaluations, 10);
    }
  }
}

TEST(Maximise, FindsTheHighestOfManyPeaks) {
  const Formula waves([](VectorRef c, Vector* gradient) {
    if (gradient != nullptr) {
      *gradient = Vector::Constant(1, 25.0 * std::cos(25.0 * c(0)) + 0.5);
    }
    return std::sin(25.0 * c(0)) + 0.5 * c(0);
  });
  const Choice choice = maximise(waves, unit_box(1));
  double best = -10.0;
  for (const double c : Vector::LinSpaced(100001, -1.0, 1.0)) {
    best = std::max(best, std::sin(25.0 * c) + 0.5 * c);
  }
  EXPECT_NEAR(choice.criterion, best, 1e-6);
}

TEST(Maximise, KeepsTheGridOfOneControl) {
  const Choice choice = maximise(Formula(parabola), unit_box(1), {.grid = 11});
  ASSERT_EQ(choice.landscape.rows(), 11);
  EXPECT_DOUBLE_EQ(choice.landscape(0, 0), -1.0);
  EXPECT_DOUBLE_EQ(choice.landscape(10, 0), 1.0);
  EXPECT_DOUBLE_EQ(choice.landscape(3, 1), parabola(choice.landscape.row(3).head(1).transpose(), nullptr));
  EXPECT_EQ(maximise(Formula(parabola), unit_box(2)).landscape.size(), 0);
}

TEST(Maximise, BreaksTiesTowardsTheLowestControl) {
  const Formula ends([](VectorRef c, Vector* gradient) {
    if (gradient != nullptr) {
      *gradient = 2.0 * c;
    }
    return c.squaredNorm();
  });
  for (const Index controls : {1, 2, 3}) {
    EXPECT_EQ(maximise(ends, unit_box(controls)).control, unit_box(controls).low) << controls;
  }
  const Formula flat([](VectorRef c, Vector* gradient) {
    if (gradient != nullptr) {
      gradient->setZero(c.size());
    }
    return 3.0;
  });
  EXPECT_EQ(maximise(flat, unit_box(1)).control(0), -1.0);
}

TEST(Maximise, SurvivesValuesThatAreNotFinite) {
  const Formula half([](VectorRef c, Vector* gradient) {
    if (gradient != nullptr) {
      *gradient = Vector::Constant(1, -1.0);
    }
    return c(0) < 0.3 ? std::numeric_limits<double>::quiet_NaN() : -c(0);
  });
  const Choice choice = maximise(half, unit_box(1));
  EXPECT_TRUE(std::isfinite(choice.criterion));
  EXPECT_GE(choice.control(0), 0.3);
  const Formula throws([](VectorRef c, Vector* gradient) {
    if (std::abs(c(0)) > 0.5) {
      throw NumericalError("no covariance there");
    }
    return parabola(c, gradient);
  });
  EXPECT_NEAR(maximise(throws, unit_box(1)).control(0), 0.456, 1e-3);
  const Formula no_slope([](VectorRef c, Vector* gradient) {
    const double value = parabola(c, gradient);
    if (gradient != nullptr) {
      gradient->setConstant(std::numeric_limits<double>::quiet_NaN());
    }
    return value;
  });
  EXPECT_NEAR(maximise(no_slope, unit_box(1)).control(0), 0.456, 0.03);  // what the grid finds
  const Formula nowhere([](VectorRef, Vector*) { return std::numeric_limits<double>::quiet_NaN(); }, false);
  EXPECT_NE(test::message_of<NumericalError>([&] { maximise(nowhere, unit_box(1)); }).find("not finite"),
            std::string::npos);
}

TEST(Strategies, NeverLeaveTheBox) {
  // 10,000 problems: models, beliefs and boxes at random, one strategy each in turn.
  RandomStream random(12, Purpose::kTest);
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    test::RandomContext problem({.states = 1 + static_cast<Index>(seed % 3),
                                 .controls = 1 + static_cast<Index>(seed % 2),
                                 .inducing = static_cast<Index>(seed % 4),
                                 .seed = seed});
    for (Index p = 0; p < problem.box.low.size(); ++p) {
      problem.box.low(p) = random.uniform(-3.0, 3.0);
      problem.box.high(p) = problem.box.low(p) + std::exp(random.uniform(-12.0, 1.5));
    }
    const StrategyInfo& info = strategies()[seed % strategies().size()];
    DecisionContext context = problem.context();
    context.planning.evaluations = 8;  // a part of a generation: what keeps a plan in the box does not look at values
    const Vector c = make_strategy(info.name)->choose(context).control;
    ASSERT_EQ(c.size(), problem.box.low.size());
    ASSERT_TRUE((c.array() >= problem.box.low.array()).all() && (c.array() <= problem.box.high.array()).all())
        << info.name << " in problem " << seed;
  }
}

TEST(Strategies, AreDeterministic) {
  const test::RandomContext problem({.controls = 2});
  for (const StrategyInfo& info : strategies()) {
    const auto strategy = make_strategy(info.name);
    EXPECT_EQ(strategy->choose(problem.context()).control, strategy->choose(problem.context()).control) << info.name;
  }
}

TEST(Strategies, RandomOnesDependOnTheStep) {
  const test::RandomContext problem({});
  plan::DecisionContext next = problem.context();
  next.step = 1;
  const auto random = make_strategy("random");
  EXPECT_NE(random->choose(problem.context()).control, random->choose(next).control);
  EXPECT_TRUE(std::isnan(random->choose(next).criterion));
  EXPECT_EQ(random->criterion(next), nullptr);
}

TEST(Strategies, ExtremesAreCorners) {
  const test::RandomContext problem({.controls = 2});
  plan::DecisionContext context = problem.context();
  const auto strategy = make_strategy("randext");
  bool low = false;
  bool high = false;
  for (context.step = 0; context.step < 20; ++context.step) {
    const Vector c = strategy->choose(context).control;
    for (Index p = 0; p < 2; ++p) {
      EXPECT_TRUE(c(p) == problem.box.low(p) || c(p) == problem.box.high(p));
      low = low || c(p) == problem.box.low(p);
      high = high || c(p) == problem.box.high(p);
    }
  }
  EXPECT_TRUE(low && high);
}

TEST(Strategies, UnknownNamesGetASuggestion) {
  const std::string message = test::message_of<InputError>([] { make_strategy("totmii"); });
  EXPECT_NE(message.find("'totmi'"), std::string::npos) << message;
}

}  // namespace
}  // namespace gpilot::plan
