/// Data that a rig may well deliver: training must come back with a sound model.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gpilot/core/random.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "support/toy_data.hpp"

namespace gpilot::inference {
namespace {

using test::quick_options;
using test::toy_sequence;
using test::toy_spec;

/// Finite everywhere, a bound that was reached without falling, and predictions with a spread.
void expect_sound(const ssm::Model& model, const ssm::Sequence& sequence) {
  EXPECT_TRUE(std::isfinite(model.report.bound));
  EXPECT_NE(model.report.status, ssm::FitStatus::kNone);
  EXPECT_FALSE(model.report.chosen.empty());
  EXPECT_TRUE(model.states.m.allFinite());
  EXPECT_TRUE(model.states.S_chol.allFinite());
  for (const ssm::Dynamics* dynamics : {&model.gp, &model.linear}) {
    EXPECT_TRUE(dynamics->parameters.log_q.allFinite());
    EXPECT_TRUE(dynamics->parameters.log_r.allFinite());
    const ssm::Predictor predictor(model, *dynamics);
    for (const Index draws : {0, 20}) {
      const ssm::Prediction p = predictor.free_run(sequence, {.warmup = 1, .draws = draws, .seed = 1});
      EXPECT_TRUE(p.mean.allFinite()) << draws << " draws";
      EXPECT_TRUE(p.sd.allFinite()) << draws << " draws";
      EXPECT_TRUE((p.sd.array() > 0.0).all()) << draws << " draws";
    }
  }
}

struct Hardship {
  const char* name;
  std::function<void(ssm::Dataset&, ssm::ModelSpec&, FitOptions&)> impose;
};

void PrintTo(const Hardship& hardship, std::ostream* out) {
  *out << hardship.name;
}

class FitSurvives : public testing::TestWithParam<Hardship> {};

TEST_P(FitSurvives, WithASoundModel) {
  ssm::Dataset data{toy_sequence(20)};
  ssm::ModelSpec spec = toy_spec();
  FitOptions options = quick_options();
  GetParam().impose(data, spec, options);
  const ssm::Model model = fit(data, spec, options);
  expect_sound(model, data.front());
}

void duplicate_rows(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  ssm::Sequence& s = data.front();
  s.controls.middleRows(5, 10).rowwise() = s.controls.row(5).eval();
  s.outputs.middleRows(5, 10).rowwise() = s.outputs.row(5).eval();
  data.push_back(s);
}

void constant_output(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data.front().outputs.setConstant(3.7);
}

void constant_zero_output(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data.front().outputs.setZero();
}

void one_constant_output_of_two(ssm::Dataset& data, ssm::ModelSpec& spec, FitOptions&) {
  Matrix two(20, 2);
  two << data.front().outputs, Vector::Constant(20, -2.0);
  data.front().outputs = two;
  spec.outputs = {"y", "z"};
  spec.states = {"x", "w"};
}

void no_noise(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data = {toy_sequence(20, 1, 0.0)};
}

void tiny_fixed_noise(ssm::Dataset& data, ssm::ModelSpec& spec, FitOptions&) {
  data = {toy_sequence(20, 1, 1e-10)};
  spec.output_sd = Vector::Constant(1, 1e-10);
}

void tiny_fixed_noises(ssm::Dataset& data, ssm::ModelSpec& spec, FitOptions&) {
  data = {toy_sequence(20, 1, 1e-10)};
  spec.output_sd = Vector::Constant(1, 1e-10);
  spec.process_sd = Vector::Constant(1, 1e-10);
}

void exactly_known_start(ssm::Dataset& data, ssm::ModelSpec& spec, FitOptions&) {
  spec.x0_mean = data.front().outputs.row(0).transpose();
  spec.x0_sd = Vector::Zero(1);
}

void two_rows(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data = {toy_sequence(2)};
}

void two_rows_one_value(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data = {toy_sequence(2)};
  data.front().outputs(0, 0) = std::nan("");
}

void missing(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  RandomStream random(4, Purpose::kTest);
  for (Index t = 0; t < data.front().rows(); ++t) {
    if (random.uniform() < 0.3) {
      data.front().outputs(t, 0) = std::nan("");
    }
  }
}

void large(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data.front().outputs *= 1e8;
}

void small(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data.front().outputs *= 1e-8;
}

void far_from_zero(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data.front().outputs.array() += 1e6;
}

void constant_control(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data.front().controls.setConstant(0.8);
}

void zero_control(ssm::Dataset& data, ssm::ModelSpec&, FitOptions&) {
  data.front().controls.setZero();
}

void no_controls(ssm::Dataset& data, ssm::ModelSpec& spec, FitOptions&) {
  data.front().controls.resize(20, 0);
  spec.inputs.clear();
}

void many_inducing_points(ssm::Dataset&, ssm::ModelSpec& spec, FitOptions&) {
  spec.inducing = 100;
}

void hidden_velocity(ssm::Dataset&, ssm::ModelSpec& spec, FitOptions&) {
  spec.states = {"x", "v"};
  spec.derivatives = {{1, 0}};
  spec.dt = 0.05;
}

void hidden_state(ssm::Dataset&, ssm::ModelSpec& spec, FitOptions&) {
  spec.states = {"x", "h"};
}

void learned_emission(ssm::Dataset&, ssm::ModelSpec& spec, FitOptions&) {
  spec.learn_C = spec.learn_d = true;
  spec.mean = ssm::MeanKind::kLinear;
}

void linear_model_only(ssm::Dataset&, ssm::ModelSpec& spec, FitOptions&) {
  spec.inducing = 0;
}

void without_linear_kernel(ssm::Dataset&, ssm::ModelSpec& spec, FitOptions&) {
  spec.linear_kernel = false;
  spec.kernel = kernels::Kind::kMatern12;
}

void lbfgs_alone(ssm::Dataset&, ssm::ModelSpec&, FitOptions& options) {
  options.method = Method::kLbfgs;
}

void adam(ssm::Dataset&, ssm::ModelSpec&, FitOptions& options) {
  options.method = Method::kAdam;
}

void adam_tied(ssm::Dataset&, ssm::ModelSpec&, FitOptions& options) {
  options.method = Method::kAdam;
  options.tied = true;
}

INSTANTIATE_TEST_SUITE_P(
    All, FitSurvives,
    testing::Values(Hardship{"DuplicateRows", duplicate_rows}, Hardship{"ConstantOutput", constant_output},
                    Hardship{"ConstantZeroOutput", constant_zero_output},
                    Hardship{"OneConstantOutputOfTwo", one_constant_output_of_two}, Hardship{"NoNoise", no_noise},
                    Hardship{"TinyFixedNoise", tiny_fixed_noise}, Hardship{"TinyFixedNoises", tiny_fixed_noises},
                    Hardship{"ExactlyKnownStart", exactly_known_start}, Hardship{"TwoRows", two_rows},
                    Hardship{"TwoRowsOneValue", two_rows_one_value}, Hardship{"Missing", missing},
                    Hardship{"Large", large}, Hardship{"Small", small}, Hardship{"FarFromZero", far_from_zero},
                    Hardship{"ConstantControl", constant_control}, Hardship{"ZeroControl", zero_control},
                    Hardship{"NoControls", no_controls}, Hardship{"ManyInducingPoints", many_inducing_points},
                    Hardship{"HiddenVelocity", hidden_velocity}, Hardship{"HiddenState", hidden_state},
                    Hardship{"LearnedEmission", learned_emission}, Hardship{"LinearModelOnly", linear_model_only},
                    Hardship{"WithoutLinearKernel", without_linear_kernel}, Hardship{"LbfgsAlone", lbfgs_alone},
                    Hardship{"Adam", adam}, Hardship{"AdamTied", adam_tied}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace gpilot::inference
