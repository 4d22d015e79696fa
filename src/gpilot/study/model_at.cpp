#include <fmt/format.h>

#include <optional>
#include <vector>

#include "gpilot/io/model_file.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/study/study_state.hpp"

namespace gpilot::study {

namespace {

/// Goes through the trainings of a study once more, each from the model before it, as they were made.
class Retraining {
 public:
  Retraining(const StudyConfig& config, const std::vector<TrainingRecord>& trainings)
      : explorer_(config.model, config.box, config.explore), trainings_(trainings) {}

  explore::Explorer& explorer() { return explorer_; }
  const std::shared_ptr<const ssm::Model>& model() const { return explorer_.model(); }

  /// A step was told: the trainings that came after it and before the next.
  void after(Index step) {
    for (; next_ < trainings_.size() && trainings_[next_].summary.after_step <= step; ++next_) {
      explorer_.lose_model();  // whatever the rule says, it was made
      if (const std::optional<explore::TrainingJob> job = explorer_.due_training()) {
        explorer_.adopt(explore::train(*job));
      }
    }
  }

 private:
  explore::Explorer explorer_;
  const std::vector<TrainingRecord>& trainings_;
  std::size_t next_ = 0;
};

}  // namespace

std::shared_ptr<const ssm::Model> Study::model_at(Index step) const {
  const State& s = *state_;
  std::vector<TrainingRecord> trusted;
  std::vector<TrainingRecord>
      stale;  // those that learned from what was corrected since: made once more with what holds
  for (const TrainingRecord& training : s.trainings) {
    if (training.summary.after_step <= step && training.summary.status != ssm::FitStatus::kFailed) {
      (s.is_stale(training) ? stale : trusted).push_back(training);
    }
  }
  const std::vector<TrainingRecord>& trainings = trusted.empty() ? stale : trusted;
  if (trainings.empty()) {
    return nullptr;
  }
  const TrainingRecord& wanted = trainings.back();
  if (wanted.has_model && !trusted.empty()) {
    const std::string name = fmt::format("{}, model of training {}", s.path, wanted.id);
    return std::make_shared<const ssm::Model>(io::parse_model(*s.store.model(wanted.id), name));
  }
  Retraining retraining(s.config, trainings);
  s.retell(retraining.explorer(), wanted.summary.after_step, [&](Index told) { retraining.after(told); });
  return retraining.model();
}

}  // namespace gpilot::study
