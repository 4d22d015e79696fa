/// One test per error of what a user declares or hands over.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/message_of.hpp"

namespace gpilot::ssm {
namespace {

using test::message_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What is wrong, and a part of the message that names it.
template <typename Subject>
struct Mistake {
  const char* name;
  std::function<void(Subject&)> make;
  const char* message;
};

template <typename Subject>
void PrintTo(const Mistake<Subject>& mistake, std::ostream* out) {
  *out << mistake.name;
}

const auto kNameOf = [](const auto& tested) { return std::string(tested.param.name); };

ModelSpec good_spec() {
  ModelSpec spec;
  spec.inputs = {"u"};
  spec.outputs = {"y"};
  spec.states = {"x", "v"};
  return spec;
}

class BadSpec : public testing::TestWithParam<Mistake<ModelSpec>> {};

TEST_P(BadSpec, IsNamed) {
  ModelSpec spec = good_spec();
  EXPECT_NO_THROW(spec.validate());
  GetParam().make(spec);
  const std::string message = message_of<InputError>([&] { spec.validate(); });
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSpec,
    testing::Values(
        Mistake<ModelSpec>{"DerivativeOfNoState",
                           [](ModelSpec& s) { s.derivatives = {{.velocity = 99, .position = 0}}; },
                           "derivatives: state 99 of state 0"},
        Mistake<ModelSpec>{"RangeOfNothing",
                           [](ModelSpec& s) {
                             s.ranges = {{"nobody", 0.0, 1.0}};
                           },
                           "no input, output or state"},
        Mistake<ModelSpec>{"EmptyName", [](ModelSpec& s) { s.inputs = {""}; }, "inputs: a name is empty"},
        Mistake<ModelSpec>{"NamedTwice",
                           [](ModelSpec& s) {
                             s.states = {"x", "x"};
                           },
                           "states: 'x' is named twice"},
        Mistake<ModelSpec>{"NoOutputs", [](ModelSpec& s) { s.outputs.clear(); }, "outputs: expected at least one"},
        Mistake<ModelSpec>{"NoStates", [](ModelSpec& s) { s.states.clear(); }, "states: 0 given, expected 1 to 16"},
        Mistake<ModelSpec>{"TooManyStates",
                           [](ModelSpec& s) {
                             for (std::size_t k = 1; k <= 20; ++k) {
                               s.states.emplace_back(k, 's');
                             }
                           },
                           "states: 22 given, expected 1 to 16"},
        Mistake<ModelSpec>{"FewerStatesThanOutputs",
                           [](ModelSpec& s) {
                             s.outputs = {"a", "b", "c"};
                           },
                           "states: 2 given for 3 outputs"},
        Mistake<ModelSpec>{"EmissionShape", [](ModelSpec& s) { s.C = Matrix::Ones(2, 2); }, "C: 2 x 2, expected 1 x 2"},
        Mistake<ModelSpec>{"EmissionValue", [](ModelSpec& s) { s.C = Matrix::Constant(1, 2, kInfinity); }, "finite"},
        Mistake<ModelSpec>{"StepZero", [](ModelSpec& s) { s.dt = 0.0; }, "dt: 0"},
        Mistake<ModelSpec>{"StepNan", [](ModelSpec& s) { s.dt = std::nan(""); }, "dt:"},
        Mistake<ModelSpec>{"InducingNegative", [](ModelSpec& s) { s.inducing = -1; }, "inducing: -1"},
        Mistake<ModelSpec>{"InducingHuge", [](ModelSpec& s) { s.inducing = 2001; }, "inducing: 2001"},
        Mistake<ModelSpec>{"NothingToLearn", [](ModelSpec& s) { s.inducing = 0, s.linear_kernel = false; },
                           "nothing can be learned"},
        Mistake<ModelSpec>{"StartSize", [](ModelSpec& s) { s.x0_mean = Vector::Zero(3); }, "x0: 3 value(s)"},
        Mistake<ModelSpec>{"StartSdSize", [](ModelSpec& s) { s.x0_sd = Vector::Ones(1); }, "x0-sd: 1 value(s)"},
        Mistake<ModelSpec>{"StartSdNegative", [](ModelSpec& s) { s.x0_sd = Vector::Constant(2, -1.0); }, "x0-sd: -1"},
        Mistake<ModelSpec>{"OffsetSize", [](ModelSpec& s) { s.d = Vector::Zero(2); }, "d: 2 value(s), expected 1"},
        Mistake<ModelSpec>{"OutputNoiseSize", [](ModelSpec& s) { s.output_sd = Vector::Ones(2); },
                           "output noise: 2 value(s)"},
        Mistake<ModelSpec>{"OutputNoiseZero", [](ModelSpec& s) { s.output_sd = Vector::Zero(1); }, "output noise: 0"},
        Mistake<ModelSpec>{"ProcessNoiseSize", [](ModelSpec& s) { s.process_sd = Vector::Ones(3); },
                           "process noise: 3 value(s)"},
        Mistake<ModelSpec>{"ProcessNoiseInfinite", [](ModelSpec& s) { s.process_sd = Vector::Constant(2, kInfinity); },
                           "process noise: inf"},
        Mistake<ModelSpec>{"RangeEmpty",
                           [](ModelSpec& s) {
                             s.ranges = {{"u", 1.0, 1.0}};
                           },
                           "range of 'u': [1, 1]"},
        Mistake<ModelSpec>{"RangeInfinite",
                           [](ModelSpec& s) {
                             s.ranges = {{"u", 0.0, kInfinity}};
                           },
                           "range of 'u'"}),
    kNameOf);

Structure good_structure() {
  Structure s;
  s.states = 3;
  s.kinematics = {{0, 1, 0.5}};
  s.x0_mean = Vector::Zero(3);
  s.x0_sd = Vector::Ones(3);
  return s;
}

class BadStructure : public testing::TestWithParam<Mistake<Structure>> {};

TEST_P(BadStructure, IsNamed) {
  Structure structure = good_structure();
  EXPECT_NO_THROW(structure.validate());
  GetParam().make(structure);
  const std::string message = message_of<InputError>([&] { structure.validate(); });
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadStructure,
    testing::Values(
        Mistake<Structure>{"NoStates", [](Structure& s) { s.states = 0; }, "0 states: expected 1 to 16"},
        Mistake<Structure>{"TooManyStates", [](Structure& s) { s.states = 17; }, "17 states"},
        Mistake<Structure>{"NoOutputs", [](Structure& s) { s.outputs = 0; }, "at least one output"},
        Mistake<Structure>{"StartSize", [](Structure& s) { s.x0_mean = Vector::Zero(2); }, "x0 has 2 means and 3"},
        Mistake<Structure>{"StartSd", [](Structure& s) { s.x0_sd(1) = 0.0; }, "positive standard deviations"},
        Mistake<Structure>{"StartMean", [](Structure& s) { s.x0_mean(1) = std::nan(""); }, "finite means"},
        Mistake<Structure>{"OwnDerivative",
                           [](Structure& s) {
                             s.kinematics = {{1, 1, 0.5}};
                           },
                           "of itself"},
        Mistake<Structure>{"NoSuchState",
                           [](Structure& s) {
                             s.kinematics = {{0, 3, 0.5}};
                           },
                           "velocity 3, 3 states"},
        Mistake<Structure>{"TwoDerivatives",
                           [](Structure& s) {
                             s.kinematics.push_back({0, 2, 0.5});
                           },
                           "state 0 is declared to have two derivatives"},
        Mistake<Structure>{"Circle",
                           [](Structure& s) {
                             s.kinematics = {{0, 1, 0.5}, {1, 0, 0.5}};
                           },
                           "derivatives of each other in a circle"}),
    kNameOf);

Dataset good_data() {
  return {{Matrix::Ones(4, 1), Matrix::Ones(4, 2)}, {Matrix::Ones(3, 1), Matrix::Ones(3, 2)}};
}

class BadData : public testing::TestWithParam<Mistake<Dataset>> {};

TEST_P(BadData, IsNamed) {
  Dataset data = good_data();
  EXPECT_NO_THROW(concatenate(data));
  GetParam().make(data);
  const std::string message = message_of<InputError>([&] { concatenate(data); });
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadData,
    testing::Values(Mistake<Dataset>{"Empty", [](Dataset& d) { d.clear(); }, "at least one sequence"},
                    Mistake<Dataset>{"OtherControls", [](Dataset& d) { d[1].controls = Matrix::Ones(3, 2); },
                                     "sequence 1: 2 controls and 2 outputs, expected 1 and 2"},
                    Mistake<Dataset>{"OtherOutputs", [](Dataset& d) { d[1].outputs = Matrix::Ones(3, 1); },
                                     "sequence 1: 1 controls"},
                    Mistake<Dataset>{"OtherRows", [](Dataset& d) { d[0].controls = Matrix::Ones(5, 1); },
                                     "sequence 0: 5 rows of controls but 4 rows of outputs"},
                    Mistake<Dataset>{"OneRow",
                                     [](Dataset& d) {
                                       d[1] = {Matrix::Ones(1, 1), Matrix::Ones(1, 2)};
                                     },
                                     "sequence 1: 1 row(s)"},
                    Mistake<Dataset>{"MissingControl", [](Dataset& d) { d[1].controls(1, 0) = std::nan(""); },
                                     "sequence 1: a control is missing in row 1"},
                    Mistake<Dataset>{"InfiniteOutput", [](Dataset& d) { d[0].outputs(2, 1) = kInfinity; },
                                     "sequence 0: an output is infinite"}),
    kNameOf);

TEST(Concatenate, LaysSequencesEndToEnd) {
  Dataset data = good_data();
  data[0].outputs(1, 1) = std::nan("");
  data[1].controls(2, 0) = std::nan("");
  const Series series = concatenate(data);
  EXPECT_EQ(series.rows(), 7);
  EXPECT_EQ(series.sequences(), 2);
  EXPECT_EQ(series.transitions(), 5);
  EXPECT_EQ(series.start, (std::vector<Index>{0, 4, 7}));
  for (Index t = 0; t < 7; ++t) {
    EXPECT_EQ(series.first[static_cast<std::size_t>(t)], t == 0 || t == 4);
  }
  EXPECT_TRUE(std::isnan(series.outputs(1, 1)));
  EXPECT_EQ(series.controls(0, 6), 0.0) << "the last row's control is not used";
}

TEST(MeanKind, NamesRoundTripAndUnknownOnesAreListed) {
  for (const MeanKind kind : {MeanKind::kZero, MeanKind::kIdentity, MeanKind::kLinear}) {
    EXPECT_EQ(mean_from_name(name(kind)), kind);
  }
  const std::string message = message_of<InputError>([] { mean_from_name("cubic"); });
  EXPECT_NE(message.find("'cubic': expected zero, identity or linear"), std::string::npos) << message;
}

}  // namespace
}  // namespace gpilot::ssm
