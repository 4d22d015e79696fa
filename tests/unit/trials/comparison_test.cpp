#include "gpilot/trials/comparison.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/systems/system.hpp"
#include "support/message_of.hpp"

namespace gpilot::trials {
namespace {

namespace fs = std::filesystem;
using ::gpilot::test::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ComparisonOptions small_options() {
  return {.systems = {"kink", "pendulum"},
          .strategies = {"random", "totmi"},
          .trials = 3,
          .explore = {.steps = 6},
          .boxes = {}};
}

/// A trial of random numbers that depend on the job alone.
TrialRecord made_up(const ComparisonJob& job, Index steps) {
  RandomStream random(job.system.size(), Purpose::kTest, job.trial, static_cast<std::uint32_t>(job.strategy.size()));
  TrialRecord record{.metrics = {"rmse", "coverage90"}, .steps = {}};
  for (Index k = 0; k <= steps; ++k) {
    RecordedStep& step = record.steps.emplace_back();
    step.values = {random.uniform(), k == 2 ? kNaN : random.normal()};
    step.criterion = job.strategy == "random" ? kNaN : random.normal();
    step.control = k == 0 ? std::vector<double>{} : std::vector<double>{random.normal()};
    step.trained = true;
    step.status = "converged";
    step.chosen = "gp";
    step.choose_seconds = random.uniform();
  }
  return record;
}

/// Runs made-up trials and counts them.
struct FakeTrials {
  Index steps = small_options().explore.steps;
  std::atomic<int> runs{0};

  ComparisonExecution execution(int threads = 1) {
    return {
        .threads = threads,
        .run_job = [this](const ComparisonJob& job, const std::function<bool()>& go_on) -> std::optional<TrialRecord> {
          ++runs;
          for (Index k = 0; k <= steps; ++k) {
            if (!go_on()) {
              return std::nullopt;
            }
          }
          return made_up(job, steps);
        }};
  }
};

class ComparisonDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("gpilot_" + std::string(test->name()) + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name = "c") const { return (folder_ / name).string(); }
  static std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  std::string results(const std::string& name = "c") const { return content(path(name) + "/results.csv"); }
  static void write(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }
  /// Every file with its content.
  std::map<std::string, std::string> snapshot() const {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
      files[entry.path().string()] = entry.is_regular_file() ? content(entry.path().string()) : "";
    }
    return files;
  }
  /// The comparison must be refused with these words, and leave everything as it was.
  void expect_refused(const ComparisonOptions& options, const std::string& words, const std::string& name = "c") {
    const auto before = snapshot();
    FakeTrials fake;
    const std::string message = message_of<InputError>([&] { run_comparison(options, path(name), fake.execution()); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_NE(message.find(path(name)), std::string::npos) << message;
    EXPECT_EQ(snapshot(), before);
    EXPECT_EQ(fake.runs, 0);
  }

  fs::path folder_;
};

TEST(ComparisonOptionsTest, RefuseWhatMakesNoSense) {
  const auto message = [](const auto& change) {
    ComparisonOptions options = small_options();
    change(options);
    return message_of<InputError>([&] { options.validate(); });
  };
  const auto expect = [&](const std::string& words, const auto& change) {
    const std::string text = message(change);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect("trials: expected a whole number from 1", [](auto& o) { o.trials = 0; });
  expect("steps: expected a whole number from 1", [](auto& o) { o.explore.steps = 0; });
  expect("initial: expected a whole number from 2", [](auto& o) { o.explore.initial = 1; });
  expect("retrain_every: expected a whole number from 1", [](auto& o) { o.explore.retrain_every = 0; });
  expect("systems: none given", [](auto& o) { o.systems.clear(); });
  expect("limit: unknown output of these systems 'y_thh', did you mean 'y_th'?", [](auto& o) {
    o.limits = {{"y_thh", 0.0, 1.0}};
  });
  expect("limits of 'y_th': [1, 0]", [](auto& o) { o.limits = {{"th", 1.0, 0.0}}; });
  expect("delta: 1, expected", [](auto& o) {
    o.limits = {{"th", 0.0, 1.0}};
    o.delta = 1.0;
  });
  expect("strategies: none given", [](auto& o) { o.strategies.clear(); });
  expect("'kink' is named twice", [](auto& o) { o.systems.emplace_back("kink"); });
  expect("'totmi' is named twice", [](auto& o) { o.strategies.emplace_back("totmi"); });
  expect("did you mean 'pendulum'?", [](auto& o) { o.systems = {"pendulm"}; });
  expect("did you mean 'totmi'?", [](auto& o) { o.strategies = {"totm"}; });
  expect("angles: the paper's model knows none", [](auto& o) { o.paper = o.angles = true; });
  const Box narrow{Vector::Constant(1, 0.5), Vector::Constant(1, 0.5)};
  const Box wide{Vector::Constant(1, -1.0), Vector::Constant(1, 1.0)};
  expect("box of pendulum: [0.5, 0.5]", [&](auto& o) { o.boxes = {{"pendulum", narrow}}; });
  expect("unknown system of the comparison 'tras'", [&](auto& o) { o.boxes = {{"tras", wide}}; });
  expect("box: pendulum has two", [&](auto& o) { o.boxes = {{"pendulum", wide}, {"pendulum", wide}}; });
  expect("needs 1 interval(s), not 2", [](auto& o) { o.boxes = {{"pendulum", {Vector::Zero(2), Vector::Ones(2)}}}; });
}

TEST_F(ComparisonDirectory, HoldsTheResultsInTheirOrder) {
  FakeTrials fake;
  const ComparisonOutcome outcome = run_comparison(small_options(), path(), fake.execution());
  EXPECT_EQ(outcome.done, 12);
  EXPECT_EQ(outcome.found, 0);
  ASSERT_TRUE(outcome.summary);
  std::string expected = "system,strategy,trial,step,metric,value\n";
  for (const ComparisonJob& job : comparison_jobs(small_options())) {
    const TrialRecord record = made_up(job, 6);
    for (int k = 0; k <= 6; ++k) {
      const RecordedStep& step = record.steps[static_cast<std::size_t>(k)];
      const std::string start =
          job.system + "," + job.strategy + "," + std::to_string(job.trial) + "," + std::to_string(k);
      expected += start + ",rmse,#\n" + start + ",coverage90," + (std::isnan(step.values[1]) ? "" : "#") + "\n" +
                  start + ",criterion," + (std::isnan(step.criterion) ? "" : "#") + "\n";
    }
  }
  std::string shape;  // the file with every value that is there as #
  std::istringstream lines(results());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t comma = line.rfind(',');
    shape += comma + 1 == line.size() || line.ends_with("value") ? line : line.substr(0, comma) + ",#";
    shape += '\n';
  }
  EXPECT_EQ(shape, expected);
  EXPECT_TRUE(content(path() + "/timings.csv")
                  .starts_with("system,strategy,trial,step,part,seconds\n"
                               "kink,random,0,0,choose,0."));
  EXPECT_NE(content(path() + "/summary.json").find("\"steps_to_random\""), std::string::npos);
}

TEST_F(ComparisonDirectory, ResultsDoNotDependOnThreads) {
  FakeTrials fake;
  run_comparison(small_options(), path("one"), fake.execution(1));
  run_comparison(small_options(), path("four"), fake.execution(4));
  EXPECT_EQ(results("one"), results("four"));
  EXPECT_EQ(content(path("one") + "/summary.json"), content(path("four") + "/summary.json"));
}

TEST_F(ComparisonDirectory, RealTrialsDoNotDependOnThreads) {
  ComparisonOptions options{.systems = {"kink", "pendulum"}, .trials = 1, .explore = {.steps = 2}, .boxes = {}};
  options.boxes = {{"pendulum", {Vector::Constant(1, -1.0), Vector::Constant(1, 1.0)}}};
  run_comparison(options, path("one"), {.threads = 1});
  const ComparisonOutcome outcome = run_comparison(options, path("two"), {.threads = 2});
  EXPECT_EQ(results("one"), results("two"));
  // Paired: all strategies begin with the same model.
  ASSERT_TRUE(outcome.summary);
  for (const SystemSummary& system : outcome.summary->systems) {
    const std::vector<StrategySummary>& strategies = system.metrics[0].strategies;
    EXPECT_EQ(strategies[0].steps[0].value.mean, strategies[3].steps[0].value.mean) << system.system;
  }
  // The box matters.
  options.boxes.clear();
  run_comparison(options, path("narrow"), {.threads = 2});
  EXPECT_NE(results("narrow"), results("two"));
}

TEST_F(ComparisonDirectory, ObservedStatesAreAnotherComparison) {
  ComparisonOptions options{
      .systems = {"pendulum"}, .strategies = {"random"}, .trials = 1, .explore = {.steps = 1}, .boxes = {}};
  run_comparison(options, path("latent"), {.threads = 1});
  EXPECT_EQ(results("latent").find("rmse.y_th_dot"), std::string::npos);
  options.observe_states = true;
  run_comparison(options, path(), {.threads = 1});
  EXPECT_NE(results().find("pendulum,random,0,1,rmse.y_th_dot,"), std::string::npos);
  expect_refused(options, "observe_states is false there, not true", "latent");
  options.observe_states = false;
  expect_refused(options, "observe_states is true there, not false");
}

TEST_F(ComparisonDirectory, LimitsAreAnotherComparisonAndCounted) {
  ComparisonOptions options{
      .systems = {"kink", "pendulum"}, .strategies = {"random"}, .trials = 2, .explore = {.steps = 2}, .boxes = {}};
  options.limits = {{"th", -0.05, 0.05}};
  const ComparisonOutcome outcome = run_comparison(options, path(), {.threads = 1});
  ASSERT_TRUE(outcome.summary);
  EXPECT_TRUE(outcome.summary->systems[0].violations.empty());  // the kink has no such output
  ASSERT_EQ(outcome.summary->systems[1].violations.size(), 1U);
  const StrategyViolations& found = outcome.summary->systems[1].violations[0];
  double outside = 0.0;
  for (const std::string trial : {"0", "1"}) {
    for (const std::string step : {"1", "2"}) {
      const std::string one = "pendulum,random," + trial + "," + step + ",violation,1\n";
      outside += results().find(one) != std::string::npos ? 0.25 : 0.0;
    }
  }
  EXPECT_EQ(found.steps.value, outside);
  EXPECT_GT(found.initial, 0.0);
  EXPECT_EQ(results().find("kink,random,0,1,violation"), std::string::npos);
  for (const MetricSummary& metric : outcome.summary->systems[1].metrics) {
    EXPECT_EQ(metric.metric.find("violation"), std::string::npos);
  }
  ComparisonOptions other = options;
  other.delta = 0.1;
  expect_refused(other, "limits is {\"outputs\":{\"th\":{\"low\":-0.05,\"high\":0.05}},\"delta\":0.05} there, not");
  other.limits.clear();
  expect_refused(other, "there, not {}");
}

TEST_F(ComparisonDirectory, OfAVersionThatKnewNeitherObservedStatesNorLimitsGoesOn) {
  FakeTrials fake;
  ComparisonOptions options = small_options();
  options.wide_tests = true;  // as all tests were then
  run_comparison(options, path(), fake.execution());
  std::string text = content(path() + "/comparison.json");
  const std::string fields = "  \"observe_states\": false,\n  \"wide_tests\": true,\n  \"limits\": {},\n";
  const std::size_t at = text.find(fields);
  ASSERT_NE(at, std::string::npos);
  write(path() + "/comparison.json", text.erase(at, fields.size()));
  FakeTrials again;
  EXPECT_EQ(run_comparison(options, path(), again.execution()).found, 12);
  EXPECT_EQ(again.runs, 0);
  write(path() + "/comparison.json", text);
  ComparisonOptions observed = options;
  observed.observe_states = true;
  expect_refused(observed, "observe_states is false there, not true");
  write(path() + "/comparison.json", text);
  expect_refused(small_options(), "wide_tests is true there, not false");
}

TEST_F(ComparisonDirectory, GoesOnWhereItWasStopped) {
  FakeTrials fake;
  run_comparison(small_options(), path("whole"), fake.execution());
  std::atomic<bool> stop{false};
  ComparisonExecution execution = fake.execution();
  execution.stop = &stop;
  // In the middle of the sixth trial.
  execution.on_progress = [&](const ComparisonProgress& progress) { stop = progress.fraction > 5.5 / 12.0; };
  const ComparisonOutcome stopped = run_comparison(small_options(), path(), execution);
  EXPECT_EQ(stopped.done, 5);
  EXPECT_FALSE(stopped.summary);
  EXPECT_FALSE(fs::exists(path() + "/results.csv"));
  // All strategies have come equally far.
  EXPECT_TRUE(fs::exists(path() + "/trials/pendulum-totmi-000.json"));
  EXPECT_FALSE(fs::exists(path() + "/trials/kink-random-002.json"));

  FakeTrials rest;
  const ComparisonOutcome outcome = run_comparison(small_options(), path(), rest.execution());
  EXPECT_EQ(outcome.found, 5);
  EXPECT_EQ(outcome.done, 12);
  EXPECT_EQ(rest.runs, 7);
  EXPECT_EQ(results(), results("whole"));
  EXPECT_EQ(content(path() + "/summary.json"), content(path("whole") + "/summary.json"));
}

TEST_F(ComparisonDirectory, RunsDamagedTrialsAgain) {
  FakeTrials fake;
  run_comparison(small_options(), path(), fake.execution());
  const std::string whole = results();
  const std::string cut = path() + "/trials/kink-totmi-001.json";
  const std::string text = content(cut);
  write(cut, text.substr(0, text.size() / 2));
  // A sound file, but of another trial.
  fs::copy_file(path() + "/trials/kink-random-001.json", path() + "/trials/kink-random-002.json",
                fs::copy_options::overwrite_existing);
  FakeTrials again;
  ComparisonExecution execution = again.execution();
  std::vector<std::string> damaged;
  execution.on_damaged = [&](const std::string& why) {
    EXPECT_EQ(again.runs, 0);
    damaged.push_back(why);
  };
  run_comparison(small_options(), path(), execution);
  EXPECT_EQ(again.runs, 2);
  ASSERT_EQ(damaged.size(), 2U);
  EXPECT_TRUE(damaged[0].starts_with(path() + "/trials/kink-random-002.json: expected version")) << damaged[0];
  EXPECT_TRUE(damaged[1].starts_with(cut + ": damaged file of a trial")) << damaged[1];
  EXPECT_EQ(results(), whole);
}

TEST_F(ComparisonDirectory, MayGrow) {
  FakeTrials fake;
  run_comparison(small_options(), path(), fake.execution());
  ComparisonOptions larger = small_options();
  larger.trials = 4;
  larger.systems.emplace_back("tras");
  larger.strategies = {"randext", "random", "totmi"};
  FakeTrials more;
  EXPECT_EQ(run_comparison(larger, path(), more.execution()).found, 12);
  EXPECT_EQ(more.runs, 3 * 3 * 4 - 12);
  run_comparison(larger, path("fresh"), more.execution());
  EXPECT_EQ(results(), results("fresh"));
  EXPECT_EQ(content(path() + "/comparison.json"), content(path("fresh") + "/comparison.json"));
  expect_refused(small_options(), "systems is [\"kink\",\"pendulum\",\"tras\"]");
}

TEST_F(ComparisonDirectory, HasNoResultsOfASmallerComparison) {
  FakeTrials fake;
  run_comparison(small_options(), path(), fake.execution());
  const std::string smaller = results();
  const std::atomic<bool> stop{true};
  ComparisonExecution execution = fake.execution();
  execution.stop = &stop;
  // Nothing to do: the results are those of this comparison.
  EXPECT_TRUE(run_comparison(small_options(), path(), execution).summary);
  EXPECT_EQ(results(), smaller);
  ComparisonOptions larger = small_options();
  larger.trials = 4;
  EXPECT_FALSE(run_comparison(larger, path(), execution).summary);
  for (const char* const name : {"/results.csv", "/timings.csv", "/summary.json"}) {
    EXPECT_FALSE(fs::exists(path() + name)) << name;
  }
  EXPECT_EQ(run_comparison(larger, path(), fake.execution()).found, 12);
  EXPECT_TRUE(results().size() > smaller.size());
}

TEST_F(ComparisonDirectory, RefusesAnotherComparison) {
  FakeTrials fake;
  run_comparison(small_options(), path(), fake.execution());
  const auto expect = [&](const std::string& words, const auto& change) {
    ComparisonOptions options = small_options();
    change(options);
    expect_refused(options, words);
  };
  expect("steps is 6 there, not 7", [](auto& o) { o.explore.steps = 7; });
  expect("initial is 5 there, not 4", [](auto& o) { o.explore.initial = 4; });
  expect("retrain_every is 1 there, not 2", [](auto& o) { o.explore.retrain_every = 2; });
  expect("seed is 0 there, not 1", [](auto& o) { o.explore.seed = 1; });
  expect("paper is false there, not true", [](auto& o) { o.paper = true; });
  expect("angles is false there, not true", [](auto& o) { o.angles = true; });
  expect("trials is 3 there, this one has fewer: 2", [](auto& o) { o.trials = 2; });
  expect("strategies is [\"random\",\"totmi\"] there, this one leaves out some",
         [](auto& o) { o.strategies = {"random"}; });
  expect("the box of pendulum is", [](auto& o) {
    o.boxes = {{"pendulum", {Vector::Constant(1, -1.0), Vector::Constant(1, 1.0)}}};
  });
}

TEST_F(ComparisonDirectory, RefusesWhatIsNoComparison) {
  fs::create_directory(path());
  write(path() + "/notes.txt", "mine");
  expect_refused(small_options(), "holds something else");
  write(path("file"), "mine");
  expect_refused(small_options(), "it is a file", "file");
  expect_refused(small_options(), "cannot make the directory", "no/where");
  write(path() + "/comparison.json", "{\"format\": ");
  expect_refused(small_options(), "its comparison.json is damaged");
  write(path() + "/comparison.json", "{\"format\": \"other\"}");
  expect_refused(small_options(), "format is \"other\" there");
}

TEST_F(ComparisonDirectory, AFailedTrialDoesNotHoldUpOthers) {
  FakeTrials fake;
  ComparisonExecution execution = fake.execution();
  execution.run_job = [sound = execution.run_job](const ComparisonJob& job, const std::function<bool()>& go_on) {
    std::optional<TrialRecord> record = sound(job, go_on);
    if (job == ComparisonJob{"kink", "random", 1}) {
      record->steps.resize(4);
      record_failure(*record, 6, "no factor");
    }
    return record;
  };
  const auto expect_failed = [](const ComparisonOutcome& outcome) {
    EXPECT_EQ(outcome.done, 12);
    ASSERT_EQ(outcome.failed.size(), 1U);
    EXPECT_EQ(outcome.failed[0].job, (ComparisonJob{"kink", "random", 1}));
    EXPECT_EQ(outcome.failed[0].message, "no factor");
    ASSERT_TRUE(outcome.summary);
    const StrategySummary& random = outcome.summary->systems[0].metrics[0].strategies[0];
    EXPECT_TRUE(std::isfinite(random.steps.front().value.mean));
    EXPECT_TRUE(std::isinf(random.steps.back().value.mean));
    EXPECT_TRUE(std::isfinite(random.steps.back().value.median));
  };
  expect_failed(run_comparison(small_options(), path(), execution));
  const std::string written = results();
  EXPECT_NE(written.find("kink,random,1,3,rmse,0."), std::string::npos);
  EXPECT_NE(written.find("kink,random,1,4,rmse,\n"), std::string::npos);
  // It would fail again: it is not run again.
  FakeTrials rest;
  expect_failed(run_comparison(small_options(), path(), rest.execution()));
  EXPECT_EQ(rest.runs, 0);
  EXPECT_EQ(results(), written);
}

TEST_F(ComparisonDirectory, ARealTrialKeepsWhatWasBeforeItsFailure) {
  const ComparisonOptions options{
      .systems = {"kink"}, .strategies = {"random"}, .trials = 1, .explore = {.steps = 3}, .boxes = {}};
  ComparisonExecution execution{.threads = 1};
  int reports = 0;
  execution.on_progress = [&](const ComparisonProgress& /*progress*/) {  // called within the trial, after each step
    if (++reports == 2) {
      throw NumericalError("no factor");
    }
  };
  const ComparisonOutcome outcome = run_comparison(options, path(), execution);
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(outcome.failed[0].message, "no factor");
  EXPECT_NE(results().find("kink,random,0,1,rmse,"), std::string::npos);
  EXPECT_EQ(results().find("kink,random,0,1,rmse,\n"), std::string::npos);
  EXPECT_NE(results().find("kink,random,0,2,rmse,\n"), std::string::npos);
  EXPECT_NE(results().find("kink,random,0,3,rmse,\n"), std::string::npos);
}

TEST_F(ComparisonDirectory, AnotherFailureEndsTheComparison) {
  FakeTrials fake;
  ComparisonExecution execution = fake.execution();
  execution.run_job = [&](const ComparisonJob&, const std::function<bool()>&) -> std::optional<TrialRecord> {
    ++fake.runs;
    throw std::runtime_error("disk full");
  };
  EXPECT_EQ(message_of<std::runtime_error>([&] { run_comparison(small_options(), path(), execution); }), "disk full");
  EXPECT_EQ(fake.runs, 1);
}

TEST_F(ComparisonDirectory, TrialsRunElsewhereGiveTheSameBytes) {
  const ComparisonOptions options = small_options();
  FakeTrials trials;
  run_comparison(options, path("here"), trials.execution());

  trials::ComparisonDirectory elsewhere(options, path("there"));
  const std::vector<ComparisonJob> jobs = elsewhere.left();
  ASSERT_EQ(jobs.size(), comparison_jobs(options).size());
  EXPECT_EQ(jobs[1].trial, 0U);  // all strategies advance together
  for (const ComparisonJob& job : jobs) {
    EXPECT_FALSE(elsewhere.finish().summary);
    elsewhere.store(job, format_trial_record(job, made_up(job, options.explore.steps)));
  }
  EXPECT_TRUE(elsewhere.left().empty());
  EXPECT_TRUE(elsewhere.finish().summary);
  EXPECT_EQ(content(path("there") + "/results.csv"), content(path("here") + "/results.csv"));
  EXPECT_THROW(elsewhere.store(jobs[0], "{"), InputError);
  EXPECT_THROW(elsewhere.store(jobs[0], format_trial_record(jobs[1], made_up(jobs[1], 6))), InputError);
}

TEST_F(ComparisonDirectory, ASystemOfOnesOwnIsComparedByItsName) {
  std::unique_ptr<systems::System> heavy = systems::make_system("pendulum");
  heavy->set_parameter("m", 0.2);
  ComparisonOptions options{
      .systems = {"pendulum"}, .strategies = {"random"}, .trials = 1, .explore = {.steps = 2}, .boxes = {}};
  const auto first_value = [&] {
    const auto record = trial_runner(options)({"pendulum", "random", 0}, [] { return true; });
    return record.value().steps.front().values.front();
  };
  const double plain = first_value();
  options.own_systems.push_back(std::move(heavy));
  options.validate();
  EXPECT_NE(first_value(), plain);
}

TEST_F(ComparisonDirectory, ATrialWhoseTrainingIsStoppedIsGivenUp) {
  const std::atomic<bool> stop{true};
  ComparisonOptions options{
      .systems = {"kink"}, .strategies = {"random"}, .trials = 1, .explore = {.steps = 2}, .boxes = {}};
  options.explore.fit.stop = &stop;
  EXPECT_FALSE(trial_runner(options)({"kink", "random", 0}, [] { return true; }));
}

}  // namespace
}  // namespace gpilot::trials
