#include "gpilot/study/training.hpp"

#include <chrono>
#include <exception>

#include "gpilot/study/model_file.hpp"
#include "gpilot/version.hpp"
#include "stamp.hpp"

namespace gpilot::study {

TrainingResult train(const TrainingJob& job) {
  const auto begin = std::chrono::steady_clock::now();
  TrainingResult result;
  TrainingRecord& record = result.record;
  record.after_step = job.after_step;
  record.version = version();
  try {
    result.model = inference::fit(job.data, job.spec, job.options, job.previous ? &*job.previous : nullptr);
    result.text = format_model(*result.model);
    record.status = result.model->report.status;
    record.message = result.model->report.message;
    record.chosen = result.model->report.chosen;
    record.bound = result.model->report.bound;
  } catch (const std::exception& error) {
    result.model.reset();
    record.status = "failed";
    record.message = error.what();
  }
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  record.finished_at = utc_now();
  return result;
}

}  // namespace gpilot::study
