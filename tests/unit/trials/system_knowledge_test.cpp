#include "gpilot/trials/system_knowledge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/physics/expression.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"

namespace gpilot::trials {
namespace {

constexpr std::uint64_t kSeed = 3;

Vector uniform_in(const Box& box, RandomStream& random) {
  Vector x(box.low.size());
  for (Index i = 0; i < x.size(); ++i) {
    x(i) = random.uniform(box.low(i), box.high(i));
  }
  return x;
}

/// Rates by the formulas at the true parameters against those of the simulator, everywhere in the region.
void expect_rates(const systems::System& told, const std::string& kind, const systems::System& simulator) {
  SCOPED_TRACE(told.spec().name + ", " + kind);
  ssm::ModelSpec spec = model_spec(told, true, true);
  declare_knowledge(told, {kind}, kSeed, 0, spec);
  ASSERT_FALSE(spec.physics.formulas.empty());
  const std::vector<std::string> names = ssm::formula_names(spec);
  const auto truth = true_parameters(told);
  RandomStream random(kSeed, Purpose::kTest);
  for (int n = 0; n < 50; ++n) {
    const Vector x = uniform_in(told.spec().region, random);
    const Vector c = uniform_in(told.spec().control_box, random);
    std::vector<physics::Dual> values;
    for (const double value : x) {
      values.push_back(physics::Dual::number(value));
    }
    for (const double value : c) {
      values.push_back(physics::Dual::number(value));
    }
    for (const ssm::PhysicsParameter& p : spec.physics.parameters) {
      double value = p.start;
      for (const auto& [name, true_value] : truth) {
        value = name == p.name ? true_value : value;
      }
      values.push_back(physics::Dual::number(value));
    }
    const Vector rate = simulator.derivative(x, c);
    for (const ssm::Formula& formula : spec.physics.formulas) {
      const auto d = std::ranges::find(spec.states, formula.state) - spec.states.begin();
      const double found = physics::Expression(formula.text, names).evaluate(values).v(0);
      EXPECT_NEAR(found, rate(d), 1e-9 * (1.0 + std::abs(rate(d)))) << formula.state;
    }
  }
}

TEST(SystemKnowledge, FormulasAreTheSimulators) {
  for (const char* name : {"pendulum", "cart-pole", "tras"}) {
    const auto system = systems::make_system(name);
    expect_rates(*system, "physics", *system);
    expect_rates(*system, "physics-known", *system);
  }
}

TEST(SystemKnowledge, WithoutFrictionTheyAreThoseOfASystemThatHasNone) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> frictions{
      {"pendulum", {"b"}}, {"cart-pole", {"mu_c", "mu_p"}}, {"tras", {"k_fv", "k_fh", "a_1", "a_2"}}};
  for (const auto& [name, parameters] : frictions) {
    const auto system = systems::make_system(name);
    const auto without = systems::make_system(name);
    for (const char* parameter : parameters) {
      without->set_parameter(parameter, 0.0);
    }
    expect_rates(*system, "physics-without-friction", *without);
  }
}

TEST(SystemKnowledge, ParametersStartWithinAFactorOfThree) {
  const auto system = systems::make_system("cart-pole");
  double least = 1.0;
  double most = 1.0;
  for (std::uint32_t trial = 0; trial < 40; ++trial) {
    ssm::ModelSpec spec = model_spec(*system, true, true);
    declare_knowledge(*system, {"cyclic", "physics"}, kSeed, trial, spec);
    spec.validate();
    for (const auto& [name, value] : true_parameters(*system)) {
      const auto p = std::ranges::find(spec.physics.parameters, name, &ssm::PhysicsParameter::name);
      ASSERT_NE(p, spec.physics.parameters.end());
      least = std::min(least, p->start / value);
      most = std::max(most, p->start / value);
    }
  }
  EXPECT_GE(least, 1.0 / 3.0);
  EXPECT_LE(most, 3.0);
  EXPECT_LT(least, 0.4);
  EXPECT_GT(most, 2.5);
}

TEST(SystemKnowledge, KnownParametersAreTheTrueOnes) {
  const auto system = systems::make_system("tras");
  ssm::ModelSpec spec = model_spec(*system, true, true);
  declare_knowledge(*system, {"physics-known"}, kSeed, 0, spec);
  spec.validate();
  ASSERT_EQ(spec.physics.parameters.size(), true_parameters(*system).size());
  for (const auto& [name, value] : true_parameters(*system)) {
    const auto p = std::ranges::find(spec.physics.parameters, name, &ssm::PhysicsParameter::name);
    ASSERT_NE(p, spec.physics.parameters.end());
    EXPECT_TRUE(p->known);
    EXPECT_EQ(p->start, value);
  }
}

TEST(SystemKnowledge, KindsThatExcludeEachOtherAreRefused) {
  const auto system = systems::make_system("pendulum");
  ssm::ModelSpec spec = model_spec(*system, true, true);
  EXPECT_THROW(declare_knowledge(*system, {"physics", "control-affine"}, kSeed, 0, spec), InputError);
  EXPECT_THROW(declare_knowledge(*system, {"physics", "physics-without-friction"}, kSeed, 0, spec), InputError);
  EXPECT_THROW(declare_knowledge(*system, {"symmetry"}, kSeed, 0, spec), InputError);
}

}  // namespace
}  // namespace gpilot::trials
