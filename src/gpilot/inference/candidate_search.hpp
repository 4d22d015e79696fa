#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fit_progress.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/inference/trainer.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::inference {

/// A model that training arrived at.
struct Trained {
  std::string name;
  ssm::Component component;
  ssm::StatePosterior q;
  ssm::Free free;  ///< what training moved
  ssm::FitReport report;
  bool converged = false;
  double density = 0.0;     ///< predictive, less the price of the determined weights
  double determined = 0.0;  ///< how many weights the data determine
};

/// One call of fit(): the scaled data, the priors, and every model that was trained on the way.
class Fitter {
 public:
  Fitter(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options, const ssm::Model* previous);

  ssm::Model run();
  /// Trains a component further on this data, from q(x) of its rows, without candidates or judgement.
  Trained retrain(const ssm::Component& from, const ssm::Free& free, const gp::Nodes& nodes,
                  const ssm::StatePosterior& q);

  const ssm::Series& series() const { return series_; }
  const gp::Nodes& nodes() const { return nodes_; }
  const Priors& priors() const { return priors_; }
  /// After run(): what the chosen candidate's training moved.
  const ssm::Free& chosen_free() const { return chosen_free_; }

 private:
  Trained finish(std::string name, Trainer& trainer, const ssm::Elbo& elbo) const;
  static Trained result_of(std::string name, Trainer& trainer, const ssm::Elbo& elbo);
  Trained judged(Trained trained) const;
  void train(Trainer& trainer) const;
  Trained train_linear(int restart);
  Trained train_gp(std::string name, const ssm::Parameters& p, const ssm::StatePosterior& q);
  Trained train_paper(const Trained& linear);
  /// Whether there is something to go on from: a previous model without a Gaussian process has nothing to add to the
  /// fresh start.
  bool continues() const { return previous_ != nullptr && previous_->gp.structure.inducing > 0; }
  Trained warm_start();
  ssm::StatePosterior continued_states(const ssm::Parameters& p) const;
  ssm::Parameters gp_start(const Trained& linear, std::uint32_t restart) const;
  void set_initial_kernel(ssm::Parameters& p) const;
  bool nodes_suffice(const Trainer& trainer, int level) const;
  std::vector<Trained> noise_path(const Trained& start);
  double observed_values() const;
  Vector explained(const Trained& trained) const;
  void describe(const Trained& best, ssm::FitReport& report) const;

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
