#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gpilot/io/model_file.hpp"
#include "gpilot/report/decision.hpp"
#include "gpilot/report/record.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "support/toy_study.hpp"

namespace gpilot::report {
namespace {

using study::Study;
using test::advance;
using test::Toy;

class StudyRecord : public test::StudyTest {
 protected:
  Study after(int steps) const {
    Study study = create();
    Toy toy;
    advance(study, toy, steps);
    return study;
  }
  Json record(const Study& study, History history = History::kAll) const {
    return study_record(study, {.history = history, .describe = {}, .memory = nullptr, .on_progress = {}});
  }
};

TEST_F(StudyRecord, OfNothingYetIsWhole) {
  const Json json = record(create());
  EXPECT_EQ(json["kind"], "study");
  EXPECT_TRUE(json["steps"]["sequence"].empty());
  EXPECT_TRUE(json["decisions"].empty());
  EXPECT_FALSE(json.contains("one_step"));
}

TEST_F(StudyRecord, HasEveryRowAndWhatTheModelSaysOfIt) {
  const Study study = after(9);
  const Json json = record(study);
  ASSERT_EQ(json["rows"]["step"].size(), 10U) << "nine steps, and the row before the first";
  EXPECT_EQ(json["rows"]["step"][0], 0);
  EXPECT_EQ(json["rows"]["step"][9], 9);
  const ssm::Predictor predictor(*study.model(), study.model()->gp);
  const ssm::Prediction ahead = predictor.ahead(study.data().front(), 1);
  for (Index t = 0; t < 10; ++t) {
    EXPECT_NEAR(json["one_step"]["mean"][0][static_cast<std::size_t>(t)].get<double>(), ahead.mean(t, 0), 1e-4);
  }
  EXPECT_NEAR(json["steps"]["applied"][0][4].get<double>(), study.steps()[4].applied(0), 1e-4);
  EXPECT_EQ(json["steps"]["phase"][0], "random");
  EXPECT_EQ(json["steps"]["phase"][8], "chosen");
  ASSERT_EQ(json["states"]["mean"][0].size(), 10U);
  EXPECT_TRUE(json["states"]["mean"][0][7].is_number());
  EXPECT_TRUE(json["states"]["mean"][0][9].is_null()) << "the model has not learned from the last rows yet";
}

/// The criterion was largest where the control was chosen: computed again from the model, it still is.
TEST_F(StudyRecord, LandscapesPeakAtTheChosenControl) {
  const Study study = after(10);
  const Json json = record(study);
  int compared = 0;
  for (const Json& decision : json["decisions"]) {
    if (!decision.contains("landscape")) {
      continue;
    }
    const study::StepRecord& step = study.steps()[decision["step"].get<std::size_t>() - 1];
    double best = -std::numeric_limits<double>::infinity();
    const Json& landscape = decision["landscape"];
    for (std::size_t n = 0; n < landscape["values"].size(); ++n) {
      const double control = landscape["controls"][0][n].get<double>();
      if (control >= landscape["reach"][0][0].get<double>() && control <= landscape["reach"][1][0].get<double>()) {
        best = std::max(best, landscape["values"][n].get<double>());
      }
    }
    EXPECT_LE(best, step.choice.criterion + 1e-3 * std::abs(step.choice.criterion)) << "step " << step.id;
    EXPECT_GE(best, step.choice.criterion - 0.05 * std::abs(step.choice.criterion)) << "step " << step.id;
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

/// Every model, trained again or stored, gives the same decisions.
TEST_F(StudyRecord, StoredModelsAndThoseTrainedAgainSayTheSame) {
  const Study study = after(8);
  const Json all = record(study, History::kAll);
  const Json kept = record(study, History::kKept);
  ASSERT_FALSE(kept["decisions"].empty());
  for (const Json& decision : kept["decisions"]) {
    const auto same = std::find(all["decisions"].begin(), all["decisions"].end(), decision);
    EXPECT_NE(same, all["decisions"].end()) << decision.dump();
  }
  EXPECT_TRUE(all["notes"].empty());
}

TEST_F(StudyRecord, SaysWhichModelsAreNoLongerThere) {
  const Study study = after(15);
  const Json kept = record(study, History::kKept);
  ASSERT_EQ(kept["notes"].size(), 1U);
  EXPECT_NE(kept["notes"][0].get<std::string>().find("--history all"), std::string::npos);
}

TEST_F(StudyRecord, MemoryKeepsWhatTheFileDrops) {
  Study study = create();
  Toy toy;
  Json memory;
  std::size_t most = 0;
  for (int k = 0; k < 15; ++k) {
    advance(study, toy, 1);
    const Json json =
        study_record(study, {.history = History::kKept, .describe = {}, .memory = &memory, .on_progress = {}});
    EXPECT_GE(json["decisions"].size(), most);
    most = json["decisions"].size();
  }
  EXPECT_EQ(record(study, History::kAll)["decisions"].size(), most);
}

TEST_F(StudyRecord, VoidedAndFailedStepsAreEvents) {
  Study study = after(5);
  study.void_step(3, "the </script> sensor was loose");
  const study::Step step = study.ask();
  study.fail(step.id, study::StepStatus::kUnsafe, "too fast");
  const Json json = record(study);
  EXPECT_EQ(json["steps"]["set_aside"], Json::parse("[[3]]")) << "by output";
  const std::string events = json["events"].dump();
  EXPECT_NE(events.find("loose"), std::string::npos);
  EXPECT_NE(events.find("step 6 is unsafe: too fast"), std::string::npos);
}

/// What is expected of a step was computed from what was known before it.
TEST_F(StudyRecord, ExpectationsDoNotKnowTheirOutcome) {
  const Study study = after(9);
  const Json json = record(study);
  double squares = 0.0;
  int count = 0;
  for (const Json& decision : json["decisions"]) {
    if (decision.contains("expected") && decision["step"] > 5) {
      const double y = study.steps()[decision["step"].get<std::size_t>() - 1].outputs(0);
      const double error = y - decision["expected"]["mean"][0][0].get<double>();
      squares += error * error;
      ++count;
    }
  }
  ASSERT_GT(count, 2);
  EXPECT_LT(std::sqrt(squares / count), 0.3) << "better than nothing: outputs spread over about 0.5";
  EXPECT_GT(std::sqrt(squares / count), 1e-4) << "noise of 0.01 cannot be foreseen";
}

}  // namespace
}  // namespace gpilot::report
