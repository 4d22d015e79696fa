#include "gpilot/model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/identify/identify.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/io/recordings.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/next_state.hpp"
#include "gpilot/ssm/predict.hpp"

namespace gpilot {

namespace {

/// The columns of the data are those of the model.
void take_columns(const Data& data, ssm::ModelSpec& spec) {
  const auto take = [](const char* what, const std::vector<std::string>& names, std::vector<std::string>& declared) {
    if (!declared.empty() && declared != names) {
      throw InputError(fmt::format("{}: the model declares {}, the data have {}; expected the same", what,
                                   fmt::join(declared, ", "), fmt::join(names, ", ")));
    }
    declared = names;
  };
  take("inputs", data.inputs, spec.inputs);
  take("outputs", data.outputs, spec.outputs);
  spec.dt = data.dt;
}

Model shared(ssm::Model model) {
  return Model(std::make_shared<const ssm::Model>(std::move(model)));
}

}  // namespace

Data Data::from_rows(Matrix controls, Matrix outputs, double dt, std::vector<std::string> inputs,
                     std::vector<std::string> output_names) {
  if (controls.rows() != outputs.rows() || controls.cols() != static_cast<Index>(inputs.size()) ||
      outputs.cols() != static_cast<Index>(output_names.size())) {
    throw InputError(
        fmt::format("rows: controls [{} x {}] named {}, outputs [{} x {}] named {}; expected as many rows, "
                    "and a name for each column",
                    controls.rows(), controls.cols(), fmt::join(inputs, ", "), outputs.rows(), outputs.cols(),
                    fmt::join(output_names, ", ")));
  }
  Data data{.inputs = std::move(inputs), .outputs = std::move(output_names), .dt = dt};
  data.sequences.push_back({.controls = std::move(controls), .outputs = std::move(outputs)});
  return data;
}

Data Data::read_csv(const std::vector<std::string>& files, std::vector<std::string> inputs,
                    std::vector<std::string> outputs, std::optional<double> dt) {
  Data data{.inputs = std::move(inputs), .outputs = std::move(outputs)};
  std::optional<io::RecordingInfo> first;
  for (const std::string& file : files) {
    std::string note;
    for (io::Recording& recording :
         io::read_recordings({.file = file, .inputs = data.inputs, .outputs = data.outputs, .dt = dt}, note)) {
      if (!first) {
        first = recording.info;
        data.dt = recording.info.dt.value_or(1.0);
      }
      io::check_same_step(recording.info, *first);
      data.sequences.push_back(std::move(recording.sequence));
    }
  }
  return data;
}

Model::Model(std::shared_ptr<const ssm::Model> model) : model_(std::move(model)) {
  if (!model_) {
    throw std::invalid_argument("Model: null; there is no model yet");
  }
}

Model Model::load(const std::string& path) {
  return gpilot::shared(io::load_model(path));
}

void Model::save(const std::string& path) const {
  io::save_model(path, *model_);
}

ssm::Prediction Model::predict(const ssm::Sequence& sequence, const ssm::PredictOptions& options) const {
  return ssm::Predictor(*model_, model_->gp).free_run(sequence, options);
}

std::vector<ssm::Prediction> Model::predict(const Data& data, const ssm::PredictOptions& options) const {
  const ssm::Predictor predictor(*model_, model_->gp);
  std::vector<ssm::Prediction> predictions;
  for (const ssm::Sequence& sequence : data.sequences) {
    predictions.push_back(predictor.free_run(sequence, options));
  }
  return predictions;
}

ssm::Prediction Model::predict_ahead(const ssm::Sequence& sequence, Index steps) const {
  return ssm::Predictor(*model_, model_->gp).ahead(sequence, steps);
}

std::vector<Matrix> Model::sample(const ssm::Sequence& sequence, const ssm::PredictOptions& options, bool noise) const {
  return ssm::Predictor(*model_, model_->gp).sample(sequence, options, noise);
}

ssm::NextState Model::transition(MatrixRef states, MatrixRef controls) const {
  if (model_->gp.dead_time > 0 || model_->gp.input_lags > 0) {
    throw InputError(
        fmt::format("transition: this model takes inputs of {} earlier row(s), which no single row of "
                    "controls has; expected a model of present inputs alone",
                    model_->gp.dead_time + model_->gp.input_lags));
  }
  return ssm::next_state(*model_, states, controls);
}

ssm::Scoreboard Model::score(const ssm::Sequence& sequence, const ssm::PredictOptions& options) const {
  return ssm::score_model(*model_, sequence, options);
}

const ssm::ModelSpec& Model::spec() const {
  return model_->spec;
}
const ssm::FitReport& Model::report() const {
  return model_->report;
}
ssm::Summary Model::summary() const {
  return ssm::summarize(*model_, model_->gp);
}

Model fit(const Data& data, ssm::ModelSpec spec, const inference::FitOptions& options, const Model* previous) {
  take_columns(data, spec);
  return shared(
      inference::fit(data.sequences, spec, options, previous != nullptr ? previous->shared().get() : nullptr));
}

Model identify_model(const Data& data, const identify::IdentifyOptions& options, ssm::ModelSpec spec) {
  take_columns(data, spec);
  return shared(identify::identify(data.sequences, spec, options));
}

}  // namespace gpilot
