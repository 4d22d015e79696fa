#pragma once

#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/report/numbers.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/prediction.hpp"

/// What reports of studies and of models share.
namespace gpilot::report {

/// The fields every record begins with.
Json record_head(const std::string& kind, const std::string& title, const std::string& source);

/// {"mean": [E][rows], "q025": .., "q25": .., "q75": .., "q975": .., "beyond": [rows numbers]}, from `first` to before
/// `last`.
Json prediction_json(const ssm::Prediction& prediction, Index first, Index last);
/// Appends the columns of one to those of another, and what is beyond with `offset` rows added.
void append_prediction(Json& all, const Json& more, Index offset);

/// Score of one predictor: {"count", "rmse", "nlpd", "coverage": [E][3], "pit": [E][10]}.
Json score_json(const ssm::Score& score);

/// States as the model smooths them [rows x D], user units; NaN in rows that it has not learned from.
struct SmoothedStates {
  Matrix mean, sd;
};
/// `lengths` are the rows of the sequences, of which the model's are the first rows. Empty where they are not, or where
/// the model's states are its own.
SmoothedStates smoothed_states(const ssm::Model& model, const std::vector<Index>& lengths);
/// The rows of the model's own sequences.
std::vector<Index> training_lengths(const ssm::Model& model);

/// Whether the transition takes a state in user units and the present control, so that it can be drawn.
bool can_be_sliced(const ssm::Model& model);

/// The sd of the learned function over two inputs at a time, the others at the median of `points` [N x I], and where
/// the points lie. `box` of the controls may be empty.
Json slices_json(const ssm::Model& model, MatrixRef points, const Box& box);

}  // namespace gpilot::report
