#include "gpilot/inference/bound_optimiser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/inference/whitening.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// By feel, not measured.
constexpr double kSmallestDamping = 1.0 / 64.0;  ///< of a smoothing step: six halvings, then it is given up
constexpr double kCautiousDamping = 0.25;        ///< of the next step after one that was given up
constexpr double kDampingGrowth = 1.5;           ///< after a step that rose, up to a whole step
constexpr double kMStepTolerance = 1e-7;         ///< of an M-step's L-BFGS, as the next
constexpr double kPolishTolerance = 1e-5;        ///< of the last L-BFGS: relative, over five iterations
constexpr double kSettled = 1e-4;                ///< relative gain of smoothing and polish that counts as none
constexpr int kPolishes = 3;                     ///< at most; L-BFGS forgets its past before each
// Between two polishes: enough to tell whether another method finds something, little beside a polish.
constexpr int kESteps = 3;
constexpr int kMIterations = 5;

}  // namespace

BoundOptimiser::BoundOptimiser(ssm::Elbo& elbo, Priors priors, ssm::Free free, ssm::Parameters p, ssm::StatePosterior q,
                               const std::vector<gp::Weights>* given)
    : elbo_(elbo),
      priors_(std::move(priors)),
      free_(std::move(free)),
      p_(std::move(p)),
      q_(std::move(q)),
      given_(given) {
  candidate_ = q_;
  objective_ = evaluate(p_, q_);
  if (objective_ == -kInfinity) {
    throw NumericalError(fmt::format("training: the bound cannot be evaluated at the start: {}", infeasible_));
  }
  bound_ = last_bound_;
  gradient_is_current_ = true;
  trace_.push_back(objective_);
}

/// Objective with gradients in p_bar_, q_bar_; -infinity once training is stopped. Steps may go too far, to where a
/// factorisation fails or the bound is not finite: such a point is infeasible, -infinity as well, and infeasible_ says
/// why. This is the only place that recovers from a NumericalError of the bound.
double BoundOptimiser::evaluate(const ssm::Parameters& p, const ssm::StatePosterior& q) {
  if (stopped_ || (on_evaluation_ && !on_evaluation_(objective_))) {
    stopped_ = true;
    message_ = "stopped";
    return -kInfinity;
  }
  ++evaluations_;
  gradient_is_current_ = false;
  try {
    last_bound_ = elbo_.gradient(p, q, p_bar_, q_bar_, given_);
  } catch (const NumericalError& error) {
    infeasible_ = error.what();
    return -kInfinity;
  }
  return last_bound_ + priors_.log_density(p, &p_bar_);
}

/// Brings the gradients back to (p_, q_) after evaluations elsewhere. Returns false once training is stopped.
bool BoundOptimiser::refresh() {
  if (!gradient_is_current_) {
    const double value = evaluate(p_, q_);
    if (stopped_) {
      return false;
    }
    objective_ = value;
    bound_ = last_bound_;
    gradient_is_current_ = true;
  }
  return !stopped_;
}

/// Takes p_ and q_, which were just set, as the new point.
void BoundOptimiser::move_to(double objective) {
  gradient_is_current_ = false;
  objective_ = objective;
  bound_ = objective - priors_.log_density(p_, nullptr);
  refresh();
  accept();
}

void BoundOptimiser::accept() {
  trace_.push_back(objective_);
}

double BoundOptimiser::e_step(int steps, double tolerance) {
  if (!elbo_.structure().shifts.empty()) {
    return 0.0;  // rows without noise have no information form: the polish moves their q(x)
  }
  const double before = objective_;
  for (int k = 0; k < steps; ++k) {
    if (!refresh()) {
      break;
    }
    potentials_of(q_, elbo_.series(), current_, elbo_.threads());
    target_potentials(elbo_, p_, q_, q_bar_, target_);
    const double start = objective_;
    bool risen = false;
    for (; damping_ >= kSmallestDamping && !stopped_; damping_ *= 0.5) {
      mixed_.resize(q_.states(), q_.rows());
      mixed_.J = (1.0 - damping_) * current_.J + damping_ * target_.J;
      mixed_.J_off = (1.0 - damping_) * current_.J_off + damping_ * target_.J_off;
      mixed_.h = damping_ * target_.h;
      if (!posterior_of(mixed_, elbo_.series(), q_.m, candidate_)) {
        continue;
      }
      const double value = evaluate(p_, candidate_);
      if (value > start) {
        std::swap(q_, candidate_);
        objective_ = value;
        bound_ = last_bound_;
        gradient_is_current_ = true;
        risen = true;
        accept();
        break;
      }
    }
    if (!risen) {
      damping_ = kCautiousDamping;
      break;
    }
    damping_ = std::min(1.0, kDampingGrowth * damping_);
    if (objective_ - start < tolerance) {
      break;
    }
  }
  return objective_ - before;
}

double BoundOptimiser::m_step(int iterations) {
  const double before = objective_;
  const Index count = ssm::free_count(p_, free_);
  if (count == 0 || stopped_) {
    return 0.0;
  }
  Vector flat(count);
  ssm::pack(p_, free_, flat);
  ssm::Parameters p = p_;
  const auto negative = [&](const Vector& at, Vector& gradient) {
    ssm::unpack(at, free_, p);
    const double value = evaluate(p, q_);
    ssm::pack(p_bar_, free_, gradient);
    gradient *= -1.0;
    return -value;
  };
  const LbfgsResult result = minimize(negative, flat, {.max_iterations = iterations, .tolerance = kMStepTolerance});
  if (-result.value > objective_) {
    ssm::unpack(flat, free_, p_);
    move_to(-result.value);
  }
  return objective_ - before;
}

double BoundOptimiser::polish(int iterations, double tolerance) {
  const double before = objective_;
  if (stopped_) {
    return 0.0;
  }
  const StateWhitening whitening(q_, elbo_.series(), elbo_.structure().shifts);
  const Index parameters = ssm::free_count(p_, free_);
  Vector flat = Vector::Zero(parameters + whitening.size());
  ssm::pack(p_, free_, flat.head(parameters));
  ssm::Parameters p = p_;
  const auto negative = [&](const Vector& at, Vector& gradient) {
    ssm::unpack(at.head(parameters), free_, p);
    whitening.to_states(at.tail(whitening.size()), candidate_);
    const double value = evaluate(p, candidate_);
    ssm::pack(p_bar_, free_, gradient.head(parameters));
    whitening.pull_back(at.tail(whitening.size()), q_bar_, gradient.tail(whitening.size()));
    gradient *= -1.0;
    return -value;
  };
  infeasible_.clear();
  const LbfgsResult result = minimize(negative, flat, {.max_iterations = iterations, .tolerance = tolerance});
  converged_ = result.converged();
  if (!stopped_) {
    message_ = result.message();
    if (result.stop == LbfgsStop::kLineSearch && !infeasible_.empty()) {
      message_ += fmt::format("; the bound could not be evaluated at a point it tried: {}", infeasible_);
    }
  }
  if (-result.value > objective_) {
    ssm::unpack(flat.head(parameters), free_, p_);
    whitening.to_states(flat.tail(whitening.size()), q_);
    move_to(-result.value);
  }
  return objective_ - before;
}

int BoundOptimiser::rounds(int rounds, int e_steps, int m_iterations, double tolerance) {
  for (int k = 0; k < rounds; ++k) {
    const double start = objective_;
    e_step(e_steps);
    m_step(m_iterations);
    if (objective_ - start < tolerance || stopped_) {
      return k + 1;
    }
  }
  return rounds;
}

void BoundOptimiser::finish(int iterations) {
  for (int k = 0; k < kPolishes; ++k) {
    const double gain = polish(iterations, kPolishTolerance);
    if (converged_ || stopped_) {
      converged_ = converged_ && !stopped_;
      return;
    }
    const double more = e_step(kESteps) + m_step(kMIterations);
    if (k > 0 && gain + more < kSettled * std::max(1.0, std::abs(objective_))) {
      converged_ = true;  // two methods agree that nothing is left to gain
      message_.clear();
      return;
    }
  }
}

std::vector<gp::Weights> BoundOptimiser::weights() {
  elbo_.value(p_, q_, given_);
  gradient_is_current_ = false;
  return elbo_.weights();
}

}  // namespace gpilot::inference
