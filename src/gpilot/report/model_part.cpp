#include "gpilot/report/model_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/core/grid.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/ssm/next_state.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/study/stamp.hpp"

namespace gpilot::report {

namespace {

constexpr Index kSlicePoints = 25;  // along an axis
constexpr std::size_t kMostSlices = 8;
constexpr Index kMostPoints = 4000;  // of the data that are drawn in a slice
constexpr int kSliceDigits = 3;      // of a colour

constexpr std::array<std::pair<const char*, std::size_t>, 4> kBounds{
    {{"q025", 0}, {"q25", 2}, {"q75", 4}, {"q975", 6}}};  // of ssm::kQuantileLevels

/// The median of a column's finite values, 0 if there is none.
double column_median(VectorRef column) {
  std::vector<double> values;
  std::ranges::copy_if(column, std::back_inserter(values), [](double v) { return std::isfinite(v); });
  if (values.empty()) {
    return 0.0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Where to draw each input: what the points span and a little more, the whole box of a control.
Box drawn_range(MatrixRef points, Index states, const Box& box) {
  constexpr double kMargin = 0.15;
  const Index I = points.cols();
  Box range{Vector(I), Vector(I)};
  for (Index i = 0; i < I; ++i) {
    double low = 0.0;
    double high = 0.0;
    bool any = false;
    for (const double v : points.col(i)) {
      if (std::isfinite(v)) {
        low = any ? std::min(low, v) : v;
        high = any ? std::max(high, v) : v;
        any = true;
      }
    }
    const double margin = high > low ? kMargin * (high - low) : std::max(1e-3, kMargin * std::abs(low));
    range.low(i) = low - margin;
    range.high(i) = high + margin;
    if (i >= states && box.low.size() == I - states) {
      range.low(i) = std::min(box.low(i - states), low);
      range.high(i) = std::max(box.high(i - states), high);
    }
  }
  return range;
}

/// The rows without a missing value.
Matrix known_rows(MatrixRef points) {
  Matrix known(points.rows(), points.cols());
  Index count = 0;
  for (Index n = 0; n < points.rows(); ++n) {
    if (points.row(n).allFinite()) {
      known.row(count++) = points.row(n);
    }
  }
  return known.topRows(count);
}

struct Pair {
  Index x = 0, y = 0;
};

/// Pairs of states first, then each state with each control.
std::vector<Pair> drawn_pairs(Index states, Index inputs) {
  std::vector<Pair> pairs;
  for (Index x = 0; x < states; ++x) {
    for (Index y = x + 1; y < inputs; ++y) {
      pairs.push_back({x, y});
    }
  }
  std::ranges::stable_sort(pairs, {}, [&](const Pair& pair) { return pair.y >= states; });
  if (pairs.size() > kMostSlices) {
    pairs.resize(kMostSlices);
  }
  return pairs;
}

Json slice_json(const ssm::Model& model, const Pair& pair, const Box& range, const Vector& rest) {
  const Index D = model.gp.structure.states;
  const Box two{Vector{{range.low(pair.x), range.low(pair.y)}}, Vector{{range.high(pair.x), range.high(pair.y)}}};
  const std::array<Index, 2> counts{kSlicePoints, kSlicePoints};
  const Matrix grid = regular_grid(two, counts);  // y changes fastest
  Matrix inputs = rest.transpose().replicate(grid.rows(), 1);
  inputs.col(pair.x) = grid.col(0);
  inputs.col(pair.y) = grid.col(1);
  const ssm::NextState next = ssm::next_state(model, inputs.leftCols(D), inputs.rightCols(inputs.cols() - D));
  Json slice = {{"x", pair.x},
                {"y", pair.y},
                {"n", kSlicePoints},
                {"range", {number(two.low(0)), number(two.high(0)), number(two.low(1)), number(two.high(1))}},
                {"sd", Json::array()}};
  for (const Index row : model.gp.structure.gp_rows()) {
    slice["sd"].push_back(list(Vector(next.sd.col(row)), kSliceDigits));
  }
  return slice;
}

}  // namespace

Json record_head(const std::string& kind, const std::string& title, const std::string& source) {
  return {{"format", "gpilot-report"},
          {"version", 1},
          {"kind", kind},
          {"title", title},
          {"source", source},
          {"made_at", study::utc_now()},
          {"program", version()},
          {"notes", Json::array()}};
}

Json prediction_json(const ssm::Prediction& prediction, Index first, Index last) {
  const Index rows = last - first;
  Json result = {{"mean", columns(prediction.mean.middleRows(first, rows))}};
  for (const auto& [name, q] : kBounds) {
    result[name] = columns(prediction.quantiles[q].middleRows(first, rows));
  }
  Json beyond = Json::array();
  for (Index t = first; t < last && t < static_cast<Index>(prediction.beyond.size()); ++t) {
    if (prediction.beyond[static_cast<std::size_t>(t)]) {
      beyond.push_back(t - first);
    }
  }
  result["beyond"] = beyond;
  return result;
}

void append_prediction(Json& all, const Json& more, Index offset) {
  if (all.is_null()) {
    all = more;
    return;
  }
  for (const auto& [key, value] : more.items()) {
    if (key == "beyond") {
      for (const Json& row : value) {
        all[key].push_back(row.get<Index>() + offset);
      }
      continue;
    }
    for (std::size_t e = 0; e < value.size(); ++e) {
      all[key][e].insert(all[key][e].end(), value[e].begin(), value[e].end());
    }
  }
}

Json score_json(const ssm::Score& score) {
  return {{"count", score.count},
          {"rmse", list(score.rmse)},
          {"nlpd", list(score.nlpd)},
          {"coverage", columns(score.coverage.transpose())},
          {"pit", columns(score.pit.transpose())}};
}

bool can_be_sliced(const ssm::Model& model) {
  const ssm::Dynamics& gp = model.gp;
  return gp.dead_time == 0 && gp.input_lags == 0 && gp.state_names.empty() &&
         model.scaling.state_scale.size() == gp.structure.states &&
         static_cast<Index>(model.spec.states.size()) == gp.structure.states;
}

std::vector<Index> training_lengths(const ssm::Model& model) {
  std::vector<Index> lengths;
  for (std::size_t k = 1; k < model.starts.size(); ++k) {
    lengths.push_back(model.starts[k] - model.starts[k - 1]);
  }
  return lengths;
}

SmoothedStates smoothed_states(const ssm::Model& model, const std::vector<Index>& lengths) {
  const Index D = model.gp.structure.states;
  const ssm::StatePosterior& q = model.states;
  const std::vector<Index> own = training_lengths(model);
  const bool first_rows = own.size() <= lengths.size() &&
                          std::equal(own.begin(), own.end(), lengths.begin(), std::less_equal<>()) &&
                          q.rows() == std::accumulate(own.begin(), own.end(), Index{0});
  if (!can_be_sliced(model) || q.states() != D || q.rows() == 0 || !first_rows) {
    return {};
  }
  const Matrix P = ssm::marginal_covariances(q);
  const Index rows = std::accumulate(lengths.begin(), lengths.end(), Index{0});
  SmoothedStates states{Matrix::Constant(rows, D, kNaN), Matrix::Constant(rows, D, kNaN)};
  const Vector& scale = model.scaling.state_scale;
  Index from = 0;
  Index to = 0;
  for (std::size_t k = 0; k < own.size(); ++k) {
    for (Index t = 0; t < own[k]; ++t) {
      const auto variance = P.middleCols(D * (from + t), D).diagonal();
      states.mean.row(to + t) = (model.scaling.state_offset + scale.cwiseProduct(q.m.col(from + t))).transpose();
      states.sd.row(to + t) = variance.cwiseMax(0.0).cwiseSqrt().cwiseProduct(scale).transpose();
    }
    from += own[k];
    to += lengths[k];
  }
  return states;
}

Json slices_json(const ssm::Model& model, MatrixRef all_points, const Box& box) {
  const Matrix points = known_rows(all_points);
  const Index D = model.gp.structure.states;
  const Index I = model.gp.structure.inputs();
  if (!can_be_sliced(model) || points.cols() != I || points.rows() == 0) {
    return {};
  }
  Vector rest(I);
  for (Index i = 0; i < I; ++i) {
    rest(i) = column_median(points.col(i));
  }
  std::vector<std::string> names = model.spec.states;
  names.insert(names.end(), model.spec.inputs.begin(), model.spec.inputs.end());
  std::vector<std::string> functions;
  for (const Index row : model.gp.structure.gp_rows()) {
    functions.push_back(model.spec.states[static_cast<std::size_t>(row)]);
  }
  Json result = {{"inputs", names}, {"functions", functions}, {"rest", list(rest)}, {"pairs", Json::array()}};
  const Box range = drawn_range(points, D, box);
  try {
    for (const Pair& pair : drawn_pairs(D, I)) {
      result["pairs"].push_back(slice_json(model, pair, range, rest));
    }
  } catch (const NumericalError& error) {
    result["pairs"] = Json::array();
    result["failure"] = error.what();
  }
  const Index stride = (points.rows() + kMostPoints - 1) / kMostPoints;
  Matrix drawn((points.rows() + stride - 1) / stride, I);
  for (Index n = 0; n < drawn.rows(); ++n) {
    drawn.row(n) = points.row(n * stride);
  }
  result["points"] = columns(drawn, kDigits);
  result["stride"] = stride;
  return result;
}

}  // namespace gpilot::report
