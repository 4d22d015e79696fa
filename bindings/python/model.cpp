#include "gpilot/model.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "call.hpp"
#include "dict_archive.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/options/layout.hpp"
#include "gpilot/ssm/model.hpp"
#include "modules.hpp"

namespace gpilot::python {

namespace {

inference::FitOptions fit_options(const Dict& training, std::uint64_t seed) {
  inference::FitOptions options;
  read_options(training, "training", [&](DictArchive& archive) { options::describe_training(archive, options); });
  options.seed = seed;
  return options;
}

Model fit_model(const Data& data, const Dict& spec, const Dict& training, std::uint64_t seed, const Model* previous,
                nb::object on_progress) {
  const ssm::ModelSpec declared = spec_from(spec);
  inference::FitOptions options = fit_options(training, seed);
  Call call(std::move(on_progress));
  options.on_progress = call.listener();
  return call.run([&] { return fit(data, declared, options, previous); });
}

Model identify_from(const Data& data, const Dict& spec, const Dict& options, nb::object on_progress) {
  const ssm::ModelSpec declared = spec_from(spec);
  identify::IdentifyOptions how;
  read_options(options, "", [&](DictArchive& archive) { options::describe_identifying(archive, how); });
  Call call(std::move(on_progress));
  how.stop = call.stop();
  how.on_progress = call.listener();
  return call.run([&] { return identify_model(data, how, declared); });
}

ssm::Sequence sequence_of(const ArrayIn& controls, const ArrayIn& outputs, bool broad_start) {
  return {.controls = controls, .outputs = outputs, .broad_start = broad_start};
}

/// What a score says, by name; a value for each output.
Dict score_dict(const ssm::Score& score) {
  nb::dict result;
  result["count"] = score.count;
  result["rmse"] = Vector(score.rmse);
  result["nlpd"] = Vector(score.nlpd);
  result["coverage"] = Matrix(score.coverage);
  result["pit"] = Matrix(score.pit);
  return result;
}

Dict scoreboard_dict(const ssm::Scoreboard& board) {
  nb::dict result;
  result["free_run"] = score_dict(board.free_run);
  result["one_step"] = score_dict(board.one_step);
  result["mean"] = score_dict(board.mean);
  result["hold"] = score_dict(board.hold);
  result["linear_free_run"] = score_dict(board.linear_free_run);
  result["linear_one_step"] = score_dict(board.linear_one_step);
  result["diverged"] = board.diverged;
  result["beyond"] = board.beyond;
  result["residuals"] = Matrix(board.residuals);
  return result;
}

Dict state_dict(const ssm::Summary& summary, const ssm::RowSummary& row) {
  nb::dict state;
  if (row.velocity) {
    state["derivative"] = summary.states[static_cast<std::size_t>(*row.velocity)].state;
  } else if (row.copied) {
    state["copy_of"] = summary.states[static_cast<std::size_t>(*row.copied)].state;
  } else {
    nb::dict weights;
    for (Index i = 0; i < row.weights.size(); ++i) {
      weights[summary.terms[static_cast<std::size_t>(i)].c_str()] = row.weights(i);
    }
    nb::dict scales;
    for (Index i = 0; i < row.length_scales.size(); ++i) {
      scales[summary.inputs[static_cast<std::size_t>(i)].c_str()] = row.length_scales(i);
    }
    state["weights"] = weights;
    state["weight_offset"] = row.offset;
    state["function_sd"] = row.function_sd;
    state["length_scales"] = scales;
    if (row.explained) {
      state["explained"] = *row.explained;
    }
  }
  state["process_sd"] = row.process_sd;
  state["process_sd_fixed"] = row.process_fixed;
  return state;
}

/// What was learned, by name, in the user's units.
Dict hyperparameters(const Model& model) {
  const ssm::Summary summary = model.summary();
  nb::dict states;
  for (const ssm::RowSummary& row : summary.states) {
    states[row.state.c_str()] = state_dict(summary, row);
  }
  nb::dict output_sd;
  for (std::size_t e = 0; e < model.spec().outputs.size(); ++e) {
    output_sd[model.spec().outputs[e].c_str()] = summary.output_sd(static_cast<Index>(e));
  }
  nb::dict result;
  result["states"] = states;
  result["emission"] = Matrix(summary.C);
  result["offset"] = Vector(summary.d);
  result["output_sd"] = output_sd;
  result["x0_mean"] = Vector(summary.x0_mean);
  result["x0_sd"] = Vector(summary.x0_sd);
  return result;
}

Dict report_dict(const ssm::FitReport& report) {
  nb::dict settings;
  for (const ssm::Setting& setting : report.settings) {
    settings[setting.name.c_str()] = setting.value;
  }
  nb::list candidates;
  for (const ssm::Candidate& candidate : report.candidates) {
    nb::dict entry;
    entry["name"] = candidate.name;
    entry["bound"] = candidate.bound;
    entry["predictive_density"] = candidate.predictive_density;
    entry["validation"] = candidate.validation;
    candidates.append(entry);
  }
  nb::dict result;
  result["status"] = std::string(ssm::name(report.status));
  result["message"] = report.message;
  result["bound"] = report.bound;
  result["objective"] = report.objective;
  result["trace"] = report.trace;
  result["chosen"] = report.chosen;
  result["structure"] = report.structure;
  result["reason"] = report.reason;
  result["calibration"] = report.calibration;
  result["candidates"] = candidates;
  result["settings"] = settings;
  result["warnings"] = report.warnings;
  result["evaluations"] = report.evaluations;
  result["seconds"] = report.seconds;
  result["model_ratio"] = report.held_out.model_ratio();
  result["linear_ratio"] = report.held_out.linear_ratio();
  return result;
}

Dict spec_dict(const ssm::ModelSpec& spec) {
  nb::dict result;
  result["inputs"] = spec.inputs;
  result["outputs"] = spec.outputs;
  result["states"] = spec.states;
  result["dt"] = spec.dt;
  const std::string kernel(kernels::name(spec.kernel));
  result["kernel"] = spec.inducing == 0 ? "linear" : kernel + (spec.linear_kernel ? "+linear" : "");
  result["mean"] = std::string(ssm::name(spec.mean));
  result["inducing"] = spec.inducing;
  nb::dict derivatives;
  for (const ssm::DerivativeOf& d : spec.derivatives) {
    derivatives[spec.states[static_cast<std::size_t>(d.velocity)].c_str()] =
        spec.states[static_cast<std::size_t>(d.position)];
  }
  result["derivative_of"] = derivatives;
  result["angles"] = spec.angles;
  result["nodes"] = std::string(gp::name(spec.nodes));
  nb::dict ranges;
  for (const ssm::Range& range : spec.ranges) {
    ranges[range.name.c_str()] = nb::make_tuple(range.low, range.high);
  }
  result["ranges"] = ranges;
  put_knowledge(spec, result);
  return result;
}

/// The parameters of declared physics that were learned, by name.
Dict parameters_dict(const ssm::FitReport& report) {
  nb::dict result;
  for (const ssm::ParameterEstimate& p : report.parameters) {
    nb::dict entry;
    entry["value"] = p.value;
    entry["sd"] = p.sd;
    entry["low"] = p.low;
    entry["high"] = p.high;
    entry["determined"] = p.determined;
    entry["unit"] = p.unit;
    result[p.name.c_str()] = entry;
  }
  return result;
}

void bind_prediction(nb::module_& m) {
  nb::class_<ssm::Prediction>(m, "Prediction", "The outputs' distribution in every row, output noise included.")
      .def_prop_ro(
          "mean", [](nb::handle self) { return view(nb::cast<const ssm::Prediction&>(self).mean, self); },
          "Point prediction (time, E), read-only; of draws their median.")
      .def_prop_ro(
          "std", [](nb::handle self) { return view(nb::cast<const ssm::Prediction&>(self).sd, self); },
          "Standard deviation (time, E), read-only.")
      .def_prop_ro(
          "pit", [](nb::handle self) { return view(nb::cast<const ssm::Prediction&>(self).pit, self); },
          "P(output below what was measured) (time, E), read-only; NaN where nothing was.")
      .def_prop_ro("quantile_levels",
                   [](const ssm::Prediction&) {
                     return std::vector<double>(ssm::kQuantileLevels.begin(), ssm::kQuantileLevels.end());
                   })
      .def(
          "quantile",
          [](nb::handle self, double level) {
            const auto& prediction = nb::cast<const ssm::Prediction&>(self);
            for (std::size_t k = 0; k < ssm::kQuantileLevels.size(); ++k) {
              if (std::abs(ssm::kQuantileLevels[k] - level) < 1e-12) {
                return view(prediction.quantiles[k], self);
              }
            }
            throw nb::value_error("level: expected one of 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975");
          },
          nb::arg("level"), "A quantile (time, E), read-only.")
      .def_ro("beyond", &ssm::Prediction::beyond, "Per row, whether the run has left what the training data support.")
      .def_ro("diverged", &ssm::Prediction::diverged, "Draws that left every sensible range.");
}

ssm::Prediction predict(const Model& model, const ArrayIn& controls, const ArrayIn& outputs, Index warmup, Index draws,
                        std::uint64_t seed, bool broad_start) {
  const ssm::Sequence sequence = sequence_of(controls, outputs, broad_start);
  Call call;
  return call.run(
      [&] { return model.predict(sequence, {.warmup = warmup, .draws = draws, .seed = seed, .stop = call.stop()}); });
}

std::vector<Matrix> sample(const Model& model, const ArrayIn& controls, const ArrayIn& outputs, Index warmup,
                           Index draws, std::uint64_t seed, bool noise, bool broad_start) {
  const ssm::Sequence sequence = sequence_of(controls, outputs, broad_start);
  Call call;
  return call.run([&] {
    return model.sample(sequence, {.warmup = warmup, .draws = draws, .seed = seed, .stop = call.stop()}, noise);
  });
}

Dict score(const Model& model, const ArrayIn& controls, const ArrayIn& outputs, Index warmup, Index draws,
           std::uint64_t seed, bool broad_start) {
  const ssm::Sequence sequence = sequence_of(controls, outputs, broad_start);
  Call call;
  return scoreboard_dict(call.run(
      [&] { return model.score(sequence, {.warmup = warmup, .draws = draws, .seed = seed, .stop = call.stop()}); }));
}

}  // namespace

std::optional<Model> model_or_none(const std::shared_ptr<const ssm::Model>& model) {
  return model ? std::optional(Model(model)) : std::nullopt;
}

void bind_model(nb::module_& m) {
  bind_prediction(m);
  nb::class_<Model>(m, "Model", "A fitted model.")
      .def_static("load", &Model::load, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def_static(
          "from_text",
          [](const std::string& text, const std::string& name) {
            return Model(std::make_shared<const ssm::Model>(io::parse_model(text, name)));
          },
          nb::arg("text"), nb::arg("name"))
      .def("save", &Model::save, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "to_text", [](const Model& model) { return io::format_model(*model.shared()); },
          "The text that save() writes.")
      .def("predict", &predict, nb::arg("controls"), nb::arg("outputs"), nb::arg("warmup"), nb::arg("draws"),
           nb::arg("seed"), nb::arg("broad_start"))
      .def(
          "predict_ahead",
          [](const Model& model, const ArrayIn& controls, const ArrayIn& outputs, Index steps, bool broad_start) {
            const ssm::Sequence sequence = sequence_of(controls, outputs, broad_start);
            const nb::gil_scoped_release release;
            return model.predict_ahead(sequence, steps);
          },
          nb::arg("controls"), nb::arg("outputs"), nb::arg("steps"), nb::arg("broad_start"))
      .def("sample", &sample, nb::arg("controls"), nb::arg("outputs"), nb::arg("warmup"), nb::arg("draws"),
           nb::arg("seed"), nb::arg("noise"), nb::arg("broad_start"))
      .def("score", &score, nb::arg("controls"), nb::arg("outputs"), nb::arg("warmup"), nb::arg("draws"),
           nb::arg("seed"), nb::arg("broad_start"))
      .def(
          "transition",
          [](const Model& model, const ArrayIn& states, const ArrayIn& controls) {
            const Matrix x = states;
            const Matrix c = controls;
            ssm::NextState next;
            {
              const nb::gil_scoped_release release;
              next = model.transition(x, c);
            }
            return std::make_pair(std::move(next.mean), std::move(next.sd));
          },
          nb::arg("states"), nb::arg("controls"))
      .def_prop_ro("spec", [](const Model& model) { return spec_dict(model.spec()); })
      .def_prop_ro("report", [](const Model& model) { return report_dict(model.report()); })
      .def_prop_ro("hyperparameters", &hyperparameters)
      .def_prop_ro("parameters", [](const Model& model) { return parameters_dict(model.report()); })
      .def_prop_ro("bound", [](const Model& model) { return model.report().bound; })
      .def_prop_ro("status", [](const Model& model) { return std::string(ssm::name(model.report().status)); })
      .def_prop_ro("rows", [](const Model& model) { return model.summary().rows; })
      .def_prop_ro("seed", [](const Model& model) { return model.shared()->seed; });

  m.def("fit", &fit_model, nb::arg("data"), nb::arg("spec"), nb::arg("training"), nb::arg("seed"),
        nb::arg("previous").none(), nb::arg("on_progress").none());
  m.def("identify", &identify_from, nb::arg("data"), nb::arg("spec"), nb::arg("options"),
        nb::arg("on_progress").none());
}

}  // namespace gpilot::python
