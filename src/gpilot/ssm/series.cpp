#include "gpilot/ssm/series.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gpilot/core/error.hpp"

namespace gpilot::ssm {

namespace {

void check(const Sequence& s, const Sequence& reference, std::size_t number) {
  if (s.controls.cols() != reference.controls.cols() || s.outputs.cols() != reference.outputs.cols()) {
    throw InputError(fmt::format("sequence {}: {} controls and {} outputs, expected {} and {} as in sequence 0", number,
                                 s.controls.cols(), s.outputs.cols(), reference.controls.cols(),
                                 reference.outputs.cols()));
  }
  if (s.controls.rows() != s.outputs.rows()) {
    throw InputError(fmt::format("sequence {}: {} rows of controls but {} rows of outputs", number, s.controls.rows(),
                                 s.outputs.rows()));
  }
  if (s.rows() < 2) {
    throw InputError(fmt::format("sequence {}: {} row(s), expected at least 2", number, s.rows()));
  }
  for (Index t = 0; t + 1 < s.rows(); ++t) {
    if (!s.controls.row(t).allFinite()) {
      throw InputError(
          fmt::format("sequence {}: a control is missing in row {} (only the last row's may be)", number, t));
    }
  }
  if (s.outputs.array().isInf().any()) {
    throw InputError(fmt::format("sequence {}: an output is infinite", number));
  }
}

}  // namespace

Series concatenate(const Dataset& data) {
  if (data.empty()) {
    throw InputError("no data: expected at least one sequence");
  }
  Index n = 0;
  for (std::size_t k = 0; k < data.size(); ++k) {
    check(data[k], data.front(), k);
    n += data[k].rows();
  }
  Series series;
  series.controls.resize(data.front().controls.cols(), n);
  series.outputs.resize(data.front().outputs.cols(), n);
  series.first.assign(static_cast<std::size_t>(n), false);
  series.broad.assign(static_cast<std::size_t>(n), false);
  Index row = 0;
  for (const Sequence& s : data) {
    series.start.push_back(row);
    series.first[static_cast<std::size_t>(row)] = true;
    series.broad[static_cast<std::size_t>(row)] = s.broad_start;
    series.controls.middleCols(row, s.rows()) = s.controls.transpose();
    series.outputs.middleCols(row, s.rows()) = s.outputs.transpose();
    row += s.rows();
    if (!series.controls.col(row - 1).allFinite()) {
      series.controls.col(row - 1).setZero();
    }
  }
  series.start.push_back(n);
  return series;
}

}  // namespace gpilot::ssm
