#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/identify/options.hpp"
#include "gpilot/inference/options.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/prediction.hpp"
#include "gpilot/ssm/report.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot {

/// Recordings to learn from: rows t = 0..T of controls and outputs, NaN where nothing was measured.
struct Data {
  ssm::Dataset sequences = {};
  std::vector<std::string> inputs = {};   ///< P names
  std::vector<std::string> outputs = {};  ///< E names
  double dt = 1.0;                        ///< seconds between rows

  /// One recording from matrices: controls [rows x P], outputs [rows x E]. The controls of the last row are not used.
  static Data from_rows(Matrix controls, Matrix outputs, double dt, std::vector<std::string> inputs,
                        std::vector<std::string> output_names);
  /// The named columns of CSV files, each a sequence of its own; dt from their column t unless it is given. Throws
  /// InputError that names the file, the line and the column.
  static Data read_csv(const std::vector<std::string>& files, std::vector<std::string> inputs,
                       std::vector<std::string> outputs, std::optional<double> dt = {});
};

/// A fitted model: cheap to copy, never changed. User units in and out.
class Model {
 public:
  /// What Explorer and Study give. Throws std::invalid_argument for null: there is no model yet.
  explicit Model(std::shared_ptr<const ssm::Model> model);

  /// A model file, as the command line writes it: a loaded model predicts the same bits. Throws InputError that names
  /// the file and the key.
  static Model load(const std::string& path);
  /// Whole or not at all.
  void save(const std::string& path) const;

  /// Free run: rows before the warm-up are filtered, later ones use the controls alone. The outputs of the sequence may
  /// be NaN throughout.
  ssm::Prediction predict(const ssm::Sequence& sequence, const ssm::PredictOptions& options = {}) const;
  /// The same for every sequence.
  std::vector<ssm::Prediction> predict(const Data& data, const ssm::PredictOptions& options = {}) const;
  /// Row t predicted from the outputs up to row t - steps.
  ssm::Prediction predict_ahead(const ssm::Sequence& sequence, Index steps = 1) const;
  /// Possible courses of the outputs, a draw each [rows x E]: runs of the kind that predict() makes its distribution
  /// of, with measurement noise unless `noise` is false. What is uncertain about the function is the same along a
  /// course.
  std::vector<Matrix> sample(const ssm::Sequence& sequence, const ssm::PredictOptions& options = {},
                             bool noise = true) const;
  /// The learned function: the next state from each row of `states` [N x D] and `controls` [N x P].
  ssm::NextState transition(MatrixRef states, MatrixRef controls) const;
  /// Errors, densities and coverage, beside the training mean and the linear model.
  ssm::Scoreboard score(const ssm::Sequence& sequence, const ssm::PredictOptions& options = {}) const;

  const ssm::ModelSpec& spec() const;
  const ssm::FitReport& report() const;
  /// What was learned, in user units.
  ssm::Summary summary() const;

  /// For the library's own parts.
  const std::shared_ptr<const ssm::Model>& shared() const { return model_; }

 private:
  std::shared_ptr<const ssm::Model> model_;
};

/// Learns a model whose states are declared. Inputs, outputs and dt are those of the data; a spec that names other
/// columns is refused. `previous`, when given, is a model to start from as well.
Model fit(const Data& data, ssm::ModelSpec spec, const inference::FitOptions& options = {},
          const Model* previous = nullptr);

/// Learns a model from recordings of which nothing is known: the states are chosen, too. `spec` may declare kernel,
/// inducing points, ranges and nodes.
Model identify_model(const Data& data, const identify::IdentifyOptions& options = {}, ssm::ModelSpec spec = {});

}  // namespace gpilot
