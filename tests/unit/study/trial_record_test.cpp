#include "gpilot/study/trial_record.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gpilot/error.hpp"
#include "support/message_of.hpp"

namespace gpilot::study {
namespace {

using ::gpilot::test::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const ComparisonJob kJob{"cart-pole", "totmi", 7};

Trial two_steps() {
  Trial trial;
  TrialStep& first = trial.steps.emplace_back();
  first.metrics = {{"rmse", 1.0 / 3.0}, {"nlpd", kInfinity}};
  first.exploration.criterion = kNaN;
  first.exploration.trained = true;
  first.exploration.status = "converged";
  first.exploration.chosen = "gp";
  TrialStep& second = trial.steps.emplace_back(first);
  second.metrics = {{"rmse", 5e-324}, {"nlpd", -0.0}};
  second.exploration.criterion = 0.1;
  second.exploration.applied = Vector::Constant(1, -1.0 / 7.0);
  second.exploration.choose_seconds = 0.01;
  second.exploration.train_seconds = 0.2;
  second.evaluate_seconds = 1e-3;
  return trial;
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(same_bits(a[i], b[i])) << a[i] << " " << b[i];
  }
}

TEST(TrialRecordFile, ReadsBackToTheSameBits) {
  const TrialRecord record = record_of(two_steps());
  EXPECT_EQ(record.metrics, (std::vector<std::string>{"rmse", "nlpd"}));
  EXPECT_TRUE(std::isnan(record.steps[0].values[1]));  // infinity
  EXPECT_TRUE(record.steps[0].control.empty());
  const TrialRecord read = parse_trial_record(format_trial_record(kJob, record), "f", kJob, 1);
  EXPECT_EQ(read.metrics, record.metrics);
  ASSERT_EQ(read.steps.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    const RecordedStep& a = record.steps[k];
    const RecordedStep& b = read.steps[k];
    expect_same_bits(b.values, a.values);
    expect_same_bits(b.control, a.control);
    expect_same_bits({b.criterion, b.choose_seconds, b.train_seconds, b.evaluate_seconds},
                     {a.criterion, a.choose_seconds, a.train_seconds, a.evaluate_seconds});
    EXPECT_EQ(b.trained, true);
    EXPECT_EQ(b.status, "converged");
    EXPECT_EQ(b.chosen, "gp");
  }
}

TEST(TrialRecordFile, EveryCutIsNoticed) {
  const std::string text = format_trial_record(kJob, record_of(two_steps()));
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {  // the last two are the brace and the line's end
    EXPECT_THROW(parse_trial_record(text.substr(0, size), "f", kJob, 1), InputError) << size;
  }
}

TEST(TrialRecordFile, MustBeOfTheTrial) {
  const std::string text = format_trial_record(kJob, record_of(two_steps()));
  const auto message = [&](const ComparisonJob& job, Index steps) {
    return message_of<InputError>([&] { parse_trial_record(text, "f.json", job, steps); });
  };
  EXPECT_NE(message({"cart-pole", "totmi", 8}, 1).find("f.json: expected version 1"), std::string::npos);
  EXPECT_NE(message({"cart-pole", "latmi", 7}, 1).find("trial 7 of latmi on cart-pole"), std::string::npos);
  EXPECT_NE(message({"kink", "totmi", 7}, 1).find("on kink"), std::string::npos);
  EXPECT_NE(message(kJob, 2).find("expected an array of 3 entries"), std::string::npos);
}

TEST(TrialRecordFile, NeedsAValueOfEveryMetric) {
  TrialRecord record = record_of(two_steps());
  record.steps[1].values.pop_back();
  const std::string text = format_trial_record(kJob, record);
  EXPECT_NE(message_of<InputError>([&] { parse_trial_record(text, "f", kJob, 1); }).find("1 values of 2 metrics"),
            std::string::npos);
}

}  // namespace
}  // namespace gpilot::study
