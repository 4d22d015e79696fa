#include "gpilot/study/csv_recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/study/sequences.hpp"

namespace gpilot::study {

CsvRecordings::CsvRecordings(std::vector<std::string> files, std::vector<std::string> inputs,
                             std::vector<std::string> outputs, std::string_view rows, std::optional<double> dt)
    : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
  for (const std::string& file : files) {
    files_.push_back(scan(file, rows, dt));
  }
}

CsvRecordings::File CsvRecordings::scan(const std::string& path, std::string_view rows,
                                        std::optional<double> dt) const {
  const RowRange range = parse_row_bounds(rows.empty() ? ":" : rows);
  File file{path, {}, range.begin, 0, 1.0};
  SpacingCheck spacing(path, range.begin);
  Index time = -1;
  Index missing = -1;  // a control that is missing in the last row seen: an error unless it is the last of all
  const auto find_columns = [&](std::span<const std::string> names) {
    for (const std::string& name : inputs_) {
      file.columns.push_back(static_cast<std::size_t>(column_of(names, path, name, "input")));
    }
    for (const std::string& name : outputs_) {
      file.columns.push_back(static_cast<std::size_t>(column_of(names, path, name, "output")));
    }
    time = dt ? -1 : std::ranges::find(names, "t") - names.begin();
    time = time == static_cast<Index>(names.size()) ? -1 : time;
  };
  Index row = 0;
  for_each_row(path, find_columns, [&](std::span<const double> values) {
    if (row >= range.begin && row < range.end) {
      if (missing >= 0) {
        throw InputError(missing_control(path, row - 1, inputs_[static_cast<std::size_t>(missing)]));
      }
      for (std::size_t i = 0; i < inputs_.size() && missing < 0; ++i) {
        missing = std::isfinite(values[file.columns[i]]) ? -1 : static_cast<Index>(i);
      }
      if (time >= 0) {
        spacing.add(values[static_cast<std::size_t>(time)]);
      }
      ++file.rows;
    }
    ++row;
    return row < range.end || range.begin >= range.end;
  });
  if (file.rows == 0) {
    parse_row_range(rows, row);  // throws
  }
  if (file.rows < 2) {
    throw InputError(fmt::format("{}: {} row(s), expected at least 2 to learn from", path, file.rows));
  }
  file.dt = dt ? time_step({}, path, dt) : time >= 0 ? spacing.step() : 1.0;
  return file;
}

void CsvRecordings::read(std::span<const inference::Window> windows, const Visit& visit) const {
  for (std::size_t first = 0; first < windows.size();) {
    const Index recording = windows[first].recording;
    std::size_t end = first;
    while (end < windows.size() && windows[end].recording == recording) {
      ++end;
    }
    if (!read_file(files_[static_cast<std::size_t>(recording)], windows.subspan(first, end - first), first, visit)) {
      return;
    }
    first = end;
  }
}

/// Holds the rows from the begin of the first window that is not complete.
bool CsvRecordings::read_file(const File& file, std::span<const inference::Window> windows, std::size_t first,
                              const Visit& visit) const {
  const auto P = static_cast<Index>(inputs_.size());
  const auto E = static_cast<Index>(outputs_.size());
  std::deque<double> held;  // row after row
  const std::size_t width = file.columns.size();
  Index held_from = 0;  // row of the recording that `held` begins with
  Index row = -file.first_row;
  std::size_t next = 0;
  bool wanted = true;
  const auto deliver = [&](const inference::Window& w) {
    ssm::Sequence sequence{Matrix(w.rows(), P), Matrix(w.rows(), E)};
    std::size_t at = static_cast<std::size_t>(w.begin - held_from) * width;
    for (Index t = 0; t < w.rows(); ++t) {
      for (Index i = 0; i < P; ++i) {
        sequence.controls(t, i) = held[at++];
      }
      for (Index e = 0; e < E; ++e) {
        sequence.outputs(t, e) = held[at++];
      }
    }
    wanted = visit(first + next, std::move(sequence));
    ++next;
  };
  for_each_row(
      file.path, [](std::span<const std::string> /*names*/) {},
      [&](std::span<const double> values) {
        if (row >= windows[next].begin) {
          if (held.empty()) {
            held_from = row;
          }
          for (const std::size_t column : file.columns) {
            held.push_back(values[column]);
          }
        }
        ++row;
        while (wanted && next < windows.size() && windows[next].end <= row) {
          deliver(windows[next]);
        }
        if (!wanted || next == windows.size()) {
          return false;
        }
        const Index drop = std::min(std::max<Index>(0, windows[next].begin - held_from) * static_cast<Index>(width),
                                    static_cast<Index>(held.size()));
        held.erase(held.begin(), held.begin() + drop);
        held_from += drop / static_cast<Index>(width);
        return true;
      });
  if (wanted && next < windows.size()) {
    throw InputError(fmt::format("{}: the file has {} rows, {} when it was read first: it changed in between",
                                 file.path, file.first_row + row, file.first_row + file.rows));
  }
  return wanted;
}

}  // namespace gpilot::study
