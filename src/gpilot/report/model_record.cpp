#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpilot/report/model_part.hpp"
#include "gpilot/report/record.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/ssm/residual_tests.hpp"

namespace gpilot::report {

namespace {

constexpr Index kMostRows = 20'000;  // drawn of all recordings together; scores and tests are over all

Json test_json(const ssm::CorrelationTest& test) {
  return {{"correlation", list(test.correlation, 4)},
          {"statistic", number(test.statistic)},
          {"degrees", test.degrees},
          {"p", number(test.p, 3)}};
}

Json residuals_json(const ssm::ResidualTests& tests) {
  Json result = Json::array();
  for (std::size_t e = 0; e < tests.count.size(); ++e) {
    Json inputs = Json::array();
    for (const ssm::CorrelationTest& test : tests.inputs[e]) {
      inputs.push_back(test_json(test));
    }
    result.push_back({{"count", tests.count[e]}, {"whiteness", test_json(tests.whiteness[e])}, {"inputs", inputs}});
  }
  return result;
}

Json scores_json(const ssm::Scoreboard& board) {
  return {{"free run", score_json(board.free_run)},
          {"one step", score_json(board.one_step)},
          {"linear, free run", score_json(board.linear_free_run)},
          {"linear, one step", score_json(board.linear_one_step)},
          {"last value held", score_json(board.hold)},
          {"training mean", score_json(board.mean)}};
}

Json recording_json(const ssm::Predictor& predictor, const NamedRecording& recording,
                    const ssm::PredictOptions& options, const ssm::Scoreboard& board, Index rows) {
  const ssm::Sequence& s = recording.sequence;
  return {{"name", recording.name},
          {"rows", s.rows()},
          {"t", list(Vector(recording.times.head(rows)), 9)},
          {"controls", columns(s.controls.topRows(rows))},
          {"outputs", columns(s.outputs.topRows(rows))},
          {"free_run", prediction_json(predictor.free_run(s, options), 0, rows)},
          {"one_step", prediction_json(predictor.ahead(s, 1), 0, rows)},
          {"residuals", columns(board.residuals.topRows(std::min(rows, board.residuals.rows())), 4)},
          {"scores", scores_json(board)},
          {"diverged", board.diverged},
          {"beyond", board.beyond}};
}

}  // namespace

Json model_record(const ssm::Model& model, const std::string& name, const std::vector<NamedRecording>& recordings,
                  const ModelRecordOptions& options) {
  Json record = record_head("model", name, name);
  record["inputs"] = model.spec.inputs;
  record["outputs"] = model.spec.outputs;
  record["dt"] = number(model.spec.dt, 9);
  record["warmup"] = options.predict.warmup;
  record["draws"] = options.predict.draws;
  if (options.describe) {
    record["model"] = options.describe(model);
  }
  record["trace"] = list(model.report.trace, 8);
  const SmoothedStates states = smoothed_states(model, training_lengths(model));
  if (states.mean.rows() > 0 && model.gp.parameters.Z.rows() > 0) {
    // The file holds no controls of the training rows; the inducing points lie where those rows were.
    const ssm::Scaling& s = model.scaling;
    Matrix points = model.gp.parameters.Z;
    const Index D = model.gp.structure.states;
    for (Index i = 0; i < points.cols(); ++i) {
      const double offset = i < D ? s.state_offset(i) : s.control_offset(i - D);
      const double scale = i < D ? s.state_scale(i) : s.control_scale(i - D);
      points.col(i) = (offset + scale * points.col(i).array()).matrix();
    }
    record["slices"] = slices_json(model, points, {});
    record["slices"]["what"] = "inducing points";
  }
  const ssm::Predictor predictor(model, model.gp);
  Index left = kMostRows;
  Index total = 0;
  Json list_of = Json::array();
  std::vector<ssm::Scoreboard> boards;
  boards.reserve(recordings.size());
  std::vector<ssm::ResidualRows> rows;
  for (const NamedRecording& recording : recordings) {
    boards.push_back(ssm::score_model(model, recording.sequence, options.predict));
    rows.push_back({boards.back().residuals, recording.sequence.controls});
    const Index shown = std::min(left, recording.sequence.rows());
    list_of.push_back(recording_json(predictor, recording, options.predict, boards.back(), shown));
    left -= shown;
    total += recording.sequence.rows();
  }
  record["recordings"] = list_of;
  if (!recordings.empty()) {
    record["residual_tests"] = residuals_json(ssm::test_residuals(rows, options.lags));
  }
  if (total > kMostRows) {
    record["notes"].push_back(
        fmt::format("Of {} rows the first {} are drawn; scores and tests are over all.", total, kMostRows));
  }
  return record;
}

}  // namespace gpilot::report
