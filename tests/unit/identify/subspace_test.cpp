#include "gpilot/identify/subspace.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/identify/output_error.hpp"
#include "gpilot/linalg/eigenvalues.hpp"
#include "gpilot/ssm/series.hpp"
#include "support/gradient_check.hpp"
#include "support/message_of.hpp"

namespace gpilot::identify {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A damped oscillation and a slow mode, two inputs, two outputs.
LinearDynamics known_system(Index sequences) {
  LinearDynamics m;
  m.A.resize(3, 3);
  m.A << 0.8, 0.4, 0.0, -0.4, 0.8, 0.0, 0.0, 0.1, 0.95;
  m.B.resize(3, 2);
  m.B << 1.0, 0.0, 0.2, -0.5, 0.0, 0.3;
  m.C.resize(2, 3);
  m.C << 1.0, 0.0, 0.5, 0.0, 1.0, -0.2;
  m.d = Vector::Constant(2, 0.3);
  m.x0 = Matrix::Constant(3, sequences, 0.2);
  m.y0.resize(2, 0);
  return m;
}

ssm::Series series_of(const LinearDynamics& m, Index rows, double noise_sd, std::uint64_t seed = 1) {
  RandomStream random(seed, Purpose::kTest);
  ssm::Dataset data;
  for (Index k = 0; k < m.x0.cols(); ++k) {
    data.push_back({random.normal_matrix(rows, m.B.cols()), Matrix::Zero(rows, m.C.rows())});
  }
  ssm::Series series = ssm::concatenate(data);
  series.outputs = simulate(m, series) + noise_sd * random.normal_matrix(m.C.rows(), series.rows());
  return series;
}

std::vector<std::complex<double>> poles(const Matrix& A) {
  const Eigen::VectorXcd values = A.eigenvalues();
  std::vector<std::complex<double>> sorted(values.begin(), values.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
  });
  return sorted;
}

double worst_pole_error(const Matrix& A, const Matrix& B) {
  const auto a = poles(A);
  const auto b = poles(B);
  double worst = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    worst = std::max(worst, std::abs(a[k] - b[k]));
  }
  return worst;
}

TEST(Subspace, RecoversAKnownSystemExactlyWithoutNoise) {
  LinearDynamics truth = known_system(2);
  truth.d.setZero();  // scaled data have no mean; an offset would count as a state
  const ssm::Series series = series_of(truth, 150, 0.0);
  const Subspace subspace = find_subspace(series, 5);
  ASSERT_GT(subspace.singular_values.size(), 3);
  EXPECT_GT(subspace.singular_values(2), 1e-2 * subspace.singular_values(0));
  EXPECT_LT(subspace.singular_values(3), 1e-9 * subspace.singular_values(0));  // three states, no more
  const LinearDynamics found = realise(subspace, series, 3, 0.999);
  EXPECT_LT(worst_pole_error(found.A, truth.A), 1e-8);
  EXPECT_LT((simulate(found, series) - series.outputs).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Subspace, RecoversItFromNoiseAndOutputErrorRefinesIt) {
  const LinearDynamics truth = known_system(1);
  const ssm::Series series = series_of(truth, 600, 0.2);
  const LinearDynamics start = realise(find_subspace(series), series, 3, 0.999);
  EXPECT_LT(worst_pole_error(start.A, truth.A), 0.05);
  const OutputErrorResult refined = refine_output_error(start, series);
  EXPECT_TRUE(refined.converged);
  EXPECT_LT(worst_pole_error(refined.model.A, truth.A), 0.02);
  EXPECT_NEAR(std::sqrt(refined.mean_square), 0.2, 0.01);
  const ssm::Series fresh = series_of(truth, 300, 0.0, 2);
  LinearDynamics model = refined.model;
  model.x0.setZero();
  LinearDynamics exact = truth;
  exact.x0.setZero();
  const Matrix error = simulate(model, fresh) - simulate(exact, fresh);
  EXPECT_LT(std::sqrt(error.squaredNorm() / static_cast<double>(error.size())), 0.06);
}

TEST(Subspace, TakesMissingOutputsAndGaps) {
  const LinearDynamics truth = known_system(1);
  ssm::Series series = series_of(truth, 500, 0.05);
  RandomStream random(3, Purpose::kTest);
  for (Index t = 0; t < series.rows(); ++t) {
    if (random.uniform() < 0.3 || (t >= 200 && t < 250)) {
      series.outputs.col(t).setConstant(kNaN);
    }
  }
  const OutputErrorResult refined = refine_output_error(realise(find_subspace(series), series, 3, 0.999), series);
  EXPECT_LT(worst_pole_error(refined.model.A, truth.A), 0.02);
}

TEST(Subspace, FindsAnOffsetOfEachSequence) {
  LinearDynamics truth = known_system(3);
  truth.y0 = Matrix::Zero(2, 3);
  truth.y0.row(0) << -1.0, 0.0, 1.0;
  const ssm::Series series = series_of(truth, 120, 0.01);
  const LinearDynamics start = realise(find_subspace(series), series, 3, 0.999, true);
  const OutputErrorResult refined = refine_output_error(start, series);
  EXPECT_NEAR(std::sqrt(refined.mean_square), 0.01, 0.002);
  EXPECT_NEAR(refined.model.y0(0, 2) - refined.model.y0(0, 0), 2.0, 0.05);
  EXPECT_NEAR(refined.model.y0(1, 2) - refined.model.y0(1, 0), 0.0, 0.05);
}

TEST(Subspace, StaysStable) {
  // A random walk under noise: its pole is 1, beyond the limit.
  RandomStream random(4, Purpose::kTest);
  ssm::Sequence walk{random.normal_matrix(300, 1), Matrix::Zero(300, 1)};
  for (Index t = 1; t < walk.rows(); ++t) {
    walk.outputs(t, 0) = walk.outputs(t - 1, 0) + 0.1 * walk.controls(t - 1, 0) + 0.1 * random.normal();
  }
  const ssm::Series series = ssm::concatenate({walk});
  for (const Index order : {1, 2, 4}) {
    const LinearDynamics start = realise(find_subspace(series), series, order, 0.98);
    EXPECT_LE(linalg::spectral_radius(start.A), 0.98 + 1e-6);
    const OutputErrorResult refined = refine_output_error(start, series, {.max_radius = 0.98});
    EXPECT_LE(linalg::spectral_radius(refined.model.A), 0.98 + 1e-6);
  }
}

TEST(Subspace, RefusesWhatCannotBe) {
  const ssm::Series series = series_of(known_system(1), 200, 0.1);
  const Subspace subspace = find_subspace(series);
  EXPECT_NE(test::message_of<InputError>([&] { realise(subspace, series, 0, 0.9); }).find("order: 0"),
            std::string::npos);
  EXPECT_NE(test::message_of<InputError>([&] { realise(subspace, series, 99, 0.9); }).find("order: 99"),
            std::string::npos);
  const ssm::Series shortest = series_of(known_system(1), 8, 0.1);
  EXPECT_NE(test::message_of<InputError>([&] { find_subspace(shortest); }).find("8 rows"), std::string::npos);
  const LinearDynamics start = realise(subspace, series, 2, 0.9);
  for (const OutputErrorOptions& wrong : {OutputErrorOptions{.iterations = -1}, OutputErrorOptions{.max_radius = 1.5},
                                          OutputErrorOptions{.tolerance = 0}}) {
    EXPECT_THROW(refine_output_error(start, series, wrong), InputError);
  }
}

TEST(OutputError, GradientMatchesCentralDifferences) {
  LinearDynamics m = known_system(2);
  m.y0 = Matrix::Constant(2, 2, 0.1);
  ssm::Series series = series_of(m, 12, 0.3);
  series.outputs(0, 3) = kNaN;
  Vector at(9 + 6 + 6 + 2 + 6 + 4);
  at << m.A.reshaped(), m.B.reshaped(), m.C.reshaped(), m.d, m.x0.reshaped(), m.y0.reshaped();
  const auto value = [&](const Vector& x) {
    LinearDynamics moved = m;
    moved.A = x.segment(0, 9).reshaped(3, 3);
    moved.B = x.segment(9, 6).reshaped(3, 2);
    moved.C = x.segment(15, 6).reshaped(2, 3);
    moved.d = x.segment(21, 2);
    moved.x0 = x.segment(23, 6).reshaped(3, 2);
    moved.y0 = x.segment(29, 4).reshaped(2, 2);
    Vector ignored;
    return output_error(moved, series, ignored);
  };
  Vector gradient;
  output_error(m, series, gradient);
  EXPECT_TRUE(test::gradient_matches(value, at, gradient));
}

}  // namespace
}  // namespace gpilot::identify
