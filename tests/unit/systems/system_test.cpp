#include "gpilot/systems/system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/message_of.hpp"

namespace gpilot::systems {
namespace {

using ::gpilot::test::message_of;

/// A system whose only output is the sum of its states.
class Sum : public System {
 public:
  Sum() : System(spec_of_sum(), Variant::kCorrected) {}
  Vector next(const VectorRef& x, const VectorRef& /*c*/) const override { return x; }
  bool is_map() const override { return true; }
  Vector derivative(const VectorRef& x, const VectorRef& /*c*/) const override { return x; }
  std::unique_ptr<System> clone() const override { return std::make_unique<Sum>(*this); }
  std::vector<Parameter> parameters() const override { return {}; }

 protected:
  bool assign_parameter(std::string_view /*name*/, double /*value*/) override { return false; }

 private:
  static SystemSpec spec_of_sum() {
    SystemSpec spec = make_system("pendulum")->spec();
    spec.name = "sum";
    spec.emission = Matrix::Ones(1, 2);
    return spec;
  }
};

TEST(ObserveStates, RefusesAnOutputThatIsNoState) {
  Sum sum;
  EXPECT_EQ(message_of<std::logic_error>([&] { sum.observe_states(); }), "sum: an output is not a state");
  EXPECT_EQ(sum.spec().emission, Matrix::Ones(1, 2));
}

class EverySystem : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySystem, HasASpecThatFitsTogether) {
  const auto system = make_system(GetParam());
  const SystemSpec& spec = system->spec();
  const auto D = static_cast<Index>(spec.states.size());
  const auto P = static_cast<Index>(spec.controls.size());
  const auto E = static_cast<Index>(spec.outputs.size());
  EXPECT_EQ(spec.name, GetParam());
  EXPECT_FALSE(spec.summary.empty());
  EXPECT_EQ(system->state_dim(), D);
  EXPECT_EQ(system->control_dim(), P);
  EXPECT_EQ(system->output_dim(), E);
  for (const Vector& v : {spec.x0_sd, spec.process_sd, spec.region.low, spec.region.high}) {
    EXPECT_EQ(v.size(), D);
  }
  EXPECT_EQ(spec.output_sd.size(), E);
  EXPECT_EQ(spec.emission.cols(), D);
  EXPECT_TRUE((spec.control_box.low.array() < spec.control_box.high.array()).all());
  EXPECT_TRUE((spec.region.low.array() < spec.region.high.array()).all());
  EXPECT_GT(spec.paper.epochs, 0);
}

TEST_P(EverySystem, ColumnNamesAreDistinct) {
  const auto system = make_system(GetParam());
  const SystemSpec& spec = system->spec();
  std::vector<std::string> names = {"t"};
  for (const auto* channels : {&spec.states, &spec.controls, &spec.outputs}) {
    for (const Channel& channel : *channels) {
      EXPECT_EQ(std::ranges::count(names, channel.name), 0) << channel.name;
      names.push_back(channel.name);
    }
  }
}

TEST_P(EverySystem, CanHaveAllItsStatesObserved) {
  const auto latent = make_system(GetParam());
  const auto system = latent->clone();
  system->observe_states();
  const SystemSpec& before = latent->spec();
  const SystemSpec& spec = system->spec();
  const Index D = system->state_dim();
  EXPECT_EQ(spec.emission, Matrix::Identity(D, D));
  ASSERT_EQ(system->output_dim(), D);
  const std::vector<Index> own = spec.own_outputs();
  ASSERT_EQ(own.size(), before.outputs.size());
  double share = 0.0;
  for (std::size_t k = 0; k < own.size(); ++k) {
    const auto e = static_cast<std::size_t>(own[k]);
    EXPECT_EQ(spec.outputs[e].name, before.outputs[k].name);
    EXPECT_EQ(spec.output_sd(own[k]), before.output_sd(static_cast<Index>(k)));
    EXPECT_EQ(before.emission(static_cast<Index>(k), own[k]), 1.0);
    share += spec.output_sd(own[k]) / (spec.region.high - spec.region.low)(own[k]) / static_cast<double>(own.size());
  }
  EXPECT_EQ(spec.added_outputs.size() + own.size(), static_cast<std::size_t>(D));
  for (const Index e : spec.added_outputs) {
    const Channel& output = spec.outputs[static_cast<std::size_t>(e)];
    EXPECT_EQ(output.name, "y_" + spec.states[static_cast<std::size_t>(e)].name);
    EXPECT_EQ(output.unit, spec.states[static_cast<std::size_t>(e)].unit);
    EXPECT_NEAR(spec.output_sd(e), share * (spec.region.high - spec.region.low)(e), 1e-12);
  }
  const Vector x = Vector::LinSpaced(D, 0.3, 0.9);
  EXPECT_EQ(system->next(x, before.control_box.high), latent->next(x, before.control_box.high));
  // Once is enough: those that were added stay the added ones.
  const std::vector<Index> added = spec.added_outputs;
  system->observe_states();
  EXPECT_EQ(system->spec().added_outputs, added);
}

TEST_P(EverySystem, DeclaredDerivativesAreDerivatives) {
  const auto system = make_system(GetParam());
  if (system->is_map()) {
    EXPECT_TRUE(system->spec().derivatives.empty());
    return;
  }
  const Vector x = Vector::LinSpaced(system->state_dim(), 0.3, 0.9);
  const Vector dxdt = system->derivative(x, system->spec().control_box.high);
  for (const DerivativeRelation& relation : system->spec().derivatives) {
    EXPECT_EQ(dxdt(relation.position), x(relation.velocity));
  }
}

TEST_P(EverySystem, ParametersAreSetByName) {
  const auto system = make_system(GetParam());
  for (const Parameter& parameter : system->parameters()) {
    system->set_parameter(parameter.name, parameter.value + 0.25);
  }
  const auto defaults = make_system(GetParam())->parameters();
  const auto changed = system->parameters();
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    EXPECT_EQ(changed[i].value, defaults[i].value + 0.25) << defaults[i].name;
    EXPECT_FALSE(changed[i].meaning.empty());
  }
}

TEST_P(EverySystem, ParametersMatterAndClonesAreApart) {
  const auto original = make_system(GetParam());
  const auto copy = original->clone();
  copy->set_parameter(original->parameters()[0].name, 3.0);
  const Vector x = Vector::LinSpaced(original->state_dim(), 0.3, 0.9);
  const Vector c = original->spec().control_box.low;
  EXPECT_NE(original->next(x, c), copy->next(x, c));
  EXPECT_EQ(original->next(x, c), make_system(GetParam())->next(x, c));
}

TEST_P(EverySystem, RefusesVectorsOfAnotherSize) {
  const auto system = make_system(GetParam());
  const Vector x = system->spec().x0_mean;
  const Vector c = system->spec().control_box.low;
  EXPECT_THROW(system->next(Vector::Zero(x.size() + 1), c), std::invalid_argument);
  EXPECT_THROW(system->next(x, Vector::Zero(c.size() + 1)), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Systems, EverySystem, ::testing::ValuesIn(system_names()), [](const auto& param_info) {
  return param_info.param == "cart-pole" ? std::string("cart_pole") : param_info.param;
});

TEST(Registry, SuggestsTheNearestName) {
  EXPECT_EQ(message_of<InputError>([] { make_system("pendulm"); }),
            "unknown system 'pendulm', did you mean 'pendulum'? (known: kink, pendulum, cart-pole, tras)");
}

TEST(Variants, HaveNames) {
  EXPECT_EQ(variant_from_name("paper"), Variant::kPaper);
  EXPECT_EQ(variant_from_name("corrected"), Variant::kCorrected);
  EXPECT_EQ(variant_name(Variant::kPaper), "paper");
  EXPECT_EQ(message_of<InputError>([] { variant_from_name("papre"); }),
            "unknown variant 'papre', did you mean 'paper'? (known: corrected, paper)");
}

TEST(Parameters, WrongOnesAreRefused) {
  const auto system = make_system("pendulum");
  EXPECT_EQ(message_of<InputError>([&] { system->set_parameter("mass", 1.0); }),
            "unknown pendulum parameter 'mass' (known: g, m, l, b)");
  EXPECT_EQ(message_of<InputError>([&] { system->set_parameter("m", 0.0); }),
            "parameter 'm' (mass) must be positive, not 0");
  EXPECT_EQ(message_of<InputError>([&] { system->set_parameter("b", -1.0); }),
            "parameter 'b' (friction) must not be negative, not -1");
  EXPECT_EQ(message_of<InputError>([&] { system->set_parameter("g", std::numeric_limits<double>::infinity()); }),
            "parameter 'g' of pendulum must be a finite number, not inf");
}

TEST(TimeStep, KeepsTheIntegratorsStep) {
  const auto system = make_system("pendulum");
  system->set_dt(0.3);
  EXPECT_EQ(system->spec().dt, 0.3);
  EXPECT_EQ(system->spec().substeps, 30);
  system->set_dt(0.005);
  EXPECT_EQ(system->spec().substeps, 1);
}

TEST(TimeStep, WrongOnesAreRefused) {
  const auto system = make_system("pendulum");
  EXPECT_EQ(message_of<InputError>([&] { system->set_dt(0.0); }), "dt must be a positive number of seconds, not 0");
  EXPECT_THROW(system->set_dt(std::numeric_limits<double>::quiet_NaN()), InputError);
  EXPECT_THROW(system->set_dt(1e9), InputError);
  EXPECT_EQ(message_of<InputError>([] { make_system("kink")->set_dt(0.5); }),
            "kink is a map from step to step: its dt cannot be changed");
}

TEST(ControlBox, WrongOnesAreRefused) {
  const auto system = make_system("tras");
  EXPECT_EQ(message_of<InputError>([&] {
              system->set_control_box({Vector::Zero(1), Vector::Ones(1)});
            }),
            "the control box of tras needs 2 interval(s), not 1");
  EXPECT_EQ(message_of<InputError>([&] {
              system->set_control_box({Vector{{0.0, 1.0}}, Vector{{1.0, 0.0}}});
            }),
            "[1, 0] is no interval for the control c_h: expected finite low <= high");
}

TEST(ControlBox, ChecksControls) {
  const auto system = make_system("tras");
  EXPECT_NO_THROW(check_in_control_box(*system, Matrix{{0.0, -0.35}, {0.5, 0.55}}));
  EXPECT_EQ(message_of<InputError>([&] {
              check_in_control_box(*system, Matrix{{0.1, 0.0}, {0.1, 0.6}});
            }),
            "control c_h = 0.6 at step 1 is outside the box of tras: c_v in [0, 0.5], c_h in [-0.35, 0.55]");
  EXPECT_EQ(message_of<InputError>([&] { check_in_control_box(*system, Matrix{{0.1}}); }),
            "tras has 2 control(s), not 1: c_v in [0, 0.5], c_h in [-0.35, 0.55]");
  EXPECT_THROW(check_in_control_box(*system, Matrix::Constant(1, 2, std::numeric_limits<double>::quiet_NaN())),
               InputError);
}

}  // namespace
}  // namespace gpilot::systems
