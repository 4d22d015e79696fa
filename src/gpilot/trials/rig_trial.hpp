#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gpilot/ssm/data.hpp"
#include "gpilot/trials/comparison.hpp"
#include "gpilot/trials/rig_tests.hpp"

/// Trials of strategies on a rig: a process of its own for every trial.
namespace gpilot::trials {

/// The test of a comparison's rig, and its trials.
class RigBench {
 public:
  /// Reads tests that are recorded, so that nothing is written if they cannot be used. Throws InputError.
  RigBench(const ComparisonOptions& options, std::string directory);

  /// Starts the rig and that of the tests only to hear what they are: for a comparison that is not there yet, so that
  /// nothing is written if they cannot be used. Throws InputError for one that declares something else than the
  /// configuration, RigError for one that cannot be started.
  void check_rigs() const;
  /// The tests of a rig are measured once: they are kept in the directory. Throws InputError if recorded tests are not
  /// those that the comparison began with, RigError if the rig cannot be run at all.
  void prepare(const std::atomic<bool>* stop);
  /// "20 tests, 1043 of 1220 rows inside the declared ranges".
  std::string describe() const;
  /// The "rmse" of holding the last value, once the tests are there.
  std::optional<double> held_rmse() const;
  /// A trial whose rig fails is recorded as failed, with the rig's log beside it.
  RunJob runner() const;

 private:
  rig::RigOptions rig_options(const std::string& command, const std::string& log) const;

  const ComparisonOptions& options_;
  std::string directory_;
  ssm::Dataset sequences_;
  CutTests tests_;
  std::shared_ptr<const Evaluation> evaluation_;
};

/// The number that stands for {seed} in a trial.
std::uint64_t rig_seed(std::uint64_t seed, std::uint32_t trial);

/// Whether a trial failed because of its rig, which may have been mended.
bool is_rig_failure(std::string_view message);

}  // namespace gpilot::trials
