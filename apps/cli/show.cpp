#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "describe_model.hpp"
#include "describe_study.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/study/study.hpp"
#include "options.hpp"
#include "study_options.hpp"

namespace gpilot::cli {

namespace {

struct ShowArguments {
  std::string file;
  std::string last = "10";
  Format format = Format::kText;
};

std::string_view kernel_words(kernels::Kind kind) {
  switch (kind) {
    case kernels::Kind::kSquaredExponential:
      return "squared exponential (smooth)";
    case kernels::Kind::kMatern12:
      return "Matern-1/2 (continuous, not differentiable)";
    case kernels::Kind::kMatern32:
      return "Matern-3/2 (once differentiable)";
    case kernels::Kind::kMatern52:
      return "Matern-5/2 (twice differentiable)";
  }
  return "";
}

std::string function_words(const ssm::Structure& s) {
  if (s.inducing == 0) {
    return "f is linear; what it was compared with stands under Training";
  }
  return fmt::format("f is a Gaussian process, kernel {}{}, {} inducing points", kernel_words(s.kernel),
                     s.linear_kernel ? " plus linear" : "", s.inducing);
}

void print_structure(const ssm::Model& model, const ssm::Summary& summary) {
  fmt::print("Equations (x' is x one step of {:.6g} s later)\n", model.spec.dt);
  for (Index d = 0; d < model.gp.structure.states; ++d) {
    fmt::print("  {}\n", equation(model, summary, d));
  }
  fmt::print("  {}\n", function_words(model.gp.structure));
  if (!model.spec.angles.empty()) {
    fmt::print("  angles, the same after a full turn: {}\n", fmt::join(model.spec.angles, ", "));
  }
  print_emission(model, summary);
  fmt::print("First state\n");
  for (Index d = 0; d < model.gp.structure.states; ++d) {
    fmt::print("  {}: {:.4g}, sd {:.4g}\n", model.spec.states[static_cast<std::size_t>(d)], summary.x0_mean(d),
               summary.x0_sd(d));
  }
}

void print_baselines(const ssm::Model& model) {
  fmt::print("Baselines that 'gpilot score' compares with\n");
  for (std::size_t e = 0; e < model.spec.outputs.size(); ++e) {
    const auto k = static_cast<Index>(e);
    fmt::print("  training mean of {}: {:.4g}, sd {:.4g}\n", model.spec.outputs[e], model.output_mean(k),
               model.output_sd(k));
  }
  for (const ssm::RowSummary& row : ssm::summarize(model, model.linear).states) {
    fmt::print("  linear model, {}: sd {:.4g} of a step\n", row.state, row.process_sd);
  }
}

void print_text(const std::string& path, const ssm::Model& model) {
  const ssm::Summary summary = ssm::summarize(model, model.gp);
  const std::string controls =
      model.spec.inputs.empty() ? "no controls" : fmt::format("controls {}", fmt::join(model.spec.inputs, ", "));
  fmt::print("{}: a Gaussian process state-space model\n", path);
  fmt::print("  from {} and the states {} to the outputs {}; units are those of the data\n", controls,
             fmt::join(model.spec.states, ", "), fmt::join(model.spec.outputs, ", "));
  fmt::print("  learned from {} rows in {} sequence(s) by gpilot {}, seed {}\n", summary.rows, summary.sequences,
             model.version, model.seed);
  print_structure(model, summary);
  print_knowledge(model);
  fmt::print("Noise\n");
  print_noises(model, summary);
  fmt::print("Transition function\n");
  print_functions(summary);
  fmt::print("Training\n");
  print_training(model);
  fmt::print("  bound {:.6g} after {} evaluations\n", model.report.bound, model.report.evaluations);
  print_baselines(model);
}

void show_study(const ShowArguments& arguments) {
  const study::Study study = study::Study::open(arguments.file, study::Access::kRead);
  note_damage(study);
  if (arguments.format == Format::kJson) {
    fmt::print("{}\n", study_json_text(study));
    return;
  }
  print_study(study, parse_count("--last", arguments.last, 0));
}

void run_show(const CLI::App& command, const ShowArguments& arguments) {
  const bool is_study = study::is_study(arguments.file);
  refuse_ignored(command,
                 {{{"--last"}, is_study, "goes with a study, and this is a model"},
                  {{"--last"}, arguments.format == Format::kText, "goes with --format text; json has all steps"}});
  if (is_study) {
    show_study(arguments);
    return;
  }
  const ssm::Model model = io::load_model(arguments.file);
  if (arguments.format == Format::kJson) {
    fmt::print("{}\n", model_json(model).dump(2));
    return;
  }
  print_text(arguments.file, model);
}

}  // namespace

void add_show(CLI::App& app) {
  const auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command = app.add_subcommand("show", "explain a model or a study in words and numbers");
  command->add_option("FILE", arguments->file, "model written by 'gpilot fit', or study")->required();
  command->add_option("--last", arguments->last, "newest steps of a study to list")
      ->type_name("N")
      ->capture_default_str();
  add_format(*command, arguments->format);
  command->footer(
      "Examples:\n"
      "  gpilot show model.json\n"
      "  gpilot show model.json --format json\n"
      "  gpilot show rig.study --last 20");
  command->callback([arguments, command] { run_show(*command, *arguments); });
}

}  // namespace gpilot::cli
