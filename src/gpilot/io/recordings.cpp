#include "gpilot/io/recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/io/clock.hpp"
#include "gpilot/io/column_names.hpp"
#include "gpilot/io/csv_reader.hpp"

namespace gpilot::io {

namespace {

constexpr Index kEndOfFile = std::numeric_limits<Index>::max();
constexpr double kQuietJitter = 1e-3;  ///< of the step: below, nothing is said

/// One side of "A:B"; an empty text is `otherwise`. Returns a negative number for what is no row.
Index parse_bound(std::string_view text, Index otherwise) {
  if (text.empty()) {
    return otherwise;
  }
  Index value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Goes through a file.
class RecordingReader {
 public:
  RecordingReader(const RecordingQuery& query, const OnRecordingRow& on_row)
      : query_(query), on_row_(on_row), csv_(query.file) {
    if (query.dt && (!(*query.dt > 0.0) || !std::isfinite(*query.dt))) {
      throw InputError(fmt::format("dt: {} is not a positive number of seconds", *query.dt));
    }
    range_ = parse_row_bounds(query.rows.empty() ? ":" : query.rows);
    find_columns();
    values_.resize(positions_.size());
  }

  RecordingsInfo read() {
    Index row = 0;
    // A range without a row is told with the number of rows.
    while (wanted_ && (row < range_.end || range_.begin >= range_.end) && csv_.next()) {
      if (row >= range_.begin && row < range_.end) {
        take_row(row);
      }
      ++row;
    }
    if (result_.recordings.empty()) {
      parse_row_range(query_.rows, row);  // throws
    }
    end_recording();
    result_.note = note();
    return std::move(result_);
  }

 private:
  void find_columns() {
    const std::span<const std::string> columns = csv_.columns();
    for (const std::string& name : query_.inputs) {
      positions_.push_back(require_column(columns, query_.file, name, "input"));
    }
    for (const std::string& name : query_.outputs) {
      positions_.push_back(query_.outputs_required ? require_column(columns, query_.file, name, "output")
                                                   : find_column(columns, name));
    }
    for (const Index position : positions_) {
      has_units_ = has_units_ || (position >= 0 && !is_asked_for(columns[static_cast<std::size_t>(position)]));
    }
    if (!contains(query_.inputs, "sequence") && !contains(query_.outputs, "sequence")) {
      sequence_ = find_column(columns, "sequence");
    }
    if (!query_.dt) {
      find_time();
    }
  }

  bool is_asked_for(const std::string& name) const {
    return contains(query_.inputs, name) || contains(query_.outputs, name);
  }

  void find_time() {
    const std::span<const std::string> columns = csv_.columns();
    const std::vector<bool>& stamps = csv_.dialect().stamps;
    time_ = contains(columns, "t") ? find_column(columns, "t") : Index{-1};
    if (time_ < 0) {
      std::vector<std::string> candidates;
      for (std::size_t j = 0; j < columns.size(); ++j) {
        // A lone T may be a temperature.
        const bool named = columns[j] == "T" ? j == 0 : is_time_name(columns[j]);
        const bool is_other = std::ranges::find(positions_, static_cast<Index>(j)) != positions_.end();
        if ((named || stamps[j]) && !is_other) {
          candidates.push_back(columns[j]);
        }
      }
      if (candidates.size() == 1) {
        time_ = find_column(columns, candidates.front());
        remarks_.push_back(fmt::format("column '{}' is the time", candidates.front()));
      } else if (candidates.size() > 1) {
        remarks_.push_back(fmt::format("no time is taken from '{}': rename the column that has it to t",
                                       fmt::join(candidates, "' or '")));
      }
    }
    const auto t = static_cast<std::size_t>(time_);
    if (time_ >= 0 && !stamps[t]) {
      const std::vector<std::string>& units = csv_.dialect().units;
      const std::string_view unit = time_unit(units.empty() ? std::string_view{} : units[t], columns[t]);
      seconds_ = seconds_per(unit, query_.file, columns[t]);
      if (seconds_ != 1.0) {
        remarks_.push_back(fmt::format("times in {}", unit));
      }
    }
  }

  void take_row(Index row) {
    const std::span<const double> fields = csv_.values();
    if (sequence_ >= 0) {
      const double id = fields[static_cast<std::size_t>(sequence_)];
      if (!std::isfinite(id)) {
        throw InputError(fmt::format("{}, line {}, column 'sequence': the number of the sequence is missing",
                                     query_.file, csv_.line()));
      }
      if (result_.recordings.empty() || id != id_) {
        end_recording();
        id_ = id;
        begin_recording(fmt::format("{}, sequence {}", query_.file, id), row);
      }
    } else if (result_.recordings.empty()) {
      begin_recording(query_.file, row);
    }
    for (std::size_t i = 0; i < positions_.size(); ++i) {
      values_[i] = positions_[i] < 0 ? kNaN : fields[static_cast<std::size_t>(positions_[i])];
    }
    if (time_ < 0) {
      emit(kNaN, csv_.line(), values_);
      return;
    }
    const double time = seconds_ * fields[static_cast<std::size_t>(time_)];
    if (started_) {
      follow(time, csv_.line(), values_);
      return;
    }
    first_times_.push_back(time);
    first_lines_.push_back(csv_.line());
    first_values_.insert(first_values_.end(), values_.begin(), values_.end());
    if (static_cast<Index>(first_times_.size()) == kClockRows) {
      start_clock();
    }
  }

  void begin_recording(std::string name, Index row) {
    result_.recordings.push_back({.name = std::move(name), .first_row = row, .dt = query_.dt});
    clock_.emplace(query_.file, time_ < 0 ? "" : csv_.columns()[static_cast<std::size_t>(time_)]);
    started_ = false;
    missing_ = -1;
  }

  void end_recording() {
    if (result_.recordings.empty() || time_ < 0 || !wanted_) {
      return;
    }
    if (!started_) {
      start_clock();
    }
    clock_->finish();
    RecordingInfo& recording = result_.recordings.back();
    if (recording.rows > 1) {
      recording.dt = clock_->step();
    }
    recording.jitters = clock_->jitter() > kQuietJitter;
    jitter_ = std::max(jitter_, clock_->jitter());
  }

  /// Finds the step and hands on the rows it was found from.
  void start_clock() {
    clock_->start(first_times_, first_lines_);
    started_ = true;
    const std::size_t width = positions_.size();
    for (std::size_t k = 0; k < first_times_.size() && wanted_; ++k) {
      follow(first_times_[k], first_lines_[k], std::span(first_values_).subspan(k * width, width));
    }
    first_times_.clear();
    first_lines_.clear();
    first_values_.clear();
  }

  void follow(double time, Index line, std::span<const double> values) {
    const Index gap = clock_->add(time, line);
    if (gap > 0) {
      std::vector<double> held = last_values_;
      std::fill(held.begin() + static_cast<std::ptrdiff_t>(query_.inputs.size()), held.end(), kNaN);
      const double last = last_time_;
      for (Index k = 1; k <= gap && wanted_; ++k) {
        emit(last + (time - last) * static_cast<double>(k) / static_cast<double>(gap + 1), line, held);
      }
      filled_ += gap;
    }
    if (wanted_) {
      emit(time, line, values);
    }
    last_values_.assign(values.begin(), values.end());
    last_time_ = time;
  }

  void emit(double time, Index line, std::span<const double> values) {
    if (missing_ >= 0) {  // in the row before: an error unless that is the last one
      throw InputError(fmt::format("{}, line {}, column '{}': the input is missing (only the last row's may be)",
                                   query_.file, missing_line_, query_.inputs[static_cast<std::size_t>(missing_)]));
    }
    for (std::size_t i = 0; i < query_.inputs.size() && missing_ < 0; ++i) {
      missing_ = std::isfinite(values[i]) ? -1 : static_cast<Index>(i);
    }
    missing_line_ = line;
    ++result_.recordings.back().rows;
    wanted_ = on_row_(static_cast<Index>(result_.recordings.size()) - 1, time, values);
  }

  std::string note() const {
    std::vector<std::string> parts;
    if (const std::string dialect = csv_.dialect().note(); !dialect.empty()) {
      parts.push_back(dialect);
    }
    if (has_units_) {
      parts.emplace_back("columns found by their names without units");
    }
    parts.insert(parts.end(), remarks_.begin(), remarks_.end());
    if (sequence_ >= 0 && result_.recordings.size() > 1) {
      parts.push_back(fmt::format("{} sequences", result_.recordings.size()));
    }
    if (filled_ > 0) {
      parts.push_back(
          fmt::format("filled {} missing row{} (outputs missing, inputs held)", filled_, filled_ == 1 ? "" : "s"));
    }
    if (jitter_ > kQuietJitter) {
      parts.push_back(fmt::format("times jitter by up to {:.2g} % of the step", 100.0 * jitter_));
    }
    return parts.empty() ? "" : fmt::format("{}: {}", query_.file, fmt::join(parts, "; "));
  }

  const RecordingQuery& query_;
  const OnRecordingRow& on_row_;
  CsvReader csv_;
  RowRange range_;
  std::vector<Index> positions_;  ///< of the inputs, then the outputs
  Index time_ = -1;
  Index sequence_ = -1;
  double seconds_ = 1.0;    ///< of the times' unit
  bool has_units_ = false;  ///< a column was found by its name without the unit
  RecordingsInfo result_;
  std::vector<std::string> remarks_;
  bool wanted_ = true;
  double id_ = kNaN;
  std::vector<double> values_;
  std::optional<Clock> clock_;
  bool started_ = false;             ///< the clock knows its step
  std::vector<double> first_times_;  ///< of the rows before it does
  std::vector<Index> first_lines_;
  std::vector<double> first_values_;
  std::vector<double> last_values_;
  double last_time_ = 0.0;
  Index missing_ = -1;  ///< an input that is missing in the row before
  Index missing_line_ = 0;
  Index filled_ = 0;
  double jitter_ = 0.0;
};

/// Columns that grow row by row, in blocks, so that growing copies nothing and never holds anything twice.
class GrowingColumns {
 public:
  explicit GrowingColumns(std::size_t columns) : blocks_(columns) {}

  void append(double time, std::span<const double> row) {
    if (rows_ == block_end_) {
      block_rows_ = std::min(2 * block_rows_, kLargestBlock);
      block_end_ += block_rows_;
      for (auto& blocks : blocks_) {
        blocks.emplace_back().reserve(block_rows_);
      }
    }
    blocks_[0].back().push_back(time);
    for (std::size_t j = 0; j < row.size(); ++j) {
      blocks_[j + 1].back().push_back(row[j]);
    }
    ++rows_;
  }

  Index rows() const { return static_cast<Index>(rows_); }

  /// Hands `count` columns over; blocks are freed as they are copied.
  Matrix take(std::size_t first, std::size_t count) {
    Matrix values(rows(), static_cast<Index>(count));
    for (std::size_t j = 0; j < count; ++j) {
      double* next = values.col(static_cast<Index>(j)).data();
      for (std::vector<double>& block : blocks_[first + j]) {
        next = std::ranges::copy(block, next).out;
        block = {};
      }
    }
    return values;
  }

 private:
  static constexpr std::size_t kLargestBlock = 65536;

  std::vector<std::vector<std::vector<double>>> blocks_;
  std::size_t rows_ = 0;
  std::size_t block_rows_ = 128;
  std::size_t block_end_ = 0;
};

}  // namespace

RowRange parse_row_bounds(std::string_view text) {
  const std::size_t colon = text.find(':');
  RowRange range{-1, -1};
  if (colon != std::string_view::npos) {
    range = {parse_bound(text.substr(0, colon), 0), parse_bound(text.substr(colon + 1), kEndOfFile)};
  }
  if (range.begin < 0 || range.end < 0) {
    throw InputError(fmt::format("rows: expected A:B (rows A to B - 1, counted from 0), A: or :B, not '{}'", text));
  }
  return range;
}

RowRange parse_row_range(std::string_view text, Index rows) {
  RowRange range = parse_row_bounds(text);
  range.end = std::min(range.end, rows);
  if (range.begin >= range.end) {
    throw InputError(fmt::format("rows: '{}' selects none of the {} rows", text, rows));
  }
  return range;
}

RecordingsInfo for_each_recording_row(const RecordingQuery& query, const OnRecordingRow& on_row) {
  return RecordingReader(query, on_row).read();
}

std::vector<Recording> read_recordings(const RecordingQuery& query, std::string& note) {
  const std::size_t inputs = query.inputs.size();
  const std::size_t outputs = query.outputs.size();
  std::vector<Recording> recordings;
  GrowingColumns kept(1 + inputs + outputs);
  const auto finish = [&] {
    Recording recording;
    recording.times = kept.take(0, 1).col(0);
    recording.sequence.controls = kept.take(1, inputs);
    recording.sequence.outputs = kept.take(1 + inputs, outputs);
    recordings.push_back(std::move(recording));
    kept = GrowingColumns(1 + inputs + outputs);
  };
  Index current = 0;
  RecordingsInfo info = for_each_recording_row(query, [&](Index k, double time, std::span<const double> values) {
    if (k != current) {
      finish();
      current = k;
    }
    kept.append(time, values);
    return true;
  });
  finish();
  for (std::size_t k = 0; k < recordings.size(); ++k) {
    recordings[k].info = std::move(info.recordings[k]);
    if (recordings[k].times.hasNaN()) {
      recordings[k].times.resize(0);
    }
  }
  note = std::move(info.note);
  return recordings;
}

bool same_step(double a, double b, bool jitters) {
  constexpr double kTolerance = 1e-6;
  constexpr double kJitterStep = 1e-2;
  return std::abs(a - b) <= (jitters ? kJitterStep : kTolerance) * b;
}

void check_same_step(const RecordingInfo& info, const RecordingInfo& first) {
  const double dt = info.dt.value_or(1.0);
  const double expected = first.dt.value_or(1.0);
  if (!same_step(dt, expected, info.jitters || first.jitters)) {
    throw InputError(fmt::format("{}: its rows are {:.6g} s apart, those of {} {:.6g} s; expected the same", info.name,
                                 dt, first.name, expected));
  }
}

}  // namespace gpilot::io
