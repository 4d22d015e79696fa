#include "gpilot/linalg/cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "support/gradient_check.hpp"
#include "support/message_of.hpp"

namespace gpilot::linalg {
namespace {

using test::gradient_matches;
using test::message_of;

Matrix random_spd(Index n, std::uint64_t seed = 1) {
  RandomStream random(seed, Purpose::kTest);
  const Matrix root = random.normal_matrix(n, n + 2);
  return root * root.transpose();
}

TEST(Cholesky, EqualsEigensWithoutJitter) {
  for (const Index n : {1, 2, 7, 40}) {
    const Matrix K = random_spd(n);
    Matrix L;
    const CholeskyReport report = cholesky(K, L, "K");
    EXPECT_EQ(report.jitter, 0.0);
    EXPECT_EQ(report.attempts, 1);
    const Matrix expected = K.llt().matrixL();
    EXPECT_LT((L - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff()) << "n = " << n;
    EXPECT_NEAR(log_determinant(L), std::log(K.determinant()), 1e-9 * static_cast<double>(n));
  }
}

TEST(Cholesky, ReadsTheLowerTriangleOnly) {
  const Matrix K = random_spd(5);
  Matrix spoilt = K;
  spoilt.triangularView<Eigen::StrictlyUpper>().setConstant(77.0);
  Matrix L;
  Matrix L_spoilt;
  cholesky(K, L, "K");
  cholesky(spoilt, L_spoilt, "K");
  EXPECT_EQ(L, L_spoilt);
  EXPECT_EQ(Matrix(L.triangularView<Eigen::StrictlyUpper>()), Matrix::Zero(5, 5));
}

TEST(Cholesky, EmptyMatrixIsFine) {
  Matrix L = Matrix::Ones(2, 2);
  EXPECT_EQ(cholesky(Matrix(0, 0), L, "nothing").jitter, 0.0);
  EXPECT_EQ(L.size(), 0);
}

TEST(Cholesky, SingularMatrixGetsJitterAndSaysSo) {
  const Vector v = Vector::LinSpaced(6, 0.5, 2.0);
  const Matrix K = v * v.transpose();
  Matrix L;
  const CholeskyReport report = cholesky(K, L, "K");
  EXPECT_GT(report.jitter, 0.0);
  EXPECT_LE(report.jitter, 1e-6 * K.diagonal().mean());
  EXPECT_GE(report.attempts, 2);
  const Matrix shifted = K + report.jitter * Matrix::Identity(6, 6);
  EXPECT_LT((L * L.transpose() - shifted).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Cholesky, JitterGrowsTenfoldUntilItSuffices) {
  Matrix K = Matrix::Identity(4, 4);
  K(3, 3) = -3e-5;  // needs more than 3e-5: the mean of the diagonal is 0.75, so 0.75e-4 is the first that is enough
  Matrix L;
  const CholeskyReport report = cholesky(K, L, "K");
  EXPECT_NEAR(report.jitter, 1e-4 * K.diagonal().mean(), 1e-12);
  EXPECT_EQ(report.attempts, 8);  // 0, 1e-10, .., 1e-4
}

TEST(Cholesky, IndefiniteMatrixIsAnErrorThatNamesIt) {
  Matrix K = Matrix::Identity(3, 3);
  K(2, 2) = -1.0;
  Matrix L;
  const std::string message = message_of<NumericalError>([&] { cholesky(K, L, "the matrix of the test"); });
  EXPECT_NE(message.find("the matrix of the test"), std::string::npos) << message;
  EXPECT_NE(message.find("3 x 3"), std::string::npos) << message;
  EXPECT_NE(message.find("3.3e-03"), std::string::npos) << message;  // 1e-2 of the mean of the diagonal
}

TEST(Cholesky, ValuesThatAreNotFiniteAreAnError) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Matrix K = random_spd(3);
    K(2, 1) = bad;
    Matrix L;
    const std::string message = message_of<NumericalError>([&] { cholesky(K, L, "K"); });
    EXPECT_NE(message.find("not finite"), std::string::npos) << message;
  }
}

TEST(SmallCholesky, EqualsTheLargeOne) {
  const Eigen::Matrix3d K = random_spd(3);
  Eigen::Matrix3d L;
  ASSERT_TRUE(small_cholesky(K, L));
  EXPECT_LT((L - Eigen::Matrix3d(K.llt().matrixL())).cwiseAbs().maxCoeff(), 1e-14);
  Matrix dynamic;
  ASSERT_TRUE(small_cholesky(random_spd(8), dynamic));
  EXPECT_LT((dynamic * dynamic.transpose() - random_spd(8)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(SmallCholesky, SaysWhenThereIsNone) {
  Eigen::Matrix2d L;
  EXPECT_FALSE(small_cholesky(Eigen::Matrix2d{{1.0, 2.0}, {2.0, 1.0}}, L));
  EXPECT_FALSE(small_cholesky(Eigen::Matrix2d{{1.0, 1.0}, {1.0, 1.0}}, L));
  EXPECT_FALSE(small_cholesky(Eigen::Matrix2d{{std::nan(""), 0.0}, {0.0, 1.0}}, L));
}

TEST(InvertLower, IsTheInverse) {
  Matrix L;
  Matrix Linv;
  cholesky(random_spd(9), L, "K");
  invert_lower(L, Linv);
  EXPECT_LT((Linv * L - Matrix::Identity(9, 9)).cwiseAbs().maxCoeff(), 1e-12);
}

/// F(K) = sum_ij weight_ij L_ij over the lower triangle, as a function of K's entries, K kept symmetric.
struct LinearInFactor {
  explicit LinearInFactor(Index n)
      : K(random_spd(n, 3)),
        weight(RandomStream(4, Purpose::kTest).normal_matrix(n, n).triangularView<Eigen::Lower>()) {}

  double operator()(const Vector& flat) const {
    const Matrix full = flat.reshaped(K.rows(), K.cols());
    const Matrix symmetric = 0.5 * (full + full.transpose());
    return weight.cwiseProduct(Matrix(symmetric.llt().matrixL())).sum();
  }

  Matrix K, weight;
};

TEST(CholeskyBackward, MatchesCentralDifferences) {
  for (const Index n : {1, 3, 8}) {
    const LinearInFactor f(n);
    Matrix L;
    Matrix Linv;
    cholesky(f.K, L, "K");
    invert_lower(L, Linv);
    Matrix scratch;
    Matrix K_bar;
    cholesky_backward(L, Linv, f.weight, scratch, K_bar);
    EXPECT_TRUE(gradient_matches(f, f.K.reshaped(), K_bar.reshaped(), 1e-7)) << "n = " << n;
    EXPECT_EQ(K_bar, K_bar.transpose());
  }
}

TEST(SmallCholeskyBackward, MatchesCentralDifferencesAndIgnoresTheUpperTriangle) {
  const LinearInFactor f(3);
  const Eigen::Matrix3d L = f.K.llt().matrixL();
  Eigen::Matrix3d L_bar = f.weight;
  L_bar.triangularView<Eigen::StrictlyUpper>().setConstant(9.0);
  const Eigen::Matrix3d K_bar = small_cholesky_backward<Eigen::Matrix3d>(L, L_bar);
  EXPECT_TRUE(gradient_matches(f, f.K.reshaped(), K_bar.reshaped(), 1e-7));
  const Matrix dynamic = small_cholesky_backward<Matrix>(L, f.weight);
  EXPECT_LT((dynamic - K_bar).cwiseAbs().maxCoeff(), 1e-13);
}

/// The checker itself: a right gradient passes, planted mistakes do not.
class GradientChecker : public testing::Test {
 protected:
  static double function(const Vector& x) { return std::sin(x(0)) * std::exp(0.5 * x(1)) + x(2) * x(2) * x(0); }
  static Vector gradient(const Vector& x) {
    return Eigen::Vector3d(std::cos(x(0)) * std::exp(0.5 * x(1)) + x(2) * x(2),
                           0.5 * std::sin(x(0)) * std::exp(0.5 * x(1)), 2.0 * x(2) * x(0));
  }
  const Vector at = Eigen::Vector3d(0.7, -0.4, 1.3);
};

TEST_F(GradientChecker, AcceptsARightGradient) {
  EXPECT_TRUE(gradient_matches(function, at, gradient(at), 1e-8));
}

TEST_F(GradientChecker, CatchesPlantedMistakes) {
  const Vector right = gradient(at);
  EXPECT_FALSE(gradient_matches(function, at, -right)) << "sign";
  EXPECT_FALSE(gradient_matches(function, at, 2.0 * right)) << "factor";
  EXPECT_FALSE(gradient_matches(function, at, (1.0 + 1e-4) * right)) << "small factor";
  EXPECT_FALSE(gradient_matches(function, at, Vector::Zero(3))) << "forgotten";
  EXPECT_FALSE(gradient_matches(function, at, right.head(2))) << "an entry short";
  EXPECT_FALSE(gradient_matches(function, at, right.reverse())) << "order";
  EXPECT_FALSE(gradient_matches(function, at, Eigen::Vector3d(right(0), right(1), std::nan("")))) << "not a number";
  const std::vector<std::string> names{"angle", "rate", "gain"};
  for (Index i = 0; i < 3; ++i) {
    Vector wrong = right;
    wrong(i) += 0.01;
    const testing::AssertionResult result = gradient_matches(function, at, wrong, 1e-5, 1e-4, 1e-3, names);
    ASSERT_FALSE(result) << "entry " << i;
    EXPECT_NE(std::string(result.message()).find(names[static_cast<std::size_t>(i)]), std::string::npos)
        << result.message();
  }
}

}  // namespace
}  // namespace gpilot::linalg
