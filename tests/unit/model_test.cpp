#include "gpilot/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "gpilot/core/error.hpp"
#include "support/message_of.hpp"
#include "support/toy_data.hpp"

namespace gpilot {
namespace {

using test::message_of;

Model toy_model() {
  Data data{
      .sequences = {test::toy_sequence(40)}, .inputs = test::toy_spec().inputs, .outputs = test::toy_spec().outputs};
  data.dt = test::toy_spec().dt;
  return fit(data, test::toy_spec(), test::quick_options());
}

/// Of values that are sorted on the way.
double quantile(std::vector<double> values, double level) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(level * static_cast<double>(values.size() - 1))];
}

TEST(Model, SamplesHaveTheDistributionOfPredictions) {
  const Model model = toy_model();
  const ssm::Sequence sequence = test::toy_sequence(30);
  const ssm::PredictOptions options{.warmup = 8, .draws = 2000, .seed = 4};
  const ssm::Prediction prediction = model.predict(sequence, options);
  const std::vector<Matrix> samples = model.sample(sequence, options);
  ASSERT_EQ(samples.size(), 2000U);
  for (const Index t : {Index{3}, Index{10}, sequence.rows() - 1}) {
    std::vector<double> values;
    for (const Matrix& run : samples) {
      values.push_back(run(t, 0));
    }
    const double sd = prediction.sd(t, 0);
    EXPECT_NEAR(quantile(values, 0.5), prediction.quantiles[3](t, 0), 0.1 * sd) << "row " << t;
    EXPECT_NEAR(quantile(values, 0.95), prediction.quantiles[5](t, 0), 0.25 * sd) << "row " << t;
    EXPECT_NEAR(quantile(values, 0.05), prediction.quantiles[1](t, 0), 0.25 * sd) << "row " << t;
  }
  EXPECT_TRUE(model.sample(sequence, options)[7] == samples[7]);
  // Without their noise the outputs of a row differ by the state alone.
  EXPECT_NE(model.sample(sequence, options, false)[7], samples[7]);
  EXPECT_NE(message_of<InputError>([&] { model.sample(sequence, {.draws = 0}); }).find("draws: 0"), std::string::npos);
}

TEST(Model, TransitionIsThatOfTheFunction) {
  const Model model = toy_model();
  const ssm::NextState next = model.transition(Matrix::Zero(2, 1), Matrix::Constant(2, 1, 0.3));
  EXPECT_EQ(next.mean.rows(), 2);
  EXPECT_EQ(next.mean(0, 0), next.mean(1, 0));
  EXPECT_GT(next.sd(0, 0), 0.0);
  EXPECT_THROW(model.transition(Matrix::Zero(2, 3), Matrix::Zero(2, 1)), InputError);
}

TEST(Model, APredictionThatIsStoppedIsCancelled) {
  const Model model = toy_model();
  const std::atomic<bool> stop{true};
  const ssm::Sequence sequence = test::toy_sequence(10);
  EXPECT_THROW(model.predict(sequence, {.stop = &stop}), Cancelled);
  EXPECT_THROW(model.predict(sequence, {.draws = 0, .stop = &stop}), Cancelled);
  EXPECT_THROW(model.sample(sequence, {.stop = &stop}), Cancelled);
}

}  // namespace
}  // namespace gpilot
