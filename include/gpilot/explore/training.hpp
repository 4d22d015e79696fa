#pragma once

#include <memory>
#include <string>

#include "gpilot/core/types.hpp"
#include "gpilot/inference/options.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/report.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot::explore {

/// One training, apart from the exploration that it is for: another thread may do it.
struct TrainingJob {
  Index after_step = 0;  ///< the newest step in the data
  ssm::Dataset data;
  ssm::ModelSpec spec;
  inference::FitOptions options;
  std::shared_ptr<const ssm::Model> previous;
  Index corrections = 0;  ///< of a study, that the data have seen
};

/// How a training went.
struct TrainingSummary {
  Index after_step = 0;  ///< trained on all steps told up to this one
  ssm::FitStatus status = ssm::FitStatus::kNone;
  std::string message = {};  ///< one sentence
  std::string chosen = {};   ///< the candidate it took
  double bound = kNaN;
  double seconds = 0.0;
};

struct TrainingResult {
  TrainingSummary summary;
  std::shared_ptr<const ssm::Model> model;  ///< null if the training failed
  Index corrections = 0;                    ///< as in the job
};

/// Trains. A training that fails costs its improvement, not the exploration: then there is no model, and the summary
/// says why.
TrainingResult train(const TrainingJob& job);

}  // namespace gpilot::explore
