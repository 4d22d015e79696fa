#include "gpilot/plan/function_uncertainty.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "gpilot/inference/priors.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/plan/roll_out.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::plan {

namespace {

constexpr Index kLongestHistory = 150;  ///< transitions: the cost is cubic in the outputs that followed them
// What is unknown allows for a nonlinearity that has not been found yet. All in scaled units, in which a box of
// controls is 3.5 wide, by trial (docs/decisions/planning.md): an sd of .1 to .3 and a scale of controls of 1
// or 4 are level on most systems; on TRAS .2 and .3 with 1 come close to random, .1 does not.
constexpr double kLeastSd = 0.3;
constexpr double kLongestScale = 4.0;  ///< of states
constexpr double kLongestControlScale = 1.0;
constexpr double kLeastLinearSd = 0.1;  ///< by feel, not measured

/// The path that lies behind, linearised: outputs as they answer to f at its points.
struct Past {
  Matrix X;                      ///< [T x I] smoothed points, sequence after sequence
  std::vector<Matrix> response;  ///< [D] of [outputs x T], to what enters a row of L x'
  Matrix noise;                  ///< [outputs x outputs] covariance if f were known
};

/// First rows and lengths of the sequences, as far as q(x) goes.
struct Stretch {
  Index row = 0;
  Index transitions = 0;

  Index rows() const { return transitions + 1; }
};

std::vector<Stretch> stretches(const ssm::Series& series, Index rows) {
  std::vector<Stretch> result;
  for (std::size_t n = 0; n + 1 < series.start.size(); ++n) {
    const Index first = series.start[n];
    if (const Index last = std::min(series.start[n + 1], rows) - 1; last > first) {
      result.push_back({first, last - first});
    }
  }
  return result;
}

/// Adds one sequence, whose transitions are those from k on and whose rows of outputs those from `row` on: the outputs
/// of its first row say nothing about f but where it began.
void add_stretch(const DecisionContext& context, const Stretch& stretch, Index k, Index row,
                 const std::vector<Matrix>& slopes, Past& past) {
  const ssm::Transition& transition = context.transition;
  const ssm::Series& series = *context.history;
  const ssm::Parameters& p = transition.parameters();
  const Index D = transition.structure().states;
  const Index E = transition.structure().outputs;
  const Index H = stretch.transitions;
  std::vector<Matrix> F;
  for (Index t = k; t < k + H; ++t) {
    F.push_back(state_slope(transition, [&](std::size_t g) { return slopes[g].row(t).head(D); }));
  }
  Matrix response;
  Matrix later;
  output_response(F, transition.left_inverse(), p.C, response, later);
  Matrix start(E * (H + 1), D);
  start << p.C, later;
  const ssm::StartPrior x0 =
      ssm::start_prior(transition.structure(), series.broad[static_cast<std::size_t>(stretch.row)]);
  auto noise = past.noise.block(E * row, E * row, E * (H + 1), E * (H + 1));
  noise = start * x0.sd.cwiseAbs2().asDiagonal() * start.transpose();
  noise.diagonal() += p.log_r.array().exp().matrix().replicate(H + 1, 1);
  const Vector process_variance = context.planned_process_variance();
  for (Index d = 0; d < D; ++d) {
    const auto to_row = response.middleCols(d * H, H);
    past.response[static_cast<std::size_t>(d)].block(E * (row + 1), k, E * H, H) = to_row;
    noise.bottomRightCorner(E * H, E * H).noalias() += process_variance(d) * to_row * to_row.transpose();
  }
}

/// Leaves out the outputs that are missing.
void keep_measured(const ssm::Series& series, const std::vector<Stretch>& parts, Past& past) {
  std::vector<Index> measured;
  Index at = 0;
  for (const Stretch& part : parts) {
    for (Index t = part.row; t < part.row + part.rows(); ++t) {
      for (Index e = 0; e < series.outputs.rows(); ++e, ++at) {
        if (!std::isnan(series.outputs(e, t))) {
          measured.push_back(at);
        }
      }
    }
  }
  past.noise = Matrix(past.noise(measured, measured));
  for (Matrix& response : past.response) {
    response = Matrix(response(measured, Eigen::all));
  }
}

Past linearised_past(const DecisionContext& context, const std::vector<Stretch>& parts, Index T) {
  const ssm::Transition& transition = context.transition;
  const ssm::Structure& s = transition.structure();
  const Index outputs = s.outputs * (T + static_cast<Index>(parts.size()));
  Past past{Matrix(T, s.inputs()), std::vector<Matrix>(static_cast<std::size_t>(s.states), Matrix::Zero(outputs, T)),
            Matrix::Zero(outputs, outputs)};
  Index k = 0;
  for (const Stretch& part : parts) {
    past.X.block(k, 0, part.transitions, s.states) = context.q->m.middleCols(part.row, part.transitions).transpose();
    past.X.block(k, s.states, part.transitions, s.controls) =
        context.history->controls.middleCols(part.row, part.transitions).transpose();
    k += part.transitions;
  }
  std::vector<Matrix> slopes;
  gp::PackedPosterior::Points points;
  Vector mean;
  for (const gp::PackedPosterior& posterior : model_posteriors(context)) {
    posterior.predict(past.X, points, mean, slopes.emplace_back());
  }
  transition.add_physics_slopes(past.X, slopes);
  k = 0;
  Index row = 0;
  for (const Stretch& part : parts) {
    add_stretch(context, part, k, row, slopes, past);
    k += part.transitions;
    row += part.rows();
  }
  keep_measured(*context.history, parts, past);
  return past;
}

/// Which of the physics' rows a state is, or -1.
Index physics_row(const ssm::Transition& transition, Index state) {
  const auto& physics = transition.structure().physics;
  if (!physics) {
    return -1;
  }
  const auto found = std::ranges::find(physics->rows(), state);
  return found == physics->rows().end() ? -1 : found - physics->rows().begin();
}

/// The model's kernel, or a small one where it has none. What a formula may have left out is as much smaller than a
/// function without one as training takes it to be.
gp::AnchoredKernel exploration_kernel(const gp::InducingBasis& basis, const ssm::Structure& structure, const Matrix& X,
                                      bool has_formula) {
  const bool stationary = basis.inducing() > 0;
  const double share = has_formula ? std::exp(0.5 * inference::Priors::kPhysicsShift) : 1.0;
  gp::AnchoredKernel kernel{.kind = basis.kind,
                            .variance = share * share * kLeastSd * kLeastSd,
                            .angles = basis.angles,
                            .length_scales = Vector::Constant(basis.columns(), kLongestScale),
                            .linear_sd = basis.linear_sd.cwiseMax(share * kLeastLinearSd),
                            .anchors = kernels::embedded(basis.angles, X)};
  kernel.length_scales.segment(structure.states, structure.controls).setConstant(kLongestControlScale);
  if (stationary) {
    kernel.variance = std::max(kernel.variance, basis.variance);
    kernel.length_scales = kernel.length_scales.cwiseMin(basis.inverse_length_scales.cwiseInverse());
  }
  // What is known of the function stays known.
  for (Index i = 0; i < basis.columns(); ++i) {
    if (basis.inverse_length_scales(i) == 0.0) {
      kernel.length_scales(i) = std::numeric_limits<double>::infinity();
    }
  }
  kernel.linear_sd = (basis.linear_sd.array() == 0.0).select(0.0, kernel.linear_sd);
  kernel.form = basis.form;
  return kernel;
}

/// A parameter of the physics that is not known is a direction in which the function of its row is not known: the
/// derivative of the row in it, with a weight that is standard normal before any data.
void add_parameters(const ssm::Transition& transition, Index state, const Matrix& X, gp::AnchoredKernel& kernel) {
  const auto& physics = transition.structure().physics;
  const Index found = physics_row(transition, state);
  if (found < 0 || physics->parameters() == 0) {
    return;
  }
  const auto row = static_cast<std::size_t>(found);
  kernel.extra = [physics, row, eta = transition.parameters().physics](MatrixRef points) {
    std::vector<Matrix> slopes;
    std::vector<Matrix> parameter_slopes;
    physics->evaluate(points, eta, slopes, parameter_slopes);
    return parameter_slopes[row];
  };
  kernel.extra_at_anchors = kernel.extra(X);
}

/// Needs the history and its q(x).
std::vector<gp::PackedPosterior> given_outputs(const DecisionContext& context) {
  const ssm::Transition& transition = context.transition;
  // After rows that no training has seen yet q(x) is shorter than the history.
  const std::vector<Stretch> parts = stretches(*context.history, std::min(context.history->rows(), context.q->rows()));
  Index T = 0;
  for (const Stretch& part : parts) {
    T += part.transitions;
  }
  if (T == 0 || T > kLongestHistory) {
    return model_posteriors(context);
  }
  const Past past = linearised_past(context, parts, T);
  std::vector<gp::AnchoredKernel> kernels;
  Matrix S = past.noise;
  for (std::size_t g = 0; g < transition.bases().size(); ++g) {
    const Index state = transition.row_states()[g];
    kernels.push_back(
        exploration_kernel(transition.bases()[g], transition.structure(), past.X, physics_row(transition, state) >= 0));
    add_parameters(transition, state, past.X, kernels.back());
    const Matrix& response = past.response[static_cast<std::size_t>(state)];
    S.noalias() += response * kernels.back().gram() * response.transpose();
  }
  Matrix S_chol;
  linalg::cholesky(S, S_chol, "covariance of the outputs so far");
  std::vector<gp::PackedPosterior> result;
  for (std::size_t g = 0; g < kernels.size(); ++g) {
    // cov(f(x), f(y)) = k(x, y) - k(x, X) B k(X, y),  B = response^T S^-1 response. What a measurement says about two
    // rows together is left out.
    const Matrix half = S_chol.triangularView<Eigen::Lower>().solve(
        past.response[static_cast<std::size_t>(transition.row_states()[g])]);
    result.emplace_back(kernels[g], Matrix(half.transpose() * half));
  }
  return result;
}

}  // namespace

std::vector<gp::PackedPosterior> model_posteriors(const DecisionContext& context) {
  if (context.memo != nullptr && context.memo->posteriors) {
    return *context.memo->posteriors;
  }
  std::vector<gp::PackedPosterior> result;
  for (std::size_t g = 0; g < context.transition.bases().size(); ++g) {
    result.emplace_back(context.transition.bases()[g], context.transition.weights()[g]);
  }
  if (context.memo != nullptr) {
    context.memo->posteriors = result;
  }
  return result;
}

std::vector<gp::PackedPosterior> function_uncertainty(const DecisionContext& context) {
  if (context.history == nullptr || context.q == nullptr) {
    return model_posteriors(context);
  }
  if (context.memo == nullptr) {
    return given_outputs(context);
  }
  // It knows the rows that the model was trained on: newer ones change nothing.
  if (!context.memo->uncertainty) {
    context.memo->uncertainty = given_outputs(context);
  }
  return *context.memo->uncertainty;
}

}  // namespace gpilot::plan
