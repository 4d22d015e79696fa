#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/inference/batches.hpp"

namespace gpilot::study {

/// Recordings that stay in their CSV files: every read goes through a file once and holds no more rows than the windows
/// that are open.
class CsvRecordings final : public inference::Recordings {
 public:
  /// Goes through every file once to count and check: columns, times, controls that are used. `rows` selects rows of
  /// each file as in parse_row_range (empty: all). Throws InputError as read_excerpt, sequence_from and time_step do.
  CsvRecordings(std::vector<std::string> files, std::vector<std::string> inputs, std::vector<std::string> outputs,
                std::string_view rows = {}, std::optional<double> dt = {});

  /// Seconds between the rows of a recording.
  double dt(Index recording) const { return files_[static_cast<std::size_t>(recording)].dt; }

  Index count() const override { return static_cast<Index>(files_.size()); }
  Index rows(Index recording) const override { return files_[static_cast<std::size_t>(recording)].rows; }
  void read(std::span<const inference::Window> windows, const Visit& visit) const override;

 private:
  struct File {
    std::string path;
    std::vector<std::size_t> columns;  ///< inputs, then outputs
    Index first_row = 0;
    Index rows = 0;
    double dt = 1.0;
  };

  File scan(const std::string& path, std::string_view rows, std::optional<double> dt) const;
  bool read_file(const File& file, std::span<const inference::Window> windows, std::size_t first,
                 const Visit& visit) const;

  std::vector<std::string> inputs_, outputs_;
  std::vector<File> files_;
};

}  // namespace gpilot::study
