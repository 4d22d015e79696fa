#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/inference/lbfgs.hpp"
#include "gpilot/inference/priors.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

/// Coordinate ascent on the one bound, from one start: the state posterior by natural-gradient smoothing steps (E),
/// kernel, inducing points and noises by L-BFGS (M), both together by L-BFGS in whitened coordinates (polish). Every
/// step is kept only if the objective (bound plus log prior) rises: within a start it never falls.
class BoundOptimiser {
 public:
  /// With `given`, which must outlive the optimiser, q(v) is held at it instead of being the optimal one.
  BoundOptimiser(ssm::Elbo& elbo, Priors priors, ssm::Free free, ssm::Parameters p, ssm::StatePosterior q,
                 const std::vector<gp::Weights>* given = nullptr);

  /// Called before every evaluation of the bound with the objective so far; when it returns false, training ends where
  /// it stands, and every further step does nothing.
  using OnEvaluation = std::function<bool(double objective)>;
  void on_evaluation(OnEvaluation callback) { on_evaluation_ = std::move(callback); }
  bool stopped() const { return stopped_; }

  /// Up to `steps` smoothing steps; stops early when the objective gains less than `tolerance`. Returns the gain.
  double e_step(int steps, double tolerance = 1e-3);
  /// Up to `iterations` of L-BFGS on the free parameters, q(x) held.
  double m_step(int iterations);
  /// L-BFGS on parameters and q(x) together.
  double polish(int iterations, double tolerance = 1e-6);
  /// `rounds` of E and M; stops when a round gains less than `tolerance`. Returns the rounds done.
  int rounds(int rounds, int e_steps, int m_iterations, double tolerance);
  /// Polishes until the objective no longer rises. A line search that gives up is answered by smoothing and a fresh
  /// quasi-Newton memory. converged() tells whether that settled it, or smoothing and polish agree that nothing is
  /// left.
  void finish(int iterations);

  double objective() const { return objective_; }
  double bound() const { return bound_; }
  const ssm::Parameters& parameters() const { return p_; }
  const ssm::StatePosterior& states() const { return q_; }
  ssm::Free& free() { return free_; }
  /// The optimal q(v) at the present parameters and q(x).
  std::vector<gp::Weights> weights();
  /// The objective after every accepted step.
  const std::vector<double>& trace() const { return trace_; }
  int evaluations() const { return evaluations_; }
  bool converged() const { return converged_; }
  /// Why the last polish stopped short, or "stopped"; empty when it converged.
  const std::string& message() const { return message_; }

 private:
  double evaluate(const ssm::Parameters& p, const ssm::StatePosterior& q);
  bool refresh();
  void accept();
  void move_to(double objective);

  ssm::Elbo& elbo_;
  Priors priors_;
  ssm::Free free_;
  ssm::Parameters p_;
  ssm::StatePosterior q_;
  ssm::Parameters p_bar_;  ///< of the last evaluation
  ssm::StatePosterior q_bar_;
  double objective_ = 0.0;  ///< at (p_, q_)
  double bound_ = 0.0;
  double last_bound_ = 0.0;  ///< of the last evaluation
  bool gradient_is_current_ = false;
  double damping_ = 1.0;
  int evaluations_ = 0;
  std::vector<double> trace_;
  std::string message_;
  std::string infeasible_;  ///< why the bound could not be evaluated where it last could not
  bool converged_ = false;
  ChainPotentials current_, target_, mixed_;
  ssm::StatePosterior candidate_;
  const std::vector<gp::Weights>* given_;
  OnEvaluation on_evaluation_;
  bool stopped_ = false;
};

}  // namespace gpilot::inference
