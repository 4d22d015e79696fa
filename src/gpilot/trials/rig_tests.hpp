#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "gpilot/rig/rig.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/trials/evaluation.hpp"

/// What the models of a rig are tested by: measured sequences, each cut where it leaves the declared ranges of outputs,
/// which are where tests go (docs/results/protocol.md).
namespace gpilot::trials {

/// No trial has it as {seed}: theirs end below (ComparedRig). Tests have it and those that follow, as {seed} and as the
/// seed of a reset.
inline constexpr std::uint64_t kFirstTestSeed = 2'100'000'000;

/// The command with {seed} replaced.
std::string with_seed(std::string command, std::uint64_t seed);

/// All CSV files of a directory, in the order of their names. Their states begin anywhere. Throws InputError for a
/// directory without any, columns that are not there and another time step.
ssm::Dataset read_test_directory(const std::string& directory, const ssm::ModelSpec& spec);

/// Runs the rig under test controls, five sequences of each TestKind, drawn again while they leave the ranges early.
/// Slew limits hold, limits of outputs do not. `rig.command` has its {seed} still. Throws RigError, and InputError for
/// a rig that declares something else than the configuration; fewer sequences once `stop` is true.
ssm::Dataset measure_tests(const study::StudyConfig& config, const rig::RigOptions& rig, const std::atomic<bool>* stop);

/// The sequences of a test as the text of one CSV file, and back.
std::string format_tests(const ssm::Dataset& tests, const ssm::ModelSpec& spec);
ssm::Dataset read_tests(const std::string& file, const ssm::ModelSpec& spec);

/// Tests as models take them.
struct CutTests {
  RecordedTests tests;
  Index measured = 0;  ///< rows
  Index kept = 0;      ///< of them, those before a sequence left the ranges
};

/// Throws InputError if nothing is left.
CutTests cut_tests(const ssm::Dataset& sequences, const ssm::ModelSpec& spec);

}  // namespace gpilot::trials
