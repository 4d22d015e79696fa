#include "gpilot/trials/rig_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/explore/slew_box.hpp"
#include "gpilot/io/recordings.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/declared.hpp"
#include "gpilot/study/rig_run.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/trials/test_set.hpp"
#include "gpilot/trials/trajectory_test.hpp"

namespace gpilot::trials {

namespace {

namespace fs = std::filesystem;

constexpr Index kRigTestsPerKind = 5;
constexpr Index kEnoughRows = kTestSteps / 2;  ///< a test that leaves the ranges earlier is drawn again
constexpr Index kMostRigDraws = 10;
constexpr std::string_view kSeed = "{seed}";
constexpr const char* kAfterReset = "after_reset";

/// The declared ranges of outputs; +-infinity where there is none.
Box output_ranges(const ssm::ModelSpec& spec) {
  const auto E = static_cast<Index>(spec.outputs.size());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Box ranges{Vector::Constant(E, -kInfinity), Vector::Constant(E, kInfinity)};
  for (Index e = 0; e < E; ++e) {
    if (const ssm::Range* range = ssm::range_of(spec, spec.outputs[static_cast<std::size_t>(e)])) {
      ranges.low(e) = range->low;
      ranges.high(e) = range->high;
    }
  }
  return ranges;
}

/// How many rows there are before an output leaves its range; angles are taken to the nearest turn.
Index rows_within(const ssm::Sequence& sequence, const Box& ranges, const Vector& turns) {
  for (Index row = 0; row < sequence.rows(); ++row) {
    for (Index e = 0; e < turns.size(); ++e) {
      const double middle = 0.5 * (ranges.low(e) + ranges.high(e));
      const double y = ssm::nearest_turn(sequence.outputs(row, e), middle, std::isfinite(middle) ? turns(e) : 0.0);
      if (y < ranges.low(e) || y > ranges.high(e)) {
        return row;
      }
    }
  }
  return sequence.rows();
}

ssm::Sequence first_rows(const ssm::Sequence& sequence, Index rows) {
  return {.controls = sequence.controls.topRows(rows),
          .outputs = sequence.outputs.topRows(rows),
          .broad_start = sequence.broad_start};
}

/// A rig under test controls. One that can be reset is; any other is started for every sequence.
class TestMaker {
 public:
  TestMaker(const study::StudyConfig& config, const rig::RigOptions& options)
      : config_(config), options_(options), ranges_(output_ranges(config.model)), turns_(config.model.turns()) {}

  /// The first draw that stays inside for long, or the one that stays longest.
  ssm::Sequence test(TestKind kind) {
    ssm::Sequence best;
    Index most = -1;
    for (Index draw = 0; draw < kMostRigDraws && most <= kEnoughRows; ++draw) {
      ssm::Sequence sequence = measure(test_controls(config_.box, kind, kFirstTestTrial + drawn_++));
      if (const Index rows = rows_within(sequence, ranges_, turns_); rows > most) {
        most = rows;
        best = std::move(sequence);
      }
    }
    return best;
  }

 private:
  /// Row 0 of a sequence.
  ssm::Sequence begin() {
    if (!rig_ || !rig_->traits().can_reset) {
      rig_.reset();
      rig::RigOptions options = options_;
      options.command = with_seed(options.command, kFirstTestSeed + drawn_);
      rig_ = study::start_rig(options, config_);
    }
    Vector outputs = Vector::Constant(turns_.size(), kNaN);
    const bool resets = rig_->traits().can_reset;
    if (resets) {
      const Vector measured = study::reset_rig(*rig_, static_cast<Index>(kFirstTestSeed + drawn_));
      outputs = measured.size() > 0 ? measured : outputs;
    }
    return {.controls = Matrix::Constant(1, config_.box.low.size(), kNaN),
            .outputs = outputs.transpose(),
            .broad_start = !resets};
  }

  /// Up to the first step that the rig refuses, or to the end of its episode.
  ssm::Sequence measure(const Matrix& controls) {
    ssm::Sequence sequence = begin();
    Vector previous = config_.explore.safe.size() > 0 ? config_.explore.safe : Vector::Zero(controls.cols());
    for (Index t = 0; t < controls.rows(); ++t) {
      const Box reach = config_.explore.slew.size() > 0 ? explore::slew_box(config_.box, config_.explore.slew, previous)
                                                        : config_.box;
      const Vector control = controls.row(t).transpose().cwiseMax(reach.low).cwiseMin(reach.high);
      const rig::RigAnswer answer = rig_->step(++step_, control);
      if (answer.status != rig::RigStatus::kOk) {
        break;
      }
      previous = answer.applied.value_or(control);
      const Index rows = sequence.rows();
      sequence.controls.row(rows - 1) = previous.transpose();
      sequence.controls.conservativeResize(rows + 1, Eigen::NoChange);
      sequence.controls.row(rows).setConstant(kNaN);
      sequence.outputs.conservativeResize(rows + 1, Eigen::NoChange);
      sequence.outputs.row(rows) = answer.outputs->transpose();
      if (answer.done) {
        break;
      }
    }
    return sequence;
  }

  const study::StudyConfig& config_;
  const rig::RigOptions& options_;
  Box ranges_;
  Vector turns_;
  std::unique_ptr<rig::Rig> rig_;
  Index step_ = 0;
  std::uint32_t drawn_ = 0;
};

/// The recordings of one file, with the time step of the model.
std::vector<io::Recording> recordings_of(const io::RecordingQuery& query, double dt) {
  std::string note;
  std::vector<io::Recording> recordings = io::read_recordings(query, note);
  for (const io::Recording& recording : recordings) {
    if (recording.info.dt && !io::same_step(*recording.info.dt, dt, recording.info.jitters)) {
      throw InputError(fmt::format("{}: {} s from row to row, expected {} s as the configuration says (study.dt)",
                                   recording.info.name, *recording.info.dt, dt));
    }
  }
  return recordings;
}

}  // namespace

std::string with_seed(std::string command, std::uint64_t seed) {
  const std::string number = std::to_string(seed);
  for (std::size_t at = command.find(kSeed); at != std::string::npos; at = command.find(kSeed, at + number.size())) {
    command.replace(at, kSeed.size(), number);
  }
  return command;
}

ssm::Dataset read_test_directory(const std::string& directory, const ssm::ModelSpec& spec) {
  if (!fs::is_directory(directory)) {
    throw InputError(fmt::format("{}: no directory, expected one with CSV files to test models by", directory));
  }
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".csv") {
      files.push_back(entry.path().string());
    }
  }
  if (files.empty()) {
    throw InputError(fmt::format("{}: no file NAME.csv in it, expected at least one to test models by", directory));
  }
  std::ranges::sort(files);
  ssm::Dataset tests;
  for (const std::string& file : files) {
    for (io::Recording& recording :
         recordings_of({.file = file, .inputs = spec.inputs, .outputs = spec.outputs}, spec.dt)) {
      recording.sequence.broad_start = true;
      tests.push_back(std::move(recording.sequence));
    }
  }
  return tests;
}

ssm::Dataset measure_tests(const study::StudyConfig& config, const rig::RigOptions& rig,
                           const std::atomic<bool>* stop) {
  TestMaker maker(config, rig);
  ssm::Dataset tests;
  for (Index kind = 0; kind < kTestKinds; ++kind) {
    for (Index k = 0; k < kRigTestsPerKind && (stop == nullptr || !*stop); ++k) {
      tests.push_back(maker.test(static_cast<TestKind>(kind)));
    }
  }
  return tests;
}

std::string format_tests(const ssm::Dataset& tests, const ssm::ModelSpec& spec) {
  const auto P = static_cast<Index>(spec.inputs.size());
  const auto E = static_cast<Index>(spec.outputs.size());
  Index rows = 0;
  for (const ssm::Sequence& sequence : tests) {
    rows += sequence.rows();
  }
  Matrix values(rows, 3 + P + E);
  Index row = 0;
  for (std::size_t k = 0; k < tests.size(); ++k) {
    const Index n = tests[k].rows();
    values.col(0).segment(row, n).setConstant(static_cast<double>(k + 1));
    values.col(1).segment(row, n) = systems::time_grid(n, spec.dt);
    values.block(row, 2, n, P) = tests[k].controls;
    values.block(row, 2 + P, n, E) = tests[k].outputs;
    values.col(2 + P + E).segment(row, n).setConstant(tests[k].broad_start ? 0.0 : 1.0);
    row += n;
  }
  io::Table table;
  table.append(std::vector<std::string>{"sequence", "t"}, values.leftCols(2));
  table.append(spec.inputs, values.middleCols(2, P));
  table.append(spec.outputs, values.middleCols(2 + P, E));
  table.append(std::vector<std::string>{kAfterReset}, values.rightCols(1));
  return io::format_csv(table);
}

ssm::Dataset read_tests(const std::string& file, const ssm::ModelSpec& spec) {
  std::vector<std::string> outputs = spec.outputs;
  outputs.emplace_back(kAfterReset);
  ssm::Dataset tests;
  for (io::Recording& recording : recordings_of({.file = file, .inputs = spec.inputs, .outputs = outputs}, spec.dt)) {
    Matrix& y = recording.sequence.outputs;
    recording.sequence.broad_start = !(y(0, y.cols() - 1) == 1.0);
    y.conservativeResize(Eigen::NoChange, y.cols() - 1);
    tests.push_back(std::move(recording.sequence));
  }
  return tests;
}

CutTests cut_tests(const ssm::Dataset& sequences, const ssm::ModelSpec& spec) {
  CutTests cut{.tests = {.inputs = spec.inputs, .outputs = spec.outputs, .sequences = {}, .turns = spec.turns()}};
  const Box ranges = output_ranges(spec);
  for (const ssm::Sequence& sequence : sequences) {
    const Index rows = rows_within(sequence, ranges, cut.tests.turns);
    cut.measured += sequence.rows();
    cut.kept += rows;
    if (rows > kFewestFreeSteps) {
      cut.tests.sequences.push_back(first_rows(sequence, rows));
    }
  }
  if (cut.tests.sequences.empty()) {
    throw InputError(
        fmt::format("tests: none of {} sequence(s) stays within the declared ranges of the outputs for {} "
                    "steps; expected ranges (output.low, output.high) that cover where tests go",
                    sequences.size(), kFewestFreeSteps));
  }
  return cut;
}

}  // namespace gpilot::trials
