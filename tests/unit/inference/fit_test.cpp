#include "gpilot/inference/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "support/message_of.hpp"
#include "support/toy_data.hpp"

namespace gpilot::inference {
namespace {

using test::message_of;
using test::quick_options;
using test::toy_sequence;
using test::toy_spec;

void expect_same_bits(const ssm::Model& a, const ssm::Model& b) {
  EXPECT_EQ(a.report.bound, b.report.bound);
  EXPECT_EQ(a.report.trace, b.report.trace);
  EXPECT_EQ(a.report.chosen, b.report.chosen);
  EXPECT_EQ(a.gp.parameters.Z, b.gp.parameters.Z);
  EXPECT_EQ(a.gp.parameters.log_length_scales, b.gp.parameters.log_length_scales);
  EXPECT_EQ(a.gp.parameters.log_q, b.gp.parameters.log_q);
  EXPECT_EQ(a.gp.parameters.log_r, b.gp.parameters.log_r);
  EXPECT_EQ(a.states.m, b.states.m);
  EXPECT_EQ(a.states.A, b.states.A);
  EXPECT_EQ(a.gp.weights.front().mu, b.gp.weights.front().mu);
}

ssm::Prediction free_run(const ssm::Model& model, const ssm::Sequence& sequence) {
  return ssm::Predictor(model, model.gp).free_run(sequence, {.warmup = 0, .draws = 0, .seed = 0});
}

TEST(Fit, LearnsTheToySystem) {
  const ssm::Model model = fit({toy_sequence(60)}, toy_spec(), quick_options());
  const ssm::Sequence fresh = toy_sequence(30, 9, 0.0);
  const ssm::Prediction prediction =
      ssm::Predictor(model, model.gp).free_run(fresh, {.warmup = 1, .draws = 0, .seed = 0});
  const double rmse = (prediction.mean - fresh.outputs).norm() / std::sqrt(30.0);
  const double spread = std::sqrt((fresh.outputs.array() - fresh.outputs.mean()).square().mean());
  EXPECT_LT(rmse, 0.25 * spread);
  EXPECT_EQ(model.report.status, ssm::FitStatus::kConverged) << model.report.message;
}

TEST(Fit, SaysThatFewRowsWereNotJudged) {
  const ssm::Model model = fit({toy_sequence(5)}, toy_spec(), quick_options());
  ASSERT_EQ(model.report.status, ssm::FitStatus::kConverged) << model.report.message;
  EXPECT_NE(model.report.message.find("too few to judge it"), std::string::npos) << model.report.message;
  EXPECT_LT(model.report.held_out.runs, 3);
}

TEST(Fit, SaysThatNothingChanged) {
  ssm::Sequence still = toy_sequence(20);
  still.outputs.setConstant(0.3);
  const ssm::Model stuck = fit({still}, toy_spec(), quick_options());
  EXPECT_EQ(stuck.report.status, ssm::FitStatus::kNotUseful);
  EXPECT_EQ(stuck.report.message, "no output ever changed");
}

TEST(Fit, SameSeedSameBits) {
  const ssm::Dataset data{toy_sequence(25), toy_sequence(12, 2)};
  expect_same_bits(fit(data, toy_spec(), quick_options()), fit(data, toy_spec(), quick_options()));
}

TEST(FitThreads, SameBitsForAnyNumberOfThreads) {
  const ssm::Dataset data{toy_sequence(300)};
  FitOptions options = quick_options();
  options.rounds = 1;
  options.polish = 5;
  options.noise_path = 0;
  const ssm::Model one = fit(data, toy_spec(), options);
  options.threads = 2;
  expect_same_bits(one, fit(data, toy_spec(), options));
  options.threads = 3;
  expect_same_bits(one, fit(data, toy_spec(), options));
}

// A prior: it moves the noise, it does not set it.
TEST(Fit, ProcessNoiseDeclaredSmallIsLearnedSmaller) {
  FitOptions options = quick_options();
  options.noise_path = 0;
  const ssm::Model any = fit({toy_sequence(15)}, toy_spec(), options);
  options.process_noise = ProcessNoise::kSmall;
  const ssm::Model small = fit({toy_sequence(15)}, toy_spec(), options);
  EXPECT_LT(small.linear.parameters.log_q.sum(), any.linear.parameters.log_q.sum());
  options.rounds = 1;
  options.polish = 1;
  EXPECT_NE(fit({toy_sequence(15)}, toy_spec(), options).linear.parameters.log_q, small.linear.parameters.log_q);
}

TEST(Fit, TraceNeverFallsAndCandidatesAreReported) {
  FitOptions options = quick_options();
  options.restarts = 2;
  const ssm::Model model = fit({toy_sequence(25)}, toy_spec(), options);
  ASSERT_GT(model.report.trace.size(), 2U);
  for (std::size_t k = 1; k < model.report.trace.size(); ++k) {
    EXPECT_GE(model.report.trace[k], model.report.trace[k - 1]);
  }
  EXPECT_EQ(model.report.trace.back(), model.report.objective);
  ASSERT_GE(model.report.candidates.size(), 3U);
  const auto best =
      std::max_element(model.report.candidates.begin(), model.report.candidates.end(),
                       [](const auto& a, const auto& b) { return a.predictive_density < b.predictive_density; });
  EXPECT_EQ(best->name, model.report.chosen);
  EXPECT_EQ(best->bound, model.report.bound);
}

TEST(Fit, ProgressNamesStages) {
  FitOptions options = quick_options();
  std::vector<std::string> stages;
  options.on_progress = [&](const Progress& progress) { stages.push_back(progress.stage); };
  fit({toy_sequence(15)}, toy_spec(), options);
  EXPECT_NE(std::find(stages.begin(), stages.end(), "linear"), stages.end());
  EXPECT_NE(std::find(stages.begin(), stages.end(), "gp"), stages.end());
}

TEST(Fit, ProgressNeverFallsAndEndsAtOne) {
  FitOptions options = quick_options();
  double last = 0.0;
  int calls = 0;
  options.on_progress = [&](const Progress& progress) {
    EXPECT_GE(progress.fraction, last);
    EXPECT_LE(progress.fraction, 1.0);
    last = progress.fraction;
    ++calls;
  };
  fit({toy_sequence(40)}, toy_spec(), options);
  EXPECT_GT(calls, 50);
  EXPECT_EQ(last, 1.0);
}

/// Stopped at any moment, the fit returns a whole model, and the sooner the fewer evaluations.
TEST(Fit, StoppedKeepsTheBestSoFar) {
  for (const Method method : {Method::kEm, Method::kLbfgs, Method::kAdam}) {
    for (const int after : {1, 7, 40}) {
      std::atomic<bool> stop{false};
      FitOptions options = quick_options();
      options.method = method;
      options.stop = &stop;
      int calls = 0;
      options.on_progress = [&](const Progress& /*progress*/) { stop = ++calls >= after; };
      const ssm::Model model = fit({toy_sequence(40)}, toy_spec(), options);
      EXPECT_EQ(model.report.status, ssm::FitStatus::kInterrupted) << after;
      EXPECT_LE(model.report.evaluations, after + 5);
      EXPECT_EQ(model.states.rows(), 40);
      EXPECT_TRUE(free_run(model, toy_sequence(10)).mean.allFinite());
      EXPECT_TRUE(std::isfinite(model.report.bound));
    }
  }
}

/// Outputs times a factor: a fit in scaled units is the same, so its predictions scale.
class FitScale : public testing::TestWithParam<double> {};

TEST_P(FitScale, PredictionsScaleWithTheOutputs) {
  const double factor = GetParam();
  const ssm::Sequence plain = toy_sequence(25);
  ssm::Sequence scaled = plain;
  scaled.outputs *= factor;
  const ssm::Prediction a = free_run(fit({plain}, toy_spec(), quick_options()), plain);
  const ssm::Prediction b = free_run(fit({scaled}, toy_spec(), quick_options()), plain);
  EXPECT_LT((b.mean / factor - a.mean).cwiseAbs().maxCoeff(), 1e-4 * a.mean.cwiseAbs().maxCoeff());
  EXPECT_LT((b.sd / factor - a.sd).cwiseAbs().maxCoeff(), 1e-4 * a.sd.cwiseAbs().maxCoeff());
}

INSTANTIATE_TEST_SUITE_P(Factors, FitScale, testing::Values(1e8, 1e-8));

TEST(WarmStart, WithMoreRowsKeepsScalesAndJoinsTheCandidates) {
  const ssm::Sequence all = toy_sequence(80);
  const ssm::Sequence early{all.controls.topRows(70), all.outputs.topRows(70)};
  const ssm::Model before = fit({early}, toy_spec(), quick_options());
  ASSERT_EQ(before.gp.structure.inducing, 8) << "the earlier model is to have a GP";
  const ssm::Model after = fit({all}, toy_spec(), quick_options(), &before);
  EXPECT_EQ(after.scaling.output_scale, before.scaling.output_scale);
  EXPECT_EQ(after.scaling.control_offset, before.scaling.control_offset);
  const auto is_warm = [](const ssm::Candidate& c) { return c.name == "warm start"; };
  EXPECT_EQ(std::count_if(after.report.candidates.begin(), after.report.candidates.end(), is_warm), 1);
  EXPECT_EQ(after.states.rows(), 80);
}

TEST(WarmStart, FromAModelWithFewerInducingPointsOrNone) {
  const ssm::Sequence all = toy_sequence(30);
  const ssm::Sequence early{all.controls.topRows(5), all.outputs.topRows(5)};
  for (const Index inducing : {8, 0}) {  // five rows have room for four points
    ssm::ModelSpec spec = toy_spec();
    spec.inducing = inducing;
    const ssm::Model before = fit({early}, spec, quick_options());
    ASSERT_LT(before.gp.structure.inducing, 8);
    const ssm::Model after = fit({all}, toy_spec(), quick_options(), &before);
    EXPECT_TRUE(std::isfinite(after.report.bound));
    EXPECT_TRUE(free_run(after, all).mean.allFinite());
  }
}

TEST(WarmStart, FromAnotherModelIsAnError) {
  const ssm::Model before = fit({toy_sequence(10)}, toy_spec(), quick_options());
  ssm::ModelSpec other = toy_spec();
  other.kernel = kernels::Kind::kMatern32;
  const std::string message = message_of<InputError>([&] { fit({toy_sequence(10)}, other, quick_options(), &before); });
  EXPECT_NE(message.find("kernel"), std::string::npos) << message;
}

TEST(WarmStart, ThePapersTrainingGoesOnWhereItStopped) {
  const ssm::Dataset data{toy_sequence(20)};
  ssm::ModelSpec spec = toy_spec();
  FitOptions options = quick_options();
  options.method = Method::kAdam;
  options.epochs = 60;
  options.paper_start = {1.0, 1.0};
  const ssm::Model once = fit(data, spec, options);
  const ssm::Model twice = fit(data, spec, options, &once);
  EXPECT_GT(twice.report.bound, once.report.bound + 1.0);
  EXPECT_EQ(once.scaling.output_scale, Vector::Ones(1));  // raw units
  spec.states = {"x", "v"};
  spec.derivatives = {{1, 0}};
  EXPECT_NE(message_of<InputError>([&] { fit(data, spec, options); }).find("derivatives"), std::string::npos);
}

struct BadOption {
  const char* name;
  std::function<void(FitOptions&)> spoil;
};

class BadFitOptions : public testing::TestWithParam<BadOption> {};

TEST_P(BadFitOptions, AreNamed) {
  FitOptions options;
  options.validate();
  GetParam().spoil(options);
  const std::string message = message_of<InputError>([&] { options.validate(); });
  EXPECT_NE(message.find(GetParam().name), std::string::npos) << message;
  EXPECT_THROW(fit({toy_sequence(5)}, toy_spec(), options), InputError);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadFitOptions,
    testing::Values(BadOption{"rounds", [](FitOptions& o) { o.rounds = -1; }},
                    BadOption{"e-steps", [](FitOptions& o) { o.e_steps = 0; }},
                    BadOption{"m-iterations", [](FitOptions& o) { o.m_iterations = 0; }},
                    BadOption{"polish", [](FitOptions& o) { o.polish = 0; }},
                    BadOption{"restarts", [](FitOptions& o) { o.restarts = 0; }},
                    BadOption{"noise-path", [](FitOptions& o) { o.noise_path = -1; }},
                    BadOption{"horizon", [](FitOptions& o) { o.horizon = 0; }},
                    BadOption{"epochs", [](FitOptions& o) { o.epochs = 0; }},
                    BadOption{"samples", [](FitOptions& o) { o.samples = 0; }},
                    BadOption{"threads", [](FitOptions& o) { o.threads = 0; }},
                    BadOption{"learning-rate", [](FitOptions& o) { o.learning_rate = 0.0; }},
                    BadOption{"learning-rate", [](FitOptions& o) { o.learning_rate = std::nan(""); }},
                    BadOption{"tied", [](FitOptions& o) { o.tied = true; }},
                    BadOption{"paper's start", [](FitOptions& o) { o.paper_start = PaperStart{}; }},
                    BadOption{"length scale 0", [](FitOptions& o) {
                                o.method = Method::kAdam;
                                o.paper_start = PaperStart{.variance = 1.0, .length_scale = 0.0};
                              }}));

TEST(Fit, WithoutDataOrWithoutAnyOutputIsAnError) {
  EXPECT_THROW(fit({}, toy_spec(), quick_options()), InputError);
  ssm::Sequence empty = toy_sequence(5);
  empty.outputs.setConstant(std::nan(""));
  const std::string message = message_of<InputError>([&] { fit({empty}, toy_spec(), quick_options()); });
  EXPECT_NE(message.find("'y'"), std::string::npos) << message;
}

TEST(Method, NamesRoundTripAndUnknownOnesAreListed) {
  for (const Method method : {Method::kEm, Method::kLbfgs, Method::kAdam}) {
    EXPECT_EQ(method_from_name(name(method)), method);
  }
  const std::string message = message_of<InputError>([] { method_from_name("sgd"); });
  EXPECT_NE(message.find("'sgd'"), std::string::npos);
  EXPECT_NE(message.find("em, lbfgs, adam"), std::string::npos);
}

}  // namespace
}  // namespace gpilot::inference
