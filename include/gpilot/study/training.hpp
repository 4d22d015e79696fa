#pragma once

#include <optional>
#include <string>

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/study/record.hpp"

namespace gpilot::study {

/// One training of a study, apart from it: another thread may do it.
struct TrainingJob {
  Index after_step = 0;  ///< the newest step in the data
  ssm::Dataset data;
  ssm::ModelSpec spec;
  inference::FitOptions options;
  std::optional<ssm::Model> previous;
};

struct TrainingResult {
  TrainingRecord record;            ///< its id is set when it is adopted
  std::optional<ssm::Model> model;  ///< empty if the training failed
  std::string text;                 ///< the model's file
};

/// Trains. A training that fails costs its improvement, not the study: then there is no model, and the record says why.
TrainingResult train(const TrainingJob& job);

}  // namespace gpilot::study
