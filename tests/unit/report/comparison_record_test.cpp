#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gpilot/core/error.hpp"
#include "gpilot/report/record.hpp"
#include "gpilot/trials/comparison.hpp"
#include "support/message_of.hpp"
#include "support/temporary_directory.hpp"

namespace gpilot::report {
namespace {

namespace fs = std::filesystem;

/// Trials by formula: as quick to make as to write.
trials::TrialRecord made_up(const trials::ComparisonJob& job) {
  trials::TrialRecord record{.metrics = {"rmse", "coverage90"}, .steps = {}};
  for (int k = 0; k <= 3; ++k) {
    const double better = job.strategy == "totmi" ? 0.5 : 1.0;
    record.steps.push_back({.values = {better / (1.0 + k + 0.1 * job.trial), 0.9},
                            .criterion = 0.1,
                            .control = {},
                            .trained = true,
                            .status = "converged",
                            .chosen = "warm",
                            .choose_seconds = 0.001,
                            .train_seconds = 0.002 * (k + 1)});
  }
  return record;
}

class ComparisonRecord : public ::testing::Test {
 protected:
  std::string run(Index trials) const {
    trials::ComparisonOptions options;
    options.systems = {"kink"};
    options.strategies = {"random", "totmi"};
    options.trials = trials;
    options.explore.steps = 3;
    std::string directory = directory_.file("comparison");
    trials::run_comparison(options, directory,
                           {.threads = 1, .run_job = [](const trials::ComparisonJob& job, const auto&) {
                              return std::optional(made_up(job));
                            }});
    return directory;
  }
  test::TemporaryDirectory directory_;
};

TEST_F(ComparisonRecord, HasEveryTrialAndTheTests) {
  const Json json = comparison_record(run(8));
  EXPECT_EQ(json["about"]["done"], 16);
  const Json& totmi = json["systems"][0]["strategies"][1];
  EXPECT_EQ(totmi["name"], "totmi");
  EXPECT_NEAR(totmi["values"][0][3][2].get<double>(), 0.5 / 3.3, 1e-4);
  EXPECT_NEAR(totmi["train_s"][2].get<double>(), 0.006, 1e-6);
  const Json& summary = json["summary"]["systems"][0]["metrics"][0]["strategies"][1];
  EXPECT_EQ(summary["area"]["tests"][0]["direction"], -1);
  EXPECT_NEAR(summary["area"]["tests"][0]["p"].get<double>(), 2.0 / 256.0, 1e-9) << "all of 8 pairs in one direction";
  EXPECT_TRUE(json["notes"].empty());
}

TEST_F(ComparisonRecord, OfAnUnfinishedOneShowsWhatThereIs) {
  const std::string directory = run(4);
  fs::remove(fs::path(directory) / "trials" / "kink-totmi-002.json");
  std::ofstream(fs::path(directory) / "trials" / "kink-random-003.json") << "{\"format\": \"gpilot-tri";
  const Json json = comparison_record(directory);
  EXPECT_EQ(json["about"]["done"], 6);
  EXPECT_EQ(json["about"]["complete"], 2);
  EXPECT_EQ(json["summary"]["trials"], 2);
  EXPECT_EQ(json["systems"][0]["strategies"][1]["trials"], Json({0, 1, 3}));
  EXPECT_EQ(json["notes"].size(), 2U);
}

TEST_F(ComparisonRecord, RefusesWhatIsNone) {
  EXPECT_NE(
      test::message_of<InputError>([&] { comparison_record(directory_.file("nowhere")); }).find("comparison.json"),
      std::string::npos);
  const std::string directory = run(2);
  std::ofstream(fs::path(directory) / "comparison.json") << R"({"systems": 3})";
  EXPECT_NE(test::message_of<InputError>([&] { comparison_record(directory); }).find("not the description"),
            std::string::npos);
}

}  // namespace
}  // namespace gpilot::report
