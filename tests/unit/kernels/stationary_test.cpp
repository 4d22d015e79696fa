#include "gpilot/kernels/stationary.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "support/message_of.hpp"
#include "support/reference_kernels.hpp"

namespace gpilot::kernels {
namespace {

using test::message_of;

class StationaryKernel : public testing::TestWithParam<Kind> {};

TEST_P(StationaryKernel, EqualsTheTextbookFormula) {
  RandomStream random(1, Purpose::kTest);
  for (const Index inputs : {1, 2, 5}) {
    const Matrix X = 2.0 * random.normal_matrix(13, inputs);
    Matrix Z = random.normal_matrix(7, inputs);
    Z.row(0) = X.row(0);  // r = 0 too
    const Vector length_scales = (0.3 * random.normal_vector(inputs)).array().exp();
    const Matrix K = gram(GetParam(), 1.7, length_scales, X, Z);
    const Matrix expected = test::reference_gram(GetParam(), 1.7, length_scales, X, Z);
    EXPECT_LT((K - expected).cwiseAbs().maxCoeff(), 1e-13) << inputs << " inputs";
    EXPECT_DOUBLE_EQ(K(0, 0), 1.7);
  }
}

TEST_P(StationaryKernel, FarPointsAreUncorrelated) {
  const Matrix K = gram(GetParam(), 1.0, Vector::Ones(1), Matrix::Zero(1, 1), Matrix::Constant(1, 1, 1e4));
  EXPECT_EQ(K(0, 0), 0.0);
}

TEST_P(StationaryKernel, SlopeIsTheDerivativeInTheSquaredDistance) {
  const auto profile = [](double r2) {
    Matrix K = Matrix::Constant(1, 1, r2);
    apply_profile(GetParam(), 1.3, K, nullptr);
    return K(0, 0);
  };
  for (const double r2 : {0.01, 0.3, 1.0, 4.0, 20.0}) {
    Matrix K = Matrix::Constant(1, 1, r2);
    Matrix slope(1, 1);
    MatrixOut slope_out(slope);
    apply_profile(GetParam(), 1.3, K, &slope_out);
    EXPECT_DOUBLE_EQ(K(0, 0), profile(r2)) << "the value does not depend on the slope being asked for";
    const double h = 1e-3 * r2;
    const double difference =
        (8.0 * (profile(r2 + h) - profile(r2 - h)) - (profile(r2 + 2.0 * h) - profile(r2 - 2.0 * h))) / (12.0 * h);
    EXPECT_NEAR(slope(0, 0), difference, 1e-8 * std::abs(difference)) << "r^2 = " << r2;
  }
}

TEST_P(StationaryKernel, SlopeAtZeroIsFinite) {
  Matrix K = Matrix::Zero(1, 1);
  Matrix slope(1, 1);
  MatrixOut slope_out(slope);
  apply_profile(GetParam(), 2.0, K, &slope_out);
  const double expected = GetParam() == Kind::kSquaredExponential ? -1.0
                          : GetParam() == Kind::kMatern12         ? 0.0
                          : GetParam() == Kind::kMatern32         ? -3.0
                                                                  : -5.0 / 3.0;
  EXPECT_NEAR(slope(0, 0), expected, 1e-12);
}

TEST_P(StationaryKernel, GramIsSymmetricAndPositiveSemidefinite) {
  RandomStream random(2, Purpose::kTest);
  for (const double length_scale : {0.1, 1.0, 10.0}) {
    const Matrix X = random.normal_matrix(30, 3);
    const Matrix K = gram(GetParam(), 1.0, Vector::Constant(3, length_scale), X, X);
    EXPECT_LT((K - K.transpose()).cwiseAbs().maxCoeff(), 1e-15);
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(K);
    EXPECT_GT(eigen.eigenvalues()(0), -1e-12) << "length scale " << length_scale;
  }
}

TEST_P(StationaryKernel, NameRoundTrips) {
  EXPECT_EQ(kind_from_name(name(GetParam())), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Kinds, StationaryKernel, testing::ValuesIn(kKinds),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(Kernels, UnknownNameListsTheValidOnes) {
  const std::string message = message_of<InputError>([] { kind_from_name("rbf"); });
  EXPECT_NE(message.find("'rbf'"), std::string::npos) << message;
  for (const Kind kind : kKinds) {
    EXPECT_NE(message.find(name(kind)), std::string::npos) << message;
  }
}

TEST(SquaredDistances, KeepDigitsFarFromTheOrigin) {
  Matrix R2(1, 1);
  squared_distances(Matrix::Constant(1, 1, 1e8), Matrix::Constant(1, 1, 1e8 + 1.0), R2);
  EXPECT_EQ(R2(0, 0), 1.0);
}

}  // namespace
}  // namespace gpilot::kernels
