#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/inference/batches.hpp"
#include "gpilot/io/recordings.hpp"

namespace gpilot::io {

/// Recordings that stay in their CSV files: every read goes through a file once and holds no more rows than the windows
/// that are open.
class CsvRecordings final : public inference::Recordings {
 public:
  /// Goes through every file once to count and check, as for_each_recording_row does. `rows` selects rows of each file
  /// (empty: all). Throws InputError.
  CsvRecordings(const std::vector<std::string>& files, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, std::string_view rows = {}, std::optional<double> dt = {});

  const RecordingInfo& info(Index recording) const { return part(recording).info; }
  /// Seconds between the rows of a recording; 1 if nothing tells.
  double dt(Index recording) const { return info(recording).dt.value_or(1.0); }
  /// What is peculiar about the files, a line each.
  const std::vector<std::string>& notes() const { return notes_; }

  Index count() const override { return static_cast<Index>(parts_.size()); }
  Index rows(Index recording) const override { return info(recording).rows; }
  void read(std::span<const inference::Window> windows, const Visit& visit) const override;

 private:
  /// A recording within its file.
  struct Part {
    RecordingInfo info;
    std::size_t file = 0;
    Index before = 0;  ///< rows of the file's recordings before it
  };

  const Part& part(Index recording) const { return parts_[static_cast<std::size_t>(recording)]; }
  void scan(std::size_t file);
  bool read_file(std::size_t file, std::span<const inference::Window> windows, std::size_t first,
                 const Visit& visit) const;

  std::vector<RecordingQuery> files_;
  std::vector<Part> parts_;
  std::vector<std::string> notes_;
};

}  // namespace gpilot::io
