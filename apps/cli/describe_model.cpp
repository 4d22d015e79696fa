#include "describe_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/knowledge.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::cli {

namespace {

using ssm::Model;
using ssm::RowSummary;
using ssm::Summary;

/// "0.5 th - 2 c + 0.1" out of coefficients and names; terms that are 0 are left out.
std::string linear_text(const Vector& weights, double offset, const std::vector<std::string>& names) {
  std::string text;
  const auto add = [&text](double value, const std::string& name) {
    if (value == 0.0) {
      return;
    }
    const std::string_view sign = text.empty() ? (value < 0.0 ? "-" : "") : (value < 0.0 ? " - " : " + ");
    const bool bare = std::abs(value) == 1.0 && !name.empty();
    text += fmt::format("{}{}{}{}", sign, bare ? "" : fmt::format("{:.4g}", std::abs(value)),
                        bare || name.empty() ? "" : " ", name);
  };
  for (Index i = 0; i < weights.size(); ++i) {
    add(weights(i), names[static_cast<std::size_t>(i)]);
  }
  add(offset, "");
  return text.empty() ? "0" : text;
}

/// Inputs from the most to the least relevant: by length scale in units of their spread.
std::vector<std::size_t> by_relevance(const RowSummary& row) {
  std::vector<std::size_t> order(static_cast<std::size_t>(row.relative_length_scales.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return row.relative_length_scales(static_cast<Index>(i)); });
  return order;
}

/// What was chosen and why.
std::string choice(const ssm::FitReport& report) {
  const auto best = std::ranges::max_element(report.candidates, {}, &ssm::Candidate::predictive_density);
  if (report.candidates.size() < 2) {
    return fmt::format("{}, by the method asked for", report.chosen);
  }
  if (best->name != report.chosen) {
    return fmt::format("{}; the predictive density of {} is higher, but did not decide", report.chosen, best->name);
  }
  return fmt::format(
      "{}, the best predictive density (mean log density of an output, a few steps ahead);\n"
      "  between different models the bound does not tell which predicts better",
      report.chosen);
}

/// The inputs that a state's function depends on.
std::string arguments_of(const Model& model, const Summary& summary, Index state) {
  const ssm::Structure& s = model.gp.structure;
  const std::vector<Index> rows = s.gp_rows();
  const auto row = std::ranges::find(rows, state);
  std::vector<std::string> names = summary.inputs;
  if (row != rows.end()) {
    const std::vector<Index>& excluded = s.form(row - rows.begin()).excluded;
    for (auto i = static_cast<Index>(names.size()) - 1; i >= 0; --i) {
      if (std::ranges::find(excluded, i) != excluded.end()) {
        names.erase(names.begin() + i);
      }
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view learned(bool fixed) {
  return fixed ? "given" : "learned";
}

}  // namespace

std::string equation(const Model& model, const Summary& summary, Index state) {
  const RowSummary& row = summary.states[static_cast<std::size_t>(state)];
  if (row.copied) {
    const std::string& source = summary.inputs[static_cast<std::size_t>(*row.copied)];
    return fmt::format("{}' = {}", row.state, source);
  }
  if (row.velocity) {
    const std::string& velocity = summary.inputs[static_cast<std::size_t>(*row.velocity)];
    return fmt::format("{0}' = {0} + dt/2 ({1} + {1}')", row.state, velocity);
  }
  const std::string arguments = arguments_of(model, summary, state);
  if (std::ranges::find(model.spec.physics.formulas, row.state, &ssm::Formula::state) !=
      model.spec.physics.formulas.end()) {
    return model.spec.physics.integration == ssm::Integration::kNext
               ? fmt::format("{}' = formula + f({})", row.state, arguments)
               : fmt::format("{0}' = {0} + formula over dt + f({1})", row.state, arguments);
  }
  switch (model.gp.structure.mean) {
    case ssm::MeanKind::kZero:
      return fmt::format("{}' = f({})", row.state, arguments);
    case ssm::MeanKind::kIdentity:
      return fmt::format("{0}' = {0} + f({1})", row.state, arguments);
    case ssm::MeanKind::kLinear:
      return fmt::format("{}' = w . ({}, 1) + f({})", row.state, arguments, arguments);
  }
  return "";
}

std::string emission(const Model& model, const Summary& summary, Index output) {
  const Vector row = summary.C.row(output).transpose();
  const std::string& name = model.spec.outputs[static_cast<std::size_t>(output)];
  const bool unit = (row.array() != 0.0).count() == 1 && row.sum() == 1.0 && summary.d(output) == 0.0;
  if (unit) {
    Index state = 0;
    row.maxCoeff(&state);
    return fmt::format("{} measures {}", name, model.spec.states[static_cast<std::size_t>(state)]);
  }
  return fmt::format("{} measures {}", name, linear_text(row, summary.d(output), model.spec.states));
}

void print_emission(const Model& model, const Summary& summary) {
  for (Index e = 0; e < summary.C.rows(); ++e) {
    fmt::print("  {}\n", emission(model, summary, e));
  }
}

void print_noises(const Model& model, const Summary& summary) {
  for (std::size_t e = 0; e < model.spec.outputs.size(); ++e) {
    fmt::print("  {}: sd {:.4g} of a measurement ({})\n", model.spec.outputs[e],
               summary.output_sd(static_cast<Index>(e)), learned(summary.output_fixed[e]));
  }
  for (const RowSummary& row : summary.states) {
    fmt::print("  {}: sd {:.4g} of a step ({})\n", row.state, row.process_sd, learned(row.process_fixed));
  }
}

void print_functions(const Summary& summary) {
  for (const RowSummary& row : summary.states) {
    if (row.velocity || row.copied) {
      continue;
    }
    const std::string share =
        row.explained ? fmt::format("; explains {:.1f} % of how it changes", 100.0 * *row.explained) : "";
    fmt::print("  {}: linear part {}{}\n", row.state, linear_text(row.weights, row.offset, summary.terms), share);
    if (row.length_scales.size() == 0) {
      continue;
    }
    std::string scales;
    for (const std::size_t i : by_relevance(row)) {
      const auto k = static_cast<Index>(i);
      if (std::isinf(row.length_scales(k))) {
        continue;  // the function does not depend on it
      }
      scales += fmt::format("{}{} {:.4g} ({:.2g} spreads)", scales.empty() ? "" : ", ", summary.inputs[i],
                            row.length_scales(k), row.relative_length_scales(k));
    }
    fmt::print("    curved part of prior sd {:.4g}, length scales, most relevant input first: {}\n", row.function_sd,
               scales);
  }
}

void print_knowledge(const Model& model) {
  const std::vector<std::string> known = ssm::describe_knowledge(model.spec);
  if (known.empty()) {
    return;
  }
  fmt::print("Declared\n");
  for (const std::string& sentence : known) {
    fmt::print("  {}\n", sentence);
  }
  for (const ssm::ParameterEstimate& p : model.report.parameters) {
    fmt::print("  {} = {:.4g}{}{}, sd {:.2g}, 95 % from {:.4g} to {:.4g}\n", p.name, p.value, p.unit.empty() ? "" : " ",
               p.unit, p.sd, p.low, p.high);
  }
  for (const std::string& warning : model.report.warnings) {
    fmt::print("  note: {}\n", warning);
  }
}

namespace {

/// The candidates by their free runs over training rows that they were not trained on.
void print_identification(const ssm::FitReport& report, std::size_t width) {
  fmt::print("  {:<{}}  {:>22}\n", "candidate", width, "free-run error / sd(y)");
  for (const ssm::Candidate& candidate : report.candidates) {
    const std::string error = std::isnan(candidate.validation)   ? "not judged"
                              : std::isinf(candidate.validation) ? "failed"
                                                                 : fmt::format("{:.4g}", candidate.validation);
    fmt::print("{} {:<{}}  {:>22}\n", candidate.name == report.chosen ? "*" : " ", candidate.name, width, error);
  }
  fmt::print("  chosen: {}; {}\n", report.chosen, report.reason);
  const auto least = std::ranges::min_element(report.candidates, {}, [](const ssm::Candidate& c) {
    return std::isnan(c.validation) ? std::numeric_limits<double>::infinity() : c.validation;
  });
  const auto chosen = std::ranges::find(report.candidates, report.chosen, &ssm::Candidate::name);
  if (chosen != report.candidates.end() && least->validation < chosen->validation) {
    fmt::print(
        "  {} errs less in this table, which is over left-out rows; the choice also counts the errors over the rows\n"
        "  that a candidate was trained on, and prefers the simpler of two that are close\n",
        least->name);
  }
  fmt::print("  calibration: {}\n", report.calibration);
  fmt::print("  status: {}{}{}\n", name(report.status), report.message.empty() ? "" : ": ", report.message);
}

}  // namespace

std::string explanation(ssm::FitStatus status) {
  switch (status) {
    case ssm::FitStatus::kIterationLimit:
      return "training ended before the bound had settled, or without a test of it: more rounds or epochs may improve "
             "the model a little";
    case ssm::FitStatus::kNotUseful:
      return "over rows that it had not learned from the model predicts no better than holding the last value, as is "
             "usual after a few measurements; do not rely on it yet";
    case ssm::FitStatus::kMotionAsNoise:
      return "the model explains less than half of how a state changes from row to row and takes the rest for random "
             "disturbance, as is usual while there are few measurements; if it stays so, its predictions are poor "
             "beyond a few steps";
    default:
      return "";
  }
}

std::string held_out_words(const ssm::HeldOut& held) {
  if (std::isnan(held.model_ratio())) {
    return "nothing changed, or was measured, in the rows that would tell";
  }
  const Index skilled = held.skilled_steps().value_or(0);
  return fmt::format(
      "free runs of up to {} rows, learned from the rows before alone, err by {:.3g} of what holding the last value "
      "does (the linear model by {:.3g}); {}",
      held.hold.size(), held.model_ratio(), held.linear_ratio(),
      skilled > 0 ? fmt::format("still better {} step(s) ahead", skilled) : "better at no step ahead");
}

void print_training(const Model& model) {
  const ssm::FitReport& report = model.report;
  std::size_t width = 9;
  for (const ssm::Candidate& candidate : report.candidates) {
    width = std::max(width, candidate.name.size());
  }
  if (!report.structure.empty()) {
    print_identification(report, width);
    return;
  }
  fmt::print("  {:<{}}  {:>12}  {:>18}  {:>14}\n", "candidate", width, "bound", "predictive density", "held-out error");
  for (const ssm::Candidate& candidate : report.candidates) {
    fmt::print("{} {:<{}}  {:>12.6g}  {:>18.5g}  {:>14}\n", candidate.name == report.chosen ? "*" : " ", candidate.name,
               width, candidate.bound, candidate.predictive_density,
               std::isnan(candidate.validation) ? "not judged" : fmt::format("{:.4g}", candidate.validation));
  }
  fmt::print("  chosen: {}\n", choice(report));
  if (report.held_out.runs > 0) {
    fmt::print("  held out: {}\n", held_out_words(report.held_out));
  }
  fmt::print("  status: {}{}{}\n", report.status == ssm::FitStatus::kNone ? "done" : name(report.status),
             report.message.empty() ? "" : ": ", report.message);
}

namespace {

using Json = nlohmann::ordered_json;

Json by_name(const Vector& values, const std::vector<std::string>& names) {
  Json object = Json::object();
  for (Index i = 0; i < values.size(); ++i) {
    object[names[static_cast<std::size_t>(i)]] = values(i);
  }
  return object;
}

Json states_json(const Model& model, const Summary& summary) {
  Json states = Json::array();
  for (std::size_t d = 0; d < summary.states.size(); ++d) {
    const RowSummary& row = summary.states[d];
    const auto k = static_cast<Index>(d);
    Json entry = {{"name", row.state},
                  {"kind", row.velocity ? "kinematic"
                           : row.copied ? "copy"
                                        : "function"},
                  {"equation", equation(model, summary, k)},
                  {"process_sd", row.process_sd},
                  {"process_sd_fixed", row.process_fixed},
                  {"x0_mean", summary.x0_mean(k)},
                  {"x0_sd", summary.x0_sd(k)}};
    if (!row.velocity && !row.copied) {
      entry["weights"] = by_name(row.weights, summary.terms);
      entry["offset"] = row.offset;
      entry["function_sd"] = row.function_sd;
      entry["length_scales"] = by_name(row.length_scales, summary.inputs);
      entry["relative_length_scales"] = by_name(row.relative_length_scales, summary.inputs);
      entry["explained"] = row.explained ? Json(*row.explained) : Json(nullptr);
    }
    states.push_back(std::move(entry));
  }
  return states;
}

/// A linear baseline of identified states has states of its own: names come from the summary, not from the model.
Json outputs_json(const Model& model, const Summary& summary) {
  std::vector<std::string> states;
  std::ranges::transform(summary.states, std::back_inserter(states), &RowSummary::state);
  Json outputs = Json::array();
  for (std::size_t e = 0; e < model.spec.outputs.size(); ++e) {
    const auto k = static_cast<Index>(e);
    outputs.push_back({{"name", model.spec.outputs[e]},
                       {"measures", by_name(summary.C.row(k).transpose(), states)},
                       {"offset", summary.d(k)},
                       {"noise_sd", summary.output_sd(k)},
                       {"noise_sd_fixed", static_cast<bool>(summary.output_fixed[e])}});
  }
  return outputs;
}

Json training_json(const ssm::FitReport& report) {
  Json candidates = Json::array();
  for (const ssm::Candidate& candidate : report.candidates) {
    candidates.push_back(
        {{"name", candidate.name}, {"bound", candidate.bound}, {"predictive_density", candidate.predictive_density}});
    candidates.back()["validation"] = candidate.validation;
  }
  const ssm::HeldOut& held = report.held_out;
  return {{"status", name(report.status)},
          {"message", report.message},
          {"bound", report.bound},
          {"objective", report.objective},
          {"chosen", report.chosen},
          {"candidates", candidates},
          {"held_out", {{"runs", held.runs}, {"model", held.model}, {"linear", held.linear}, {"hold", held.hold}}},
          {"evaluations", report.evaluations},
          {"extra_jitter", report.extra_jitter}};
}

Json parameters_json(const ssm::FitReport& report) {
  Json parameters = Json::array();
  for (const ssm::ParameterEstimate& p : report.parameters) {
    parameters.push_back({{"name", p.name},
                          {"unit", p.unit},
                          {"value", p.value},
                          {"sd", p.sd},
                          {"low", p.low},
                          {"high", p.high},
                          {"determined", p.determined}});
  }
  return parameters;
}

}  // namespace

Json model_json(const Model& model) {
  const Summary summary = ssm::summarize(model, model.gp);
  const Summary linear = ssm::summarize(model, model.linear);
  return {{"library", model.version},
          {"seed", model.seed},
          {"sequences", summary.sequences},
          {"rows", summary.rows},
          {"dt", model.spec.dt},
          {"inputs", model.spec.inputs},
          {"kernel", kernels::name(model.gp.structure.kernel)},
          {"linear_kernel", model.gp.structure.linear_kernel},
          {"mean", ssm::name(model.gp.structure.mean)},
          {"inducing", model.gp.structure.inducing},
          {"angles", model.spec.angles},
          {"knowledge", ssm::describe_knowledge(model.spec)},
          {"parameters", parameters_json(model.report)},
          {"warnings", model.report.warnings},
          {"outputs", outputs_json(model, summary)},
          {"states", states_json(model, summary)},
          {"training", training_json(model.report)},
          {"baselines",
           {{"mean",
             {{"output_mean", by_name(model.output_mean, model.spec.outputs)},
              {"output_sd", by_name(model.output_sd, model.spec.outputs)}}},
            {"linear", {{"outputs", outputs_json(model, linear)}, {"states", states_json(model, linear)}}}}}};
}

}  // namespace gpilot::cli
