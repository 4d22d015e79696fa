#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "gpilot/io/model_file.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/study/study.hpp"
#include "support/change_study.hpp"
#include "support/temporary_directory.hpp"

// What earlier versions wrote, see tests/fixtures/README.md. The numbers are those that the version saw and gave.
namespace gpilot::study {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures = GPILOT_FIXTURES;

class Fixtures01Test : public ::testing::Test {
 protected:
  Fixtures01Test() {
    for (const char* name : {"pendulum.study", "pendulum.toml", "model.json"}) {
      fs::copy_file(kFixtures / "0.1" / name, directory_.file(name));
    }
  }
  std::string path(const std::string& name) const { return directory_.file(name); }

 private:
  test::TemporaryDirectory directory_;
};

Index number_of(const Study& study, StepStatus status) {
  return std::ranges::count(study.steps(), status, &StepRecord::status);
}

TEST_F(Fixtures01Test, TheStudyIsOneFile) {
  const auto files = fs::directory_iterator(kFixtures / "0.1");
  const auto beside = [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("pendulum.study");
  };
  EXPECT_EQ(std::count_if(begin(files), end(files), beside), 1);
}

TEST_F(Fixtures01Test, TheStudyHoldsEveryStep) {
  const Study study = Study::open(path("pendulum.study"), Access::kRead);
  ASSERT_EQ(study.steps().size(), 20U);
  EXPECT_EQ(number_of(study, StepStatus::kTold), 16);
  EXPECT_EQ(number_of(study, StepStatus::kFailed), 1);
  EXPECT_EQ(number_of(study, StepStatus::kUnsafe), 1);
  EXPECT_EQ(number_of(study, StepStatus::kUnknown), 1);
  EXPECT_EQ(number_of(study, StepStatus::kAsked), 1);
  EXPECT_EQ(study.late_tells(), 1);

  const std::vector<StepRecord>& steps = study.steps();
  EXPECT_EQ(steps[0].choice.phase, plan::Phase::kRandom);
  EXPECT_EQ(steps[0].choice.control(0), -0.29554699898770354);
  EXPECT_EQ(steps[0].applied(0), -0.29554699898770354);
  EXPECT_EQ(steps[0].outputs(0), -0.0313);
  EXPECT_EQ(steps[1].choice.control(0), -0.2978224107422277);
  EXPECT_EQ(steps[1].applied(0), 0.125);
  EXPECT_TRUE(std::isnan(steps[2].outputs(0)));
  EXPECT_EQ(steps[3].status, StepStatus::kFailed);
  EXPECT_EQ(steps[3].reason, "the motor stalled");
  EXPECT_EQ(steps[4].rig_time, 0.1);
  EXPECT_EQ(steps[5].choice.phase, plan::Phase::kChosen);
  EXPECT_EQ(steps[5].training, 1);
  EXPECT_EQ(steps[5].choice.criterion, 1.0436625690829677);
  EXPECT_EQ(steps[7].status, StepStatus::kUnsafe);
  EXPECT_EQ(steps[8].status, StepStatus::kUnknown);
  EXPECT_EQ(steps[9].choice.phase, plan::Phase::kImported);
  EXPECT_EQ(steps[18].outputs(0), 1.0461);
  ASSERT_NE(study.pending(), nullptr);
  EXPECT_EQ(study.pending()->choice.control(0), 0.1999999999983315);
  for (const StepRecord& step : steps) {  // its schema knew no limits
    EXPECT_TRUE(step.choice.safe);
    EXPECT_TRUE(std::isnan(step.choice.violation) && std::isnan(step.choice.reference_sd));
    EXPECT_EQ(step.choice.plan.size(), 0);
  }
}

TEST_F(Fixtures01Test, TheStudyHoldsSequencesAndTrainings) {
  const Study study = Study::open(path("pendulum.study"), Access::kRead);
  ASSERT_EQ(study.sequences().size(), 5U);
  using enum SequenceOrigin;
  const std::vector<SequenceOrigin> origins{kFirst, kReset, kBroken, kImported, kBroken};
  for (std::size_t k = 0; k < origins.size(); ++k) {
    EXPECT_EQ(study.sequences()[k].origin, origins[k]);
    EXPECT_EQ(study.sequences()[k].broad, k >= 2);
    EXPECT_EQ(study.sequences()[k].ended, k < 4);
  }
  EXPECT_EQ(study.sequences()[1].outputs(0), 0.0125);
  const ssm::Dataset data = study.data();
  ASSERT_EQ(data.size(), 4U);  // nothing was told in sequence 3
  EXPECT_EQ(data[2].outputs(3, 0), 0.2213);

  ASSERT_EQ(study.trainings().size(), 4U);
  EXPECT_EQ(study.trainings()[0].summary.status, ssm::FitStatus::kMotionAsNoise);
  EXPECT_FALSE(study.trainings()[1].has_model);
  EXPECT_TRUE(study.trainings()[2].has_model);
  EXPECT_EQ(study.trainings()[3].summary.after_step, 19);
  EXPECT_EQ(study.trainings()[3].summary.bound, 6.20303751943203);
  ASSERT_NE(study.model(), nullptr);
  EXPECT_EQ(study.model()->starts, (std::vector<Index>{0, 4, 8, 13, 20}));
  EXPECT_EQ(study.sessions().front().version, "0.1.0");
}

TEST_F(Fixtures01Test, AskingGoesOn) {
  Study study = Study::open(path("pendulum.study"));
  const Step waiting = study.ask();
  EXPECT_EQ(waiting.id, 20);
  EXPECT_EQ(study.tell(waiting.id, Vector::Constant(1, 1.25)), Told::kAccepted);
  for (Index id = 21; id <= 24; ++id) {  // a training is due on the way
    const Step step = study.ask();
    EXPECT_EQ(step.id, id);
    EXPECT_EQ(step.sequence, 5);
    EXPECT_EQ(step.choice.phase, plan::Phase::kChosen);
    EXPECT_LE(std::abs(step.choice.control(0) - study.steps()[static_cast<std::size_t>(id - 2)].applied(0)), 0.3);
    EXPECT_LE(std::abs(step.choice.control(0)), 0.5);
    study.tell(step.id, Vector::Constant(1, 1.25));
  }
  EXPECT_EQ(study.trainings().size(), 5U);
  EXPECT_EQ(Study::open(path("pendulum.study"), Access::kRead).told(), 21);
}

TEST_F(Fixtures01Test, GetsChecksumsWhenItIsWrittenTo) {
  const std::string study = path("pendulum.study");
  test::change(study, "UPDATE steps SET outputs = '[0.5]' WHERE id = 1");  // nothing tells that in an old file
  EXPECT_EQ(Study::open(study, Access::kRead).steps()[0].outputs(0), 0.5);
  Study::open(study, Access::kWrite);
  test::change(study, "UPDATE steps SET outputs = '[0.25]' WHERE id = 1");
  EXPECT_THROW(Study::open(study, Access::kRead), StoreError);
  Study repaired = Study::open(study, Access::kRepair);
  EXPECT_TRUE(repaired.void_step(1, "damaged"));
  EXPECT_EQ(repaired.ask().id, 20);
}

TEST_F(Fixtures01Test, TheConfigurationIsThatOfTheStudy) {
  const StudyConfig config = load_config(path("pendulum.toml"));
  EXPECT_EQ(config.name, "pendulum");
  EXPECT_EQ(config.explore.slew(0), 0.3);
  EXPECT_EQ(config.explore.initial, 4);
  EXPECT_EQ(config.model.inducing, 5);
  const Study study = Study::open(path("pendulum.study"), Access::kRead);
  EXPECT_EQ(differences(config, study.config()), std::vector<std::string>());
}

TEST_F(Fixtures01Test, TheModelPredicts) {
  const ssm::Model model = io::load_model(path("model.json"));
  EXPECT_EQ(model.version, "0.1.0");
  EXPECT_EQ(model.report.chosen, "gp");
  EXPECT_EQ(model.gp.structure.inducing, 6);
  ssm::Sequence sequence{Matrix::Constant(5, 1, 0.25), Matrix::Constant(5, 1, std::nan(""))};
  const ssm::Prediction prediction = ssm::Predictor(model, model.gp).free_run(sequence, {.draws = 0});
  const Vector mean{
      {-0.87580959746514631, -1.0683636174116011, -1.2149904200422985, -1.1793248340997966, -1.0893745691583745}};
  const Vector sd{{1.210296924775329, 1.3304531103033592, 1.295131976542667, 1.2269264410510523, 1.19635836888957}};
  for (Index t = 0; t < mean.size(); ++t) {
    EXPECT_NEAR(prediction.mean(t, 0), mean(t), 1e-9);
    EXPECT_NEAR(prediction.sd(t, 0), sd(t), 1e-9);
  }
}

}  // namespace
}  // namespace gpilot::study
