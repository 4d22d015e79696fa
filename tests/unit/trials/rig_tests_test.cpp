#include "gpilot/trials/rig_tests.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "gpilot/core/error.hpp"
#include "gpilot/study/rig_run.hpp"
#include "support/message_of.hpp"
#include "support/toy_study.hpp"

namespace gpilot::trials {
namespace {

using test::message_of;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ssm::ModelSpec two_outputs() {
  ssm::ModelSpec spec;
  spec.inputs = {"u"};
  spec.outputs = {"a", "b"};
  spec.states = {"a", "b"};
  spec.dt = 0.5;
  spec.ranges = {{"u", -1.0, 1.0}, {"a", -1.0, 1.0}};
  return spec;
}

/// Rows 0 .. rows - 1 with a = slope t, b = 100 t.
ssm::Sequence ramp(Index rows, double slope, bool broad = false) {
  ssm::Sequence s{.controls = Matrix::Constant(rows, 1, 0.25), .outputs = Matrix(rows, 2), .broad_start = broad};
  for (Index t = 0; t < rows; ++t) {
    s.outputs.row(t) << slope * static_cast<double>(t), 100.0 * static_cast<double>(t);
  }
  s.controls(rows - 1, 0) = kNaN;
  return s;
}

class Folder : public ::testing::Test {
 protected:
  Folder() : path_(std::filesystem::temp_directory_path() / ("gpilot-tests-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() override { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

  std::filesystem::path path_;
};

TEST(RigTests, SeedsGoIntoTheCommandWhereverTheyAreAskedFor) {
  EXPECT_EQ(with_seed("rig --seed {seed} --log {seed}.log", 42), "rig --seed 42 --log 42.log");
  EXPECT_EQ(with_seed("rig", 42), "rig");
}

TEST(RigTests, AreCutWhereAnOutputLeavesItsRange) {
  const CutTests cut = cut_tests({ramp(40, 0.05), ramp(30, 0.01), ramp(20, 0.5)}, two_outputs());
  ASSERT_EQ(cut.tests.sequences.size(), 2U);  // the last has two rows inside, too few to run over
  EXPECT_EQ(cut.tests.sequences[0].rows(), 21);
  EXPECT_EQ(cut.tests.sequences[1].rows(), 30);  // b has no range
  EXPECT_EQ(cut.measured, 90);
  EXPECT_EQ(cut.kept, 21 + 30 + 3);
  EXPECT_NE(message_of<InputError>([] { cut_tests({ramp(30, 1.5)}, two_outputs()); }).find("output.low"),
            std::string::npos);
}

TEST(RigTests, MissingOutputsLeaveNoRange) {
  ssm::Sequence s = ramp(30, 0.01);
  s.outputs.row(3).setConstant(kNaN);
  EXPECT_EQ(cut_tests({s}, two_outputs()).kept, 30);
}

TEST(RigTests, AnglesStayInTheirRangeAfterATurn) {
  ssm::ModelSpec spec = two_outputs();
  ssm::Sequence s = ramp(30, 0.01);
  s.outputs.col(0).tail(10).array() += 2.0 * std::numbers::pi;
  EXPECT_EQ(cut_tests({s}, spec).kept, 20);
  spec.angles = {"a"};
  EXPECT_EQ(cut_tests({s}, spec).kept, 30);
}

TEST_F(Folder, TestsComeBackFromTheirFileBitByBit) {
  ssm::Sequence first = ramp(12, 1.0 / 3.0);
  first.outputs(5, 1) = kNaN;
  const ssm::Dataset tests{first, ramp(5, 0.1, true)};
  const ssm::ModelSpec spec = two_outputs();
  const std::string text = format_tests(tests, spec);
  const ssm::Dataset read = read_tests(write("tests.csv", text), spec);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].rows(), 12);
  EXPECT_FALSE(read[0].broad_start);
  EXPECT_TRUE(read[1].broad_start);
  EXPECT_EQ(format_tests(read, spec), text);
}

/// A rig that holds still, in the language of the shell; it keeps the requests to reset it.
std::string still_rig(const std::string& hello, const std::string& resets) {
  return R"(read -r line; echo '{"v":1,"id":0,"ok":true)" + hello + R"(}'
      while read -r line; do
        case "$line" in *'"reset"'*) echo "$line" >>')" +
         resets + R"(' ;; esac
        id=${line#*'"id":'}
        echo '{"v":1,"id":'"${id%%,*}"',"ok":true,"y":[0.1]}'
        case "$line" in *'"close"'*) exit ;; esac
      done)";
}

TEST_F(Folder, EveryResetOfATestHasASeedOfItsOwnThatNoTrialHas) {
  const study::StudyConfig config = study::parse_config(test::kToyConfig, "toy.toml");
  const std::string resets = (path_ / "resets").string();
  rig::RigOptions options = study::rig_options(config.rig, (path_ / "rig").string());
  options.command = still_rig(R"(,"can_reset":true)", resets);
  const ssm::Dataset tests = measure_tests(config, options, nullptr);
  ASSERT_EQ(tests.size(), 20U);
  EXPECT_EQ(tests[0].rows(), 61);
  std::ifstream file(resets);
  std::uint64_t expected = kFirstTestSeed;
  for (std::string line; std::getline(file, line);) {
    EXPECT_EQ(nlohmann::json::parse(line).at("seed"), ++expected);
  }
  EXPECT_EQ(expected, kFirstTestSeed + 20);  // none left its range
}

TEST_F(Folder, TestsAreNotMadeOnARigThatDeclaresSomethingElse) {
  const study::StudyConfig config = study::parse_config(test::kToyConfig, "toy.toml");
  rig::RigOptions options = study::rig_options(config.rig, (path_ / "rig").string());
  options.command = still_rig(R"(,"dt":123)", "/dev/null");
  EXPECT_NE(message_of<InputError>([&] {
              measure_tests(config, options, nullptr);
            }).find("the rig declares a step of 123 s, the study has "),
            std::string::npos);
}

TEST_F(Folder, ADirectoryIsReadFileByFile) {
  const ssm::ModelSpec spec = two_outputs();
  write("2.csv", "t,u,a,b\n0,1,0.5,2\n0.5,1,0.6,3\n");
  write("1.csv", "t,u,a,b\n0,1,0.1,2\n0.5,1,0.2,\n1,1,0.3,4\n");
  write("notes.txt", "no test");
  const ssm::Dataset tests = read_test_directory(path_.string(), spec);
  ASSERT_EQ(tests.size(), 2U);
  EXPECT_EQ(tests[0].rows(), 3);
  EXPECT_EQ(tests[1].outputs(0, 0), 0.5);
  EXPECT_TRUE(tests[0].broad_start);
  write("3.csv", "t,u,a,b\n0,1,0.5,2\n0.1,1,0.6,3\n");
  EXPECT_NE(message_of<InputError>([&] { read_test_directory(path_.string(), spec); }).find("expected 0.5 s"),
            std::string::npos);
}

TEST_F(Folder, ADirectoryWithoutTestsIsRefused) {
  EXPECT_NE(
      message_of<InputError>([&] { read_test_directory(path_.string(), two_outputs()); }).find("no file NAME.csv"),
      std::string::npos);
  EXPECT_NE(message_of<InputError>([] { read_test_directory("nowhere", two_outputs()); }).find("nowhere: no directory"),
            std::string::npos);
}

}  // namespace
}  // namespace gpilot::trials
