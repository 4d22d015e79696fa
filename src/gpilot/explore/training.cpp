#include "gpilot/explore/training.hpp"

#include <chrono>
#include <exception>

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::explore {

TrainingResult train(const TrainingJob& job) {
  const auto begin = std::chrono::steady_clock::now();
  TrainingResult result;
  TrainingSummary& summary = result.summary;
  summary.after_step = job.after_step;
  result.corrections = job.corrections;
  try {
    result.model =
        std::make_shared<const ssm::Model>(inference::fit(job.data, job.spec, job.options, job.previous.get()));
    const ssm::FitReport& report = result.model->report;
    summary.status = report.status;
    summary.message = report.message;
    summary.chosen = report.chosen;
    summary.bound = report.bound;
  } catch (const std::exception& error) {
    summary.status = ssm::FitStatus::kFailed;
    summary.message = error.what();
  }
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace gpilot::explore
