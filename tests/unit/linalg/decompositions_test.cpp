// The wrappers of Eigen's decompositions, by what defines each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpilot/core/random.hpp"
#include "gpilot/linalg/eigenvalues.hpp"
#include "gpilot/linalg/least_squares.hpp"
#include "gpilot/linalg/singular.hpp"
#include "gpilot/linalg/solve.hpp"
#include "gpilot/linalg/symmetric_eigen.hpp"

namespace gpilot::linalg {
namespace {

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed = 1) {
  return RandomStream(seed, Purpose::kTest).normal_matrix(rows, cols);
}

double distance(const Matrix& a, const Matrix& b) {
  return (a - b).cwiseAbs().maxCoeff();
}

TEST(SymmetricEigen, GivesTheMatrixBackFromOrthonormalVectors) {
  const Matrix root = random_matrix(6, 6);
  const Matrix A = root + root.transpose();
  const SymmetricEigen eigen(A);
  EXPECT_LT(distance(eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose(), A), 1e-12);
  EXPECT_LT(distance(eigen.vectors.transpose() * eigen.vectors, Matrix::Identity(6, 6)), 1e-12);
  for (Index i = 1; i < 6; ++i) {
    EXPECT_LE(eigen.values(i - 1), eigen.values(i));
  }
}

TEST(Eigenvalues, SpectralRadiusOfARotationIsItsScale) {
  Matrix A(2, 2);
  A << 0.9 * std::cos(0.7), -0.9 * std::sin(0.7), 0.9 * std::sin(0.7), 0.9 * std::cos(0.7);
  EXPECT_NEAR(spectral_radius(A), 0.9, 1e-14);
}

TEST(Eigenvalues, ModuliArePulledBackOnlyWhereTheyExceedTheRadius) {
  // Eigenvalues 1.25 exp(+-0.5 i) and 0.4 in a random basis: the pair comes to 0.95, the third stays.
  Matrix blocks = Matrix::Zero(3, 3);
  blocks.topLeftCorner(2, 2) << std::cos(0.5), -std::sin(0.5), std::sin(0.5), std::cos(0.5);
  Matrix expected = blocks;
  blocks *= 1.25;
  expected *= 0.95;
  blocks(2, 2) = expected(2, 2) = 0.4;
  const Matrix V = random_matrix(3, 3);
  const Matrix V_inverse = inverse(V);
  EXPECT_LT(distance(with_moduli_at_most(V * blocks * V_inverse, 0.95), V * expected * V_inverse), 1e-12);
  const Matrix inside = V * expected * V_inverse;
  EXPECT_LT(distance(with_moduli_at_most(inside, 0.96), inside), 1e-12);
}

TEST(LeftSingular, DiagonalisesTheProductWithTheTranspose) {
  for (const Index cols : {3, 7}) {
    const Matrix A = random_matrix(5, cols);
    const LeftSingular svd(A);
    ASSERT_EQ(svd.values.size(), std::min<Index>(5, cols));
    EXPECT_LT(distance(svd.U.transpose() * svd.U, Matrix::Identity(svd.U.cols(), svd.U.cols())), 1e-12);
    EXPECT_LT(distance(svd.U * svd.values.cwiseAbs2().asDiagonal() * svd.U.transpose(), A * A.transpose()), 1e-11);
    for (Index i = 1; i < svd.values.size(); ++i) {
      EXPECT_GE(svd.values(i - 1), svd.values(i));
    }
  }
}

TEST(LeastSquares, ResidualIsOrthogonalToTheColumns) {
  const Matrix A = random_matrix(9, 4);
  const Matrix B = random_matrix(9, 2, 2);
  EXPECT_LT(distance(A.transpose() * (A * least_squares(A, B) - B), Matrix::Zero(4, 2)), 1e-12);
}

TEST(LeastSquares, UpperFactorHasTheGramMatrixOfItsColumns) {
  const Matrix A = random_matrix(9, 4);
  const Matrix R = upper_factor(A);
  ASSERT_EQ(R.rows(), 4);
  EXPECT_EQ(Matrix(R.triangularView<Eigen::StrictlyLower>()), Matrix::Zero(4, 4));
  EXPECT_LT(distance(R.transpose() * R, A.transpose() * A), 1e-12);
}

TEST(Solve, SymmetricSystemNeedNotBePositiveDefinite) {
  const Matrix root = random_matrix(5, 5);
  const Matrix A = root + root.transpose();
  const Vector b = random_matrix(5, 1, 2);
  EXPECT_LT(distance(A * solve_symmetric(A, b), b), 1e-10);
}

TEST(Solve, InverseTimesTheMatrixIsOne) {
  const Matrix A = random_matrix(5, 5);
  EXPECT_LT(distance(inverse(A) * A, Matrix::Identity(5, 5)), 1e-12);
}

}  // namespace
}  // namespace gpilot::linalg
