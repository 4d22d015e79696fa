#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/bound_optimiser.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/inference/fit_progress.hpp"
#include "gpilot/inference/rolling_runs.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

/// Free runs over rows not learned from that it takes to judge by them. By feel.
inline constexpr Index kFewestRuns = 3;

/// A model that training arrived at.
struct TrainedCandidate {
  std::string name;
  ssm::Dynamics dynamics;
  ssm::StatePosterior q;
  ssm::Free free;  ///< what training moved
  ssm::FitReport report;
  bool converged = false;
  double density = 0.0;      ///< predictive, less the price of the determined weights
  double determined = 0.0;   ///< how many weights the data determine
  RollingRuns rolling = {};  ///< free runs over rows that the function had not learned from
};

/// One call of fit(): the scaled data, the priors, and every model that was trained on the way.
class CandidateSearch {
 public:
  CandidateSearch(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options,
                  const ssm::Model* previous);

  ssm::Model run();
  /// Every candidate, the linear model first, each judged.
  std::vector<TrainedCandidate> train_all();
  /// The one to take.
  static std::size_t choose(const std::vector<TrainedCandidate>& all);
  /// What fit() returns if this one is taken.
  ssm::Model model_of(const std::vector<TrainedCandidate>& all, std::size_t chosen);
  /// Trains dynamics further on this data, from q(x) of its rows, without candidates or judgement.
  TrainedCandidate retrain(const ssm::Dynamics& from, const ssm::Free& free, const gp::Nodes& nodes,
                           const ssm::StatePosterior& q);

  const ssm::Series& series() const { return series_; }
  const gp::Nodes& nodes() const { return nodes_; }
  const Priors& priors() const { return priors_; }
  /// After run(): what the chosen candidate's training moved.
  const ssm::Free& chosen_free() const { return chosen_free_; }

 private:
  TrainedCandidate finish(std::string name, BoundOptimiser& optimiser, const ssm::Elbo& elbo) const;
  static TrainedCandidate result_of(std::string name, BoundOptimiser& optimiser, const ssm::Elbo& elbo);
  TrainedCandidate judged(TrainedCandidate trained) const;
  void train(BoundOptimiser& optimiser) const;
  Priors formulas_alone() const;
  TrainedCandidate train_linear(const std::string& name, int restart, const Priors& priors);
  TrainedCandidate train_gp(std::string name, const ssm::Parameters& p, const ssm::StatePosterior& q);
  TrainedCandidate train_paper(const TrainedCandidate& linear);
  /// Whether there is something to go on from: a previous model without a Gaussian process has nothing to add to the
  /// fresh start.
  bool continues() const { return previous_ != nullptr && previous_->gp.structure.inducing > 0; }
  TrainedCandidate warm_start();
  ssm::StatePosterior continued_states(const ssm::Parameters& p) const;
  ssm::Parameters gp_start(const TrainedCandidate& linear, std::uint32_t restart) const;
  void set_initial_kernel(ssm::Parameters& p) const;
  bool nodes_suffice(const BoundOptimiser& optimiser, int level) const;
  std::vector<TrainedCandidate> noise_path(const TrainedCandidate& start);
  double observed_values() const;
  Vector explained(const TrainedCandidate& trained) const;
  Vector support(const TrainedCandidate& trained) const;
  bool moves() const;
  void describe(const TrainedCandidate& best, ssm::FitReport& report) const;

  const ssm::ModelSpec& spec_;
  const FitOptions& options_;
  const ssm::Model* previous_;
  ssm::Scaling scaling_;
  ssm::Series series_;
  ssm::Structure structure_;
  gp::Nodes nodes_;
  int node_level_ = 0;
  ssm::Parameters start_;
  ssm::Free free_;
  Priors priors_;
  Vector output_mean_, output_sd_;
  ssm::Free chosen_free_;
  mutable FitProgress progress_;
};

}  // namespace gpilot::inference
