#pragma once

#include <CLI/CLI.hpp>

namespace gpilot::cli {

// Each function adds one subcommand with its options, its help and a callback that runs it. A callback reports wrong
// input by throwing InputError (exit code 2) and any other failure by another exception (exit code 1).

void add_systems(CLI::App& app);
void add_simulate(CLI::App& app);
void add_fit(CLI::App& app);
void add_show(CLI::App& app);
void add_predict(CLI::App& app);
void add_score(CLI::App& app);
void add_transition(CLI::App& app);
void add_criterion(CLI::App& app);
void add_init(CLI::App& app);
void add_check(CLI::App& app);
void add_run(CLI::App& app);
void add_ask(CLI::App& app);
void add_tell(CLI::App& app);
void add_void(CLI::App& app);
void add_export(CLI::App& app);
void add_import(CLI::App& app);
void add_compare(CLI::App& app);
void add_report(CLI::App& app);
void add_serve(CLI::App& app);
void add_key_tables(CLI::App& app);

/// All subcommands, in the order in which --help lists them.
inline constexpr void (*kCommands[])(CLI::App&) = {
    add_systems,   add_simulate, add_fit,     add_show,   add_predict, add_score,      add_transition,
    add_criterion, add_init,     add_check,   add_run,    add_ask,     add_tell,       add_void,
    add_export,    add_import,   add_compare, add_report, add_serve,   add_key_tables,
};

}  // namespace gpilot::cli
