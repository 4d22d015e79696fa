#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "gpilot/io/model_file.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/study/study_state.hpp"

namespace gpilot::study {

namespace {

/// Goes through the trainings of a study once more, each from the model before it, as they were made.
class Retraining {
 public:
  using Visit = std::function<bool(const TrainingRecord&, const std::shared_ptr<const ssm::Model>&)>;

  Retraining(const StudyConfig& config, const std::vector<TrainingRecord>& trainings, Visit visit = {})
      : explorer_(config.model, config.box, config.explore), trainings_(trainings), visit_(std::move(visit)) {}

  explore::Explorer& explorer() { return explorer_; }
  const std::shared_ptr<const ssm::Model>& model() const { return explorer_.model(); }

  /// A step was told: the trainings that came after it and before the next.
  void after(Index step) {
    for (; next_ < trainings_.size() && trainings_[next_].summary.after_step <= step; ++next_) {
      if (ended_) {
        return;
      }
      explorer_.lose_model();  // whatever the rule says, it was made
      if (const std::optional<explore::TrainingJob> job = explorer_.due_training()) {
        const explore::TrainingResult result = explore::train(*job);
        explorer_.adopt(result);
        ended_ = visit_ && result.model && !visit_(trainings_[next_], result.model);
      }
    }
  }

 private:
  explore::Explorer explorer_;
  const std::vector<TrainingRecord>& trainings_;
  Visit visit_;
  std::size_t next_ = 0;
  bool ended_ = false;
};

std::shared_ptr<const ssm::Model> stored_model(const Store& store, const std::string& path, Index training) {
  const std::string name = fmt::format("{}, model of training {}", path, training);
  return std::make_shared<const ssm::Model>(io::parse_model(*store.model(training), name));
}

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
    return stored_model(s.store, s.path, wanted.id);
  }
  Retraining retraining(s.config, trainings);
  s.retell(retraining.explorer(), wanted.summary.after_step, [&](Index told) { retraining.after(told); });
  return retraining.model();
}

void Study::each_model(
    bool train_again,
    const std::function<bool(const TrainingRecord&, const std::shared_ptr<const ssm::Model>&)>& visit) const {
  const State& s = *state_;
  std::vector<TrainingRecord> trusted;
  std::ranges::copy_if(s.trainings, std::back_inserter(trusted), [&](const TrainingRecord& training) {
    return training.summary.status != ssm::FitStatus::kFailed && !s.is_stale(training);
  });
  if (train_again) {
    Retraining retraining(s.config, trusted, visit);
    s.retell(retraining.explorer(), std::numeric_limits<Index>::max(), [&](Index told) { retraining.after(told); });
    return;
  }
  for (const TrainingRecord& training : trusted) {
    // The writer drops old models while this reads.
    if (training.has_model && s.store.model(training.id) &&
        !visit(training, stored_model(s.store, s.path, training.id))) {
      return;
    }
  }
}

}  // namespace gpilot::study
