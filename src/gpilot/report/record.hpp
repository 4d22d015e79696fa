#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/report/numbers.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/prediction.hpp"
#include "gpilot/study/study.hpp"

/// What a report shows, as plain data: a JSON object with "kind" study, comparison or model. web/src/record.ts has its
/// types. User units.
namespace gpilot::report {

/// A model for people and machines: equations, parameters, how its training went. Given by whoever has the words.
using DescribeModel = std::function<Json(const ssm::Model&)>;

/// Which of a study's models are looked at: what was decided by a model, and how sure it was, is computed from it.
enum class History {
  kKept,  ///< those that the file holds: the newest few
  kAll,   ///< every one: those that the file no longer holds are trained again, the same bits
};

struct StudyRecordOptions {
  History history = History::kKept;
  DescribeModel describe{};
  /// What was computed of decisions and trainings before, for somebody who makes records of one study again and again:
  /// kept and added to, so that models which the file has dropped since stay in the picture. Null: nothing is kept.
  Json* memory = nullptr;
  /// Trainings looked at so far, and of how many.
  std::function<void(Index, Index)> on_progress{};
};

/// What all trainings of a study took, in s: about what History::kAll costs.
double training_seconds(const study::Study& study);

Json study_record(const study::Study& study, const StudyRecordOptions& options);

/// A comparison that is done, or as far as it is. Throws InputError that names the file if the directory holds none.
Json comparison_record(const std::string& directory);

/// One recording to look at a model by.
struct NamedRecording {
  std::string name;
  ssm::Sequence sequence;
  Vector times;  ///< [rows] s
};

struct ModelRecordOptions {
  ssm::PredictOptions predict{};
  Index lags = 20;  ///< of the tests of residuals
  DescribeModel describe{};
};

/// A model, and how it does on recordings, if there are any.
Json model_record(const ssm::Model& model, const std::string& name, const std::vector<NamedRecording>& recordings,
                  const ModelRecordOptions& options);

}  // namespace gpilot::report
