#include "controls_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/io/table.hpp"
#include "new_data.hpp"

namespace gpilot::cli {

namespace {

/// All rows of the named columns.
Matrix control_columns(const systems::System& system, const std::string& path) {
  const io::Table table = io::read_csv(path);
  print_note(table.note.empty() ? "" : path + ": " + table.note);
  Matrix controls(table.rows(), system.control_dim());
  for (Index i = 0; i < controls.cols(); ++i) {
    const std::string& name = system.spec().controls[static_cast<std::size_t>(i)].name;
    const Index column = table.find(name);
    if (column < 0) {
      throw InputError(fmt::format("{}: there is no column '{}' for the control of {} (columns: {})", path, name,
                                   system.spec().name, fmt::join(table.columns, ", ")));
    }
    controls.col(i) = table.values.col(column);
  }
  return controls;
}

}  // namespace

Matrix read_controls(const systems::System& system, const std::string& path, std::optional<Index> steps) {
  Matrix controls = control_columns(system, path);
  const Index rows = controls.rows();
  if (!steps) {
    steps = controls.row(rows - 1).array().isNaN().all() ? rows - 1 : rows;
  }
  if (rows < *steps) {
    throw InputError(fmt::format("{}: {} steps need {} rows of controls, the file has {}", path, *steps, *steps, rows));
  }
  controls.conservativeResize(*steps, Eigen::NoChange);
  for (Index i = 0; i < controls.cols(); ++i) {
    for (Index t = 0; t < *steps; ++t) {
      if (std::isnan(controls(t, i))) {
        throw InputError(fmt::format("{}: the control '{}' is missing in row {}, but {} steps need it", path,
                                     system.spec().controls[static_cast<std::size_t>(i)].name, t, *steps));
      }
    }
  }
  return controls;
}

}  // namespace gpilot::cli
