#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/ssm/data.hpp"

/// From the named columns of a CSV file to the recordings that a model learns from. A file is one recording, or one for
/// every run of rows with the same number in its column `sequence`. Its times are in the column `t`; where there is
/// none, in the one column that is called time, Time, TIME, timestamp or Timestamp, holds time stamps, or is called T
/// and stands first. Rows missing from a regular clock are filled: their outputs are missing, their inputs those of the
/// row before.
namespace gpilot::io {

/// Rows begin <= r < end, as Python counts.
struct RowRange {
  Index begin = 0;
  Index end = 0;

  bool operator==(const RowRange&) const = default;
};

/// Reads "A:B", "A:", ":B" or ":" for a table of `rows` rows; an end beyond the last row is that row, as in Python.
/// Throws InputError for any other text and for a range without a row.
RowRange parse_row_range(std::string_view text, Index rows);

/// The same before the number of rows is known: an open end is the largest number there is, and a range without a row
/// is not an error yet.
RowRange parse_row_bounds(std::string_view text);

/// What to read of a file.
struct RecordingQuery {
  std::string file = {};
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::string rows = {};          ///< rows of the file as above; empty: all
  std::optional<double> dt = {};  ///< seconds between rows; given, times are not looked at
  bool outputs_required = true;   ///< otherwise an output without a column is missing in every row
};

/// One recording of a file, its rows apart.
struct RecordingInfo {
  std::string name;          ///< of the file, with its sequence if it has several: for messages
  Index first_row = 0;       ///< row of the file that it begins with
  Index rows = 0;            ///< those that were filled included
  std::optional<double> dt;  ///< seconds between rows: given, or of the times; nothing if there are none
  bool jitters = false;      ///< so that dt is known within a per cent only
};

struct RecordingsInfo {
  std::vector<RecordingInfo> recordings;
  std::string note;  ///< what is peculiar about the file: "data.csv: ..", or ""
};

/// A row of recording number k: its inputs, then its outputs; its time, NaN if there is none. Returns whether to read
/// on.
using OnRecordingRow = std::function<bool(Index k, double time, std::span<const double> values)>;

/// Reads a file once, in memory of a few rows, and nothing after the last row asked for. Throws InputError for columns
/// and rows that are not there, inputs that are missing in a row but the last of a recording, times that no regular
/// clock shows, and as CsvReader does.
RecordingsInfo for_each_recording_row(const RecordingQuery& query, const OnRecordingRow& on_row);

struct Recording {
  RecordingInfo info;
  ssm::Sequence sequence;
  Vector times;  ///< [rows] seconds, or empty
};

/// Reads the recordings of a file; `note` as RecordingsInfo::note.
std::vector<Recording> read_recordings(const RecordingQuery& query, std::string& note);

/// Whether two time steps may be the same; a step of times that jitter is known within a per cent.
bool same_step(double a, double b, bool jitters);
/// Throws InputError unless a recording has the time step of the first one; without times it is 1 s.
void check_same_step(const RecordingInfo& info, const RecordingInfo& first);

}  // namespace gpilot::io
