#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/batches.hpp"
#include "gpilot/inference/candidate_search.hpp"
#include "gpilot/inference/linearised.hpp"
#include "gpilot/inference/parameter_errors.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/report.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

namespace {

constexpr int kSmoothingSteps = 20;           ///< most of a piece
constexpr double kSmoothingTolerance = 1e-5;  ///< a smoothing step that gains less per row ends a piece; by feel
constexpr double kEvaluationsPerRow = 6.0;    ///< of a pass, for the time left
constexpr double kShareUsed = 0.5;            ///< of the evaluations that a training may use, for the time left

/// Sum of a column's values and of their squares, for mean and standard deviation; shifted by the first batch's mean.
/// Angles count within the turn about it.
struct OutputSums {
  Vector shift, turns, sum, squares, count;

  OutputSums(const Vector& at, Vector turn)
      : shift(at),
        turns(std::move(turn)),
        sum(Vector::Zero(at.size())),
        squares(Vector::Zero(at.size())),
        count(Vector::Zero(at.size())) {}

  void add(const Matrix& outputs) {
    for (Index e = 0; e < outputs.cols(); ++e) {
      for (Index t = 0; t < outputs.rows(); ++t) {
        if (const double y = ssm::nearest_turn(outputs(t, e) - shift(e), 0.0, turns(e)); !std::isnan(y)) {
          sum(e) += y;
          squares(e) += y * y;
          count(e) += 1.0;
        }
      }
    }
  }
};

/// p += factor * q, every number of it.
void add_scaled(ssm::Parameters& p, double factor, const ssm::Parameters& q) {
  p.log_variance += factor * q.log_variance;
  p.log_length_scales += factor * q.log_length_scales;
  p.log_linear_sd += factor * q.log_linear_sd;
  p.mean_weights += factor * q.mean_weights;
  p.Z += factor * q.Z;
  p.log_q += factor * q.log_q;
  p.log_r += factor * q.log_r;
  p.C += factor * q.C;
  p.d += factor * q.d;
  p.physics += factor * q.physics;
}

/// Rows first .. end - 1 of a chain as a chain of their own.
ssm::StatePosterior part_of(const ssm::StatePosterior& q, Index first, Index end) {
  const Index D = q.states();
  Matrix P_chol;
  linalg::cholesky(ssm::marginal_covariances(q).middleCols(D * first, D), P_chol, "covariance of a state");
  ssm::StatePosterior part{q.m.middleCols(first, end - first), q.A.middleCols(D * first, D * (end - first)),
                           q.S_chol.middleCols(D * first, D * (end - first))};
  part.A.leftCols(D).setZero();
  part.S_chol.leftCols(D) = P_chol;
  return part;
}

ssm::Sequence part_of(const ssm::Sequence& s, Index first, Index end) {
  return {s.controls.middleRows(first, end - first), s.outputs.middleRows(first, end - first)};
}

}  // namespace

/// One call of fit_batches().
class BatchSearch {
 public:
  BatchSearch(const Recordings& recordings, const ssm::ModelSpec& spec, const FitOptions& options,
              const BatchOptions& batches)
      : recordings_(recordings), spec_(spec), options_(options), batches_(batches), open_(spec), inner_(options) {
    // A sub-sequence may start anywhere: what is known of the recording's first state says nothing of it.
    open_.x0_mean = {};
    open_.x0_sd = {};
    const double training = kShareUsed * (options.rounds * (options.e_steps + options.m_iterations) + options.polish);
    const double batch_rows = static_cast<double>(batches.rows);
    work_first_ = batch_rows * training * (1.2 + options.restarts + options.noise_path);
    work_further_ = batch_rows * training;
    work_sweep_ = static_cast<double>(recordings.total_rows()) * kEvaluationsPerRow;
    work_total_ = work_first_ + (batches.count - 1) * work_further_ + batches.sweeps * work_sweep_;
  }

  ssm::Model run();

 private:
  /// A piece of the last passes: the rows it stands for, and the rows that are smoothed.
  struct Piece {
    Window own, smoothed;
  };

  bool stopped() const { return options_.stop != nullptr && *options_.stop; }
  std::vector<ssm::Dataset> read_batches() const;
  void set_stage(double work);
  void train_further(const std::vector<ssm::Dataset>& data);
  void weights_of_batch(const ssm::Dataset& data);
  std::vector<Piece> pieces() const;
  bool sweep(const std::vector<Piece>& pieces, const std::string& name);
  void smooth_piece(const Piece& piece, const ssm::Sequence& rows, bool last);
  void finish(double seconds);

  const Recordings& recordings_;
  const ssm::ModelSpec& spec_;
  const FitOptions& options_;
  const BatchOptions& batches_;
  ssm::ModelSpec open_;  ///< without x0
  FitOptions inner_;     ///< reports into its share of the whole work
  ssm::Model model_;
  ssm::Free free_;
  Priors priors_;
  gp::Nodes nodes_;
  Matrix points_;  ///< where transitions start, for the linearisation
  std::optional<LinearGaussian> linear_;
  std::vector<gp::Statistics> statistics_;
  std::optional<OutputSums> outputs_;
  int trained_ = 0;  ///< batches whose parameters are in the model
  int swept_ = 0;
  double work_first_ = 0.0, work_further_ = 0.0, work_sweep_ = 0.0, work_total_ = 1.0;
  double work_done_ = 0.0;
};

/// What follows is `work` of the whole; what came before is done.
void BatchSearch::set_stage(double work) {
  if (options_.on_progress) {
    inner_.on_progress = [this, work, done = work_done_](const Progress& p) {
      options_.on_progress({p.stage, (done + p.fraction * work) / work_total_, p.objective});
    };
  }
  work_done_ += work;
}

std::vector<ssm::Dataset> BatchSearch::read_batches() const {
  const std::vector<std::vector<Window>> drawn = draw_batches(recordings_, batches_, options_.seed);
  struct Place {
    Window window;
    std::size_t batch, position;
  };
  std::vector<Place> places;
  std::vector<ssm::Dataset> data;
  for (std::size_t b = 0; b < drawn.size(); ++b) {
    data.emplace_back(drawn[b].size());
    for (std::size_t k = 0; k < drawn[b].size(); ++k) {
      places.push_back({drawn[b][k], b, k});
    }
  }
  std::ranges::stable_sort(places, [](const Place& a, const Place& b) {
    return std::pair(a.window.recording, a.window.begin) < std::pair(b.window.recording, b.window.begin);
  });
  std::vector<Window> windows;
  for (const Place& place : places) {
    windows.push_back(place.window);
  }
  recordings_.read(windows, [&](std::size_t k, ssm::Sequence rows) {
    data[places[k].batch][places[k].position] = std::move(rows);
    return true;
  });
  return data;
}

/// Every further batch gives an estimate of its own, from where the last one ended; the model's is their mean.
void BatchSearch::train_further(const std::vector<ssm::Dataset>& data) {
  ssm::Parameters mean = model_.gp.parameters;
  ssm::Dynamics from = model_.gp;
  for (std::size_t k = 1; k < data.size() && !stopped(); ++k) {
    set_stage(work_further_);
    CandidateSearch search(data[k], open_, inner_, &model_);
    const ssm::StatePosterior q = smooth(linearised(from, points_), search.series());
    TrainedCandidate trained = search.retrain(from, free_, nodes_, q);
    if (stopped()) {
      break;
    }
    model_.report.evaluations += trained.report.evaluations;
    from = std::move(trained.dynamics);
    ++trained_;
    ssm::Parameters difference = from.parameters;
    add_scaled(difference, -1.0, mean);
    add_scaled(mean, 1.0 / trained_, difference);
  }
  model_.gp.parameters = mean;
}

/// q(v) at the mean parameters, from one batch: what the first pass starts with. Smoothing steps alone would be slow to
/// agree on it, since q(x) and q(v) hold each other where the process noise is small.
void BatchSearch::weights_of_batch(const ssm::Dataset& data) {
  const CandidateSearch search(data, open_, inner_, &model_);
  ssm::Elbo elbo(model_.gp.structure, search.series(), nodes_, options_.threads);
  ssm::Free held{
      .kernel = false, .linear_sd = false, .mean = false, .inducing = false, .q = {}, .r = {}, .physics = false};
  held.q = Vector::Zero(model_.gp.structure.states);
  held.r = Vector::Zero(model_.gp.structure.outputs);
  BoundOptimiser optimiser(elbo, priors_, held, model_.gp.parameters,
                           smooth(linearised(model_.gp, points_), search.series()));
  optimiser.on_evaluation([this](double) { return !stopped(); });
  optimiser.e_step(kSmoothingSteps, kSmoothingTolerance * static_cast<double>(search.series().rows()));
  optimiser.polish(options_.polish);
  model_.gp.weights = optimiser.weights();
  model_.states = optimiser.states();
  model_.starts = search.series().start;
  report_parameters(model_.gp, search.series(), model_.states, model_.report);  // errors of one batch: wider, not less
}

std::vector<BatchSearch::Piece> BatchSearch::pieces() const {
  std::vector<Piece> all;
  for (Index r = 0; r < recordings_.count(); ++r) {
    const Index rows = recordings_.rows(r);
    const Index count = std::max<Index>(1, rows / batches_.piece);
    for (Index k = 0; k < count; ++k) {
      const Window own{r, k * rows / count, (k + 1) * rows / count};
      all.push_back(
          {own, {r, std::max<Index>(0, own.begin - batches_.overlap), std::min(rows, own.end + batches_.overlap)}});
    }
  }
  return all;
}

/// Smooths a piece at the present q(v) and adds what its own transitions say of the function.
void BatchSearch::smooth_piece(const Piece& piece, const ssm::Sequence& rows, bool last) {
  ssm::Structure structure = model_.gp.structure;
  if (piece.smoothed.begin > 0) {
    structure.x0_mean = linear_->start.mean;
    structure.x0_sd = linear_->start.sd;
  }
  ssm::Sequence scaled = model_.scaling.to_scaled(rows);
  ssm::unwrap(structure, model_.gp.parameters, scaled);
  const ssm::Series series = ssm::concatenate({scaled});
  LinearGaussian start = *linear_;
  start.start = ssm::start_prior(structure, false);
  start.broad_start = ssm::start_prior(structure, true);
  ssm::Elbo elbo(structure, series, nodes_, options_.threads);
  BoundOptimiser optimiser(elbo, priors_, free_, model_.gp.parameters, smooth(start, series), &model_.gp.weights);
  optimiser.on_evaluation([this](double) { return !stopped(); });
  optimiser.e_step(kSmoothingSteps, kSmoothingTolerance * static_cast<double>(series.rows()));
  model_.report.evaluations += optimiser.evaluations();

  // The transition into the first own row belongs to this piece, so it begins a row earlier.
  const Index first = std::max<Index>(0, piece.own.begin - 1) - piece.smoothed.begin;
  const Index end = piece.own.end - piece.smoothed.begin;
  const ssm::Series own = ssm::concatenate({part_of(scaled, first, end)});
  const ssm::StatePosterior q = part_of(optimiser.states(), first, end);
  ssm::Elbo counted(structure, own, nodes_, options_.threads);
  counted.value(model_.gp.parameters, q, &model_.gp.weights);
  for (std::size_t g = 0; g < statistics_.size(); ++g) {
    statistics_[g].G += counted.regression().statistics()[g].G;
    statistics_[g].h += counted.regression().statistics()[g].h;
  }
  if (last) {
    model_.states = q;
    model_.starts = {0, q.rows()};
    model_.report.bound = counted.terms().total();
  }
}

/// One pass over all rows: q(x) of every piece at the present q(v), then the optimal q(v) of all pieces together.
/// Returns false, and leaves q(v), when it was stopped.
bool BatchSearch::sweep(const std::vector<Piece>& pieces, const std::string& name) {
  set_stage(work_sweep_);
  const ssm::Dynamics& gp = model_.gp;
  linear_ = linearised(gp, points_);
  statistics_.clear();
  for (const gp::Weights& v : gp.weights) {
    statistics_.push_back({Matrix::Zero(v.mu.size(), v.mu.size()), Vector::Zero(v.mu.size())});
  }
  outputs_.emplace(model_.output_mean, spec_.turns());
  std::vector<Window> windows;
  for (const Piece& piece : pieces) {
    windows.push_back(piece.smoothed);
  }
  recordings_.read(windows, [&](std::size_t k, const ssm::Sequence& rows) {
    smooth_piece(pieces[k], rows, k + 1 == pieces.size());
    outputs_->add(rows.outputs.middleRows(pieces[k].own.begin - pieces[k].smoothed.begin, pieces[k].own.rows()));
    if (inner_.on_progress) {
      inner_.on_progress({name, static_cast<double>(k + 1) / static_cast<double>(pieces.size()), 0.0});
    }
    return !stopped();
  });
  if (stopped()) {
    return false;
  }
  Matrix B;
  Matrix L_B;
  const std::vector<Index> rows = gp.structure.gp_rows();
  for (std::size_t g = 0; g < rows.size(); ++g) {
    gp::collapse(statistics_[g], std::exp(gp.parameters.log_q(rows[g])), B, L_B, model_.gp.weights[g]);
  }
  return true;
}

/// What is declared of the first state, the outputs' statistics over all rows, and the report.
void BatchSearch::finish(double seconds) {
  const ssm::Structure declared = ssm::make_structure(spec_, model_.scaling, recordings_.total_rows());
  for (ssm::Dynamics* dynamics : {&model_.gp, &model_.linear}) {
    dynamics->structure.x0_mean = declared.x0_mean;
    dynamics->structure.x0_sd = declared.x0_sd;
  }
  model_.spec = spec_;
  if (swept_ > 0) {
    const Vector shifted = outputs_->sum.cwiseQuotient(outputs_->count);
    model_.output_mean = outputs_->shift + shifted;
    model_.output_sd =
        (outputs_->squares.cwiseQuotient(outputs_->count) - shifted.cwiseAbs2()).cwiseMax(0.0).cwiseSqrt();
  }
  ssm::FitReport& report = model_.report;
  const auto add = [&report](const char* name, Index value) {
    report.settings.push_back({name, fmt::format("{}", value)});
  };
  add("batch", batches_.rows);
  add("batch_length", batches_.length);
  add("batches", batches_.count);
  add("sweeps", batches_.sweeps);
  add(ssm::kRowsSetting, recordings_.total_rows());
  add(ssm::kSequencesSetting, recordings_.count());
  report.seconds = seconds;
  if (stopped()) {
    report.status = ssm::FitStatus::kInterrupted;
    report.message = fmt::format(
        "training was stopped after {} of {} batches and {} of {} passes over all rows; this is the best model so far",
        trained_, batches_.count, swept_, batches_.sweeps);
  } else {
    report.message = fmt::format("parameters from {} batches of {} rows, the function from all {} rows; {}", trained_,
                                 batches_.rows, recordings_.total_rows(), report.message);
  }
}

ssm::Model BatchSearch::run() {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<ssm::Dataset> data = read_batches();
  set_stage(work_first_);
  {
    CandidateSearch search(data.front(), open_, inner_, nullptr);
    model_ = search.run();
    free_ = search.chosen_free();
    priors_ = search.priors();
    nodes_ = search.nodes();
    points_ = thinned(transition_inputs(model_.gp.structure, search.series(), model_.states));
    trained_ = 1;
  }
  if (!stopped()) {
    train_further(data);
    if (trained_ > 1) {
      weights_of_batch(data[static_cast<std::size_t>(trained_) - 1]);
    }
    const std::vector<Piece> all = pieces();
    while (swept_ < batches_.sweeps && sweep(all, fmt::format("all rows, pass {}", swept_ + 1))) {
      ++swept_;
    }
  }
  finish(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return std::move(model_);
}

ssm::Model fit_batches(const Recordings& recordings, const ssm::ModelSpec& spec, const FitOptions& options,
                       const BatchOptions& batches) {
  batches.validate();
  options.validate();
  if (options.method == Method::kAdam) {
    throw InputError("batches go with the methods em and lbfgs, not with adam");
  }
  if (recordings.total_rows() <= batches.rows) {
    std::vector<Window> whole;
    for (Index k = 0; k < recordings.count(); ++k) {
      whole.push_back({k, 0, recordings.rows(k)});
    }
    ssm::Dataset data;
    recordings.read(whole, [&data](std::size_t /*k*/, ssm::Sequence rows) {
      data.push_back(std::move(rows));
      return true;
    });
    return fit(data, spec, options);
  }
  spec.validate();
  return BatchSearch(recordings, spec, options, batches).run();
}

}  // namespace gpilot::inference
