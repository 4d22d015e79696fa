#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/next_state.hpp"
#include "new_data.hpp"
#include "options.hpp"

namespace gpilot::cli {

namespace {

struct TransitionArguments {
  std::string model;
  std::string grid;
  std::string output;
  Format format = Format::kText;
};

/// The named columns of the grid; every value must be there.
Matrix columns_of(const io::Table& grid, const std::string& file, std::string_view kind,
                  const std::vector<std::string>& names) {
  Matrix values(grid.rows(), static_cast<Index>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Index column = grid.find(names[i]);
    if (column < 0) {
      throw InputError(fmt::format("{}: there is no column '{}' for the {} of the model (columns: {})", file, names[i],
                                   kind, fmt::join(grid.columns, ", ")));
    }
    values.col(static_cast<Index>(i)) = grid.values.col(column);
    for (Index row = 0; row < grid.rows(); ++row) {
      if (std::isnan(grid.values(row, column))) {
        throw InputError(fmt::format("{}:{}: column '{}' has no value, expected a number", file, row + 2, names[i]));
      }
    }
  }
  return values;
}

io::Table with_next_state(io::Table grid, const std::string& file, const ssm::Model& model) {
  const ssm::NextState next = ssm::next_state(model, columns_of(grid, file, "state", model.spec.states),
                                              columns_of(grid, file, "control", model.spec.inputs));
  for (Index d = 0; d < next.mean.cols(); ++d) {
    const std::string& name = model.spec.states[static_cast<std::size_t>(d)];
    const std::vector<std::string> names{name + "_next_mean", name + "_next_sd"};
    for (const std::string& added : names) {
      if (grid.find(added) >= 0) {
        throw InputError(fmt::format("{}: has a column '{}' already, which the result would add", file, added));
      }
    }
    Matrix block(grid.rows(), 2);
    block << next.mean.col(d), next.sd.col(d);
    grid.append(names, block);
  }
  return grid;
}

void run_transition(const TransitionArguments& arguments) {
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.format == Format::kJson) {
    throw InputError("--format json prints a summary, so the values need a file: give -o FILE.csv, not -o -");
  }
  io::check_not_input(arguments.output, std::vector<std::string>{arguments.model, arguments.grid});
  const ssm::Model model = io::load_model(arguments.model);
  check_present_inputs(model, arguments.model);
  const io::Table table = with_next_state(io::read_csv(arguments.grid), arguments.grid, model);
  if (to_stdout) {
    fmt::print("{}", io::format_csv(table));
    return;
  }
  io::write_csv(arguments.output, table);
  if (arguments.format == Format::kText) {
    fmt::print("wrote the next state at {} points (columns {}) to {}\n", table.rows(), fmt::join(table.columns, ", "),
               arguments.output);
    return;
  }
  const nlohmann::ordered_json summary = {
      {"file", arguments.output}, {"model", arguments.model}, {"rows", table.rows()}, {"columns", table.columns}};
  fmt::print("{}\n", summary.dump(2));
}

}  // namespace

void add_transition(CLI::App& app) {
  const auto arguments = std::make_shared<TransitionArguments>();
  CLI::App* command = app.add_subcommand("transition", "evaluate the learned transition function at given points");
  command->add_option("MODEL", arguments->model, "model file written by 'gpilot fit'")->required();
  command->add_option("GRID", arguments->grid, "points: the model's states and controls as columns, by name")
      ->required()
      ->type_name("GRID.csv");
  command->add_option("-o,--output", arguments->output, "file to write; - is standard output")
      ->required()
      ->type_name("FILE.csv");
  add_format(*command, arguments->format);
  command->footer(
      "The result has the columns of GRID and, for every state, NAME_next_mean and NAME_next_sd: the state one step\n"
      "later and how uncertain the learned function is about it, process noise apart. Units are those of the data.\n"
      "Examples:\n"
      "  gpilot transition model.json grid.csv -o f.csv\n"
      "  gpilot transition model.json grid.csv -o - | head");
  command->callback([arguments] { run_transition(*arguments); });
}

}  // namespace gpilot::cli
