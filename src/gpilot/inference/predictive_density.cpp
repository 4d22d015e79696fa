#include "gpilot/inference/predictive_density.hpp"

#include <algorithm>

#include "gpilot/ssm/series.hpp"

namespace gpilot::inference {

double predictive_density(const ssm::Transition& transition, const ssm::Series& series, const gp::Nodes& nodes,
                          int steps, Index starts) {
  const ssm::Filter filter(transition, nodes);
  const Index stride = std::max<Index>(1, series.rows() / starts);
  double total = 0.0;
  Index values = 0;
  ssm::StateBelief belief;
  for (Index t = 0; t < series.rows(); ++t) {
    if (series.first[static_cast<std::size_t>(t)]) {
      belief = filter.initial(series.broad[static_cast<std::size_t>(t)]);
    } else {
      belief = filter.predict(belief, series.controls.col(t - 1));
    }
    filter.update(belief, series.outputs.col(t));
    if (t % stride != 0) {
      continue;
    }
    ssm::StateBelief ahead = belief;
    for (Index k = t + 1; k <= t + steps && k < series.rows() && !series.first[static_cast<std::size_t>(k)]; ++k) {
      ahead = filter.predict(ahead, series.controls.col(k - 1));
      ssm::StateBelief scratch = ahead;
      total += filter.update(scratch, series.outputs.col(k));
      values += series.outputs.rows() - series.outputs.col(k).array().isNaN().count();
    }
  }
  return values > 0 ? total / static_cast<double>(values) : 0.0;
}

}  // namespace gpilot::inference
