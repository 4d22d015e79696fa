#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpilot/trials/comparison.hpp"

namespace gpilot::trials {

/// The directory of a comparison, see comparison.hpp for what it holds. Loading and storing may run in parallel.
class ComparisonStore {
 public:
  /// Makes the directory, or checks that what it holds is this comparison or a part of it.
  /// Throws InputError, before anything is changed, if it is not.
  ComparisonStore(const ComparisonOptions& options, const std::string& directory);

  /// Whether a comparison, whichever it is, is in the directory.
  static bool is_there(const std::string& directory);

  std::string path_of(const ComparisonJob& job) const;
  bool has(const ComparisonJob& job) const;
  /// Nothing if the file is damaged; `why` says where.
  std::optional<TrialRecord> load(const ComparisonJob& job, std::string& why) const;
  void store(const ComparisonJob& job, const TrialRecord& record) const;

  /// results.csv and timings.csv of all trials, and summary.json.
  void write_results(std::span<const ComparisonJob> jobs, std::span<const TrialRecord> records,
                     const ComparisonSummary& summary) const;

 private:
  std::filesystem::path directory_;
  Index steps_;
};

}  // namespace gpilot::trials
