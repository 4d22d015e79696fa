#include "gpilot/io/csv_recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "gpilot/core/error.hpp"

namespace gpilot::io {

CsvRecordings::CsvRecordings(const std::vector<std::string>& files, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs, std::string_view rows, std::optional<double> dt) {
  for (const std::string& file : files) {
    files_.push_back({.file = file, .inputs = inputs, .outputs = outputs, .rows = std::string(rows), .dt = dt});
    scan(files_.size() - 1);
  }
}

void CsvRecordings::scan(std::size_t file) {
  RecordingsInfo found = for_each_recording_row(
      files_[file], [](Index /*k*/, double /*time*/, std::span<const double> /*values*/) { return true; });
  Index before = 0;
  for (RecordingInfo& info : found.recordings) {
    if (info.rows < 2) {
      throw InputError(fmt::format("{}: {} row(s), expected at least 2 to learn from", info.name, info.rows));
    }
    const Index rows = info.rows;
    parts_.push_back({std::move(info), file, before});
    before += rows;
  }
  if (!found.note.empty()) {
    notes_.push_back(std::move(found.note));
  }
}

void CsvRecordings::read(std::span<const inference::Window> windows, const Visit& visit) const {
  for (std::size_t first = 0; first < windows.size();) {
    const std::size_t file = part(windows[first].recording).file;
    std::size_t end = first;
    while (end < windows.size() && part(windows[end].recording).file == file) {
      ++end;
    }
    if (!read_file(file, windows.subspan(first, end - first), first, visit)) {
      return;
    }
    first = end;
  }
}

/// Holds the rows from the begin of the first window that is not complete. Rows count through the whole file.
bool CsvRecordings::read_file(std::size_t file, std::span<const inference::Window> windows, std::size_t first,
                              const Visit& visit) const {
  const auto P = static_cast<Index>(files_[file].inputs.size());
  const auto E = static_cast<Index>(files_[file].outputs.size());
  const auto width = static_cast<std::size_t>(P + E);
  const auto begin_of = [&](const inference::Window& w) { return part(w.recording).before + w.begin; };
  const auto end_of = [&](const inference::Window& w) { return part(w.recording).before + w.end; };
  std::deque<double> held;  // row after row
  Index held_from = 0;      // row that `held` begins with
  Index row = 0;
  std::size_t next = 0;
  bool wanted = true;
  const auto deliver = [&](const inference::Window& w) {
    ssm::Sequence sequence{Matrix(w.rows(), P), Matrix(w.rows(), E)};
    std::size_t at = static_cast<std::size_t>(begin_of(w) - held_from) * width;
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
  for_each_recording_row(files_[file], [&](Index /*k*/, double /*time*/, std::span<const double> values) {
    if (row >= begin_of(windows[next])) {
      if (held.empty()) {
        held_from = row;
      }
      held.insert(held.end(), values.begin(), values.end());
    }
    ++row;
    while (wanted && next < windows.size() && end_of(windows[next]) <= row) {
      deliver(windows[next]);
    }
    if (!wanted || next == windows.size()) {
      return false;
    }
    const Index drop =
        std::min(std::max<Index>(0, begin_of(windows[next]) - held_from) * (P + E), static_cast<Index>(held.size()));
    held.erase(held.begin(), held.begin() + drop);
    held_from += drop / (P + E);
    return true;
  });
  if (wanted && next < windows.size()) {
    Index expected = 0;
    for (const Part& p : parts_) {
      expected += p.file == file ? p.info.rows : 0;
    }
    throw InputError(fmt::format("{}: the file has {} rows, {} when it was read first: it changed in between",
                                 files_[file].file, row, expected));
  }
  return wanted;
}

}  // namespace gpilot::io
