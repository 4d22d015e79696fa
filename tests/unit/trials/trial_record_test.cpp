#include "gpilot/trials/trial_record.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include "gpilot/core/error.hpp"
#include "gpilot/trials/trial.hpp"
#include "support/message_of.hpp"

namespace gpilot::trials {
namespace {

using ::gpilot::test::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const ComparisonJob kJob{"cart-pole", "totmi", 7};

TrialRecord two_steps() {
  TrialStep first;
  first.metrics = {{"rmse", 1.0 / 3.0}, {"nlpd", kInfinity}};
  first.choice.criterion = kNaN;
  first.trained = true;
  first.training.status = ssm::FitStatus::kConverged;
  first.training.chosen = "gp";
  TrialStep second = first;
  second.metrics = {{"rmse", 5e-324}, {"nlpd", -0.0}};
  second.choice.criterion = 0.1;
  second.choice.control = Vector::Constant(1, -1.0 / 7.0);
  second.choose_seconds = 0.01;
  second.train_seconds = 0.2;
  second.evaluate_seconds = 1e-3;
  return {.metrics = {"rmse", "nlpd"}, .steps = {record_of(first), record_of(second)}};
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
  const TrialRecord record = two_steps();
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
  const std::string text = format_trial_record(kJob, two_steps());
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {  // the last two are the brace and the line's end
    EXPECT_THROW(parse_trial_record(text.substr(0, size), "f", kJob, 1), InputError) << size;
  }
}

TEST(TrialRecordFile, MustBeOfTheTrial) {
  const std::string text = format_trial_record(kJob, two_steps());
  const auto message = [&](const ComparisonJob& job, Index steps) {
    return message_of<InputError>([&] { parse_trial_record(text, "f.json", job, steps); });
  };
  EXPECT_NE(message({"cart-pole", "totmi", 8}, 1).find("f.json: expected version 1"), std::string::npos);
  EXPECT_NE(message({"cart-pole", "latmi", 7}, 1).find("trial 7 of latmi on cart-pole"), std::string::npos);
  EXPECT_NE(message({"kink", "totmi", 7}, 1).find("on kink"), std::string::npos);
  EXPECT_NE(message(kJob, 2).find("expected an array of 3 entries"), std::string::npos);
}

TEST(TrialRecordFile, HoldsATrialThatFailed) {
  TrialRecord record = two_steps();
  EXPECT_FALSE(failure_of(record));
  record_failure(record, 3, "no factor");
  const TrialRecord read = parse_trial_record(format_trial_record(kJob, record), "f", kJob, 3);
  ASSERT_EQ(read.steps.size(), 4U);
  EXPECT_EQ(failure_of(read), "no factor");
  EXPECT_FALSE(is_failed(read.steps[1]));
  EXPECT_EQ(read.steps[1].values[0], 5e-324);
  for (std::size_t k = 2; k < 4; ++k) {
    EXPECT_TRUE(is_failed(read.steps[k]));
    EXPECT_EQ(read.steps[k].status, "failed: no factor");
    EXPECT_FALSE(read.steps[k].trained);
    expect_same_bits(read.steps[k].values, {kNaN, kNaN});
    EXPECT_TRUE(std::isnan(read.steps[k].criterion));
  }
  // As early as in the first training.
  TrialRecord empty{.metrics = {"rmse"}, .steps = {}};
  EXPECT_FALSE(failure_of(empty));
  record_failure(empty, 1, "no start");
  EXPECT_EQ(failure_of(parse_trial_record(format_trial_record(kJob, empty), "f", kJob, 1)), "no start");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TrialRecordFile, AChangedValueIsTold) {
  const std::string text = format_trial_record(kJob, two_steps());
  const auto message = [&](const std::string& from, const std::string& to) {
    return message_of<InputError>([&] { parse_trial_record(replaced(text, from, to), "f.json", kJob, 1); });
  };
  for (const auto& [from, to, step] : {std::tuple{"0.3333333333333333", "0.3333333323333333", "0"},
                                       std::tuple{"-0.14285714285714285", "-0.14285714285714385", "1"},
                                       std::tuple{"0.01", "0.09", "1"}, std::tuple{"converged", "cpnverged", "0"},
                                       std::tuple{"rmse", "rmsf", "0"}, std::tuple{"checksum", "chfcksum", "0"}}) {
    EXPECT_NE(message(from, to).find(std::string("f.json: damaged: step ") + step), std::string::npos) << from;
  }
}

TEST(TrialRecordFile, FilesWithoutChecksumsAreReadAsBefore) {
  std::string text = replaced(format_trial_record(kJob, two_steps()), R"("version": 2)", R"("version": 1)");
  EXPECT_EQ(parse_trial_record(text, "f", kJob, 1).steps.size(), 2U);
  std::string changed = replaced(text, "0.3333333333333333", "0.4");
  EXPECT_THROW(parse_trial_record(changed, "f", kJob, 1), InputError) << "it has checksums all the same";
  for (std::size_t at = 0; (at = text.find(",\n", at)) != std::string::npos; ++at) {
    if (const std::size_t key = text.find_first_not_of(" \n", at + 1); text.compare(key, 10, "\"checksum\"") == 0) {
      text.erase(at, text.find('\n', key) - at);
    }
  }
  EXPECT_EQ(text.find("checksum"), std::string::npos) << text;
  EXPECT_EQ(parse_trial_record(replaced(text, "0.3333333333333333", "0.4"), "f", kJob, 1).steps[0].values[0], 0.4);
  EXPECT_THROW(parse_trial_record(replaced(text, R"("version": 1)", R"("version": 2)"), "f", kJob, 1), InputError);
  EXPECT_THROW(parse_trial_record(replaced(text, R"("version": 1)", R"("version": 3)"), "f", kJob, 1), InputError);
}

TEST(TrialRecordFile, NeedsAValueOfEveryMetric) {
  TrialRecord record = two_steps();
  record.steps[1].values.pop_back();
  const std::string text = format_trial_record(kJob, record);
  EXPECT_NE(message_of<InputError>([&] { parse_trial_record(text, "f", kJob, 1); }).find("1 values of 2 metrics"),
            std::string::npos);
}

}  // namespace
}  // namespace gpilot::trials
