#include "gpilot/acquisition/function_uncertainty.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "gpilot/acquisition/roll_out.hpp"
#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::acquisition {

namespace {

constexpr Index kLongestHistory = 150;  ///< transitions: the cost is cubic in the outputs that followed them
constexpr double kLeastSd = 0.1;        ///< scaled units, of a nonlinearity that is allowed for
constexpr double kLongestScale = 4.0;   ///< scaled units
constexpr double kLeastLinearSd = 0.1;

std::vector<gp::PackedPosterior> posteriors_of(const ssm::Transition& transition) {
  std::vector<gp::PackedPosterior> result;
  for (std::size_t g = 0; g < transition.bases().size(); ++g) {
    result.emplace_back(transition.bases()[g], transition.weights()[g]);
  }
  return result;
}

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
void add_stretch(const Situation& situation, const Stretch& stretch, Index k, Index row,
                 const std::vector<Matrix>& slopes, Past& past) {
  const ssm::Transition& transition = situation.transition;
  const ssm::Series& series = *situation.history;
  const ssm::Parameters& p = transition.parameters();
  const Index D = transition.structure().states;
  const Index E = transition.structure().outputs;
  const Index H = stretch.transitions;
  std::vector<Matrix> F;
  for (Index t = k; t < k + H; ++t) {
    Matrix slope = transition.linear_slope().leftCols(D);
    for (std::size_t g = 0; g < slopes.size(); ++g) {
      slope.row(transition.row_states()[g]) += slopes[g].row(t).head(D);
    }
    F.push_back(transition.left_inverse() * slope);
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
  for (Index d = 0; d < D; ++d) {
    const auto to_row = response.middleCols(d * H, H);
    past.response[static_cast<std::size_t>(d)].block(E * (row + 1), k, E * H, H) = to_row;
    noise.bottomRightCorner(E * H, E * H).noalias() += transition.process_variance()(d) * to_row * to_row.transpose();
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

Past linearised_past(const Situation& situation, const std::vector<Stretch>& parts, Index T) {
  const ssm::Transition& transition = situation.transition;
  const ssm::Structure& s = transition.structure();
  const Index outputs = s.outputs * (T + static_cast<Index>(parts.size()));
  Past past{Matrix(T, s.inputs()), std::vector<Matrix>(static_cast<std::size_t>(s.states), Matrix::Zero(outputs, T)),
            Matrix::Zero(outputs, outputs)};
  Index k = 0;
  for (const Stretch& part : parts) {
    past.X.block(k, 0, part.transitions, s.states) = situation.q->m.middleCols(part.row, part.transitions).transpose();
    past.X.block(k, s.states, part.transitions, s.controls) =
        situation.history->controls.middleCols(part.row, part.transitions).transpose();
    k += part.transitions;
  }
  std::vector<Matrix> slopes;
  gp::PackedPosterior::Points points;
  Vector mean;
  for (const gp::PackedPosterior& posterior : posteriors_of(transition)) {
    posterior.predict(past.X, points, mean, slopes.emplace_back());
  }
  k = 0;
  Index row = 0;
  for (const Stretch& part : parts) {
    add_stretch(situation, part, k, row, slopes, past);
    k += part.transitions;
    row += part.rows();
  }
  keep_measured(*situation.history, parts, past);
  return past;
}

/// The model's kernel, or a small one where it has none.
gp::AnchoredKernel exploration_kernel(const gp::InducingBasis& basis, const Matrix& X) {
  const bool stationary = basis.inducing() > 0;
  gp::AnchoredKernel kernel{.kind = basis.kind,
                            .variance = kLeastSd * kLeastSd,
                            .angles = basis.angles,
                            .length_scales = Vector::Constant(basis.columns(), kLongestScale),
                            .linear_sd = basis.linear_sd.cwiseMax(kLeastLinearSd),
                            .anchors = kernels::embedded(basis.angles, X)};
  if (stationary) {
    kernel.variance = std::max(kernel.variance, basis.variance);
    kernel.length_scales = kernel.length_scales.cwiseMin(basis.inverse_length_scales.cwiseInverse());
  }
  return kernel;
}

}  // namespace

std::vector<gp::PackedPosterior> function_uncertainty(const Situation& situation) {
  const ssm::Transition& transition = situation.transition;
  if (situation.history == nullptr || situation.q == nullptr) {
    return posteriors_of(transition);
  }
  // After rows that no training has seen yet q(x) is shorter than the history.
  const std::vector<Stretch> parts =
      stretches(*situation.history, std::min(situation.history->rows(), situation.q->rows()));
  Index T = 0;
  for (const Stretch& part : parts) {
    T += part.transitions;
  }
  if (T == 0 || T > kLongestHistory) {
    return posteriors_of(transition);
  }
  const Past past = linearised_past(situation, parts, T);
  std::vector<gp::AnchoredKernel> kernels;
  Matrix S = past.noise;
  for (std::size_t g = 0; g < transition.bases().size(); ++g) {
    kernels.push_back(exploration_kernel(transition.bases()[g], past.X));
    const Matrix& response = past.response[static_cast<std::size_t>(transition.row_states()[g])];
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

}  // namespace gpilot::acquisition
