#include "gpilot/gp/function_draws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gpilot/core/random.hpp"
#include "gpilot/kernels/stationary.hpp"

namespace gpilot::gp {
namespace {

constexpr Index kInputs = 2;
constexpr Index kInducing = 5;

struct Problem {
  InducingBasis basis;
  Weights q;
};

Problem make_problem(kernels::Kind kind, bool linear_kernel, Index inducing = kInducing) {
  RandomStream random(3, Purpose::kTest);
  Problem p;
  const Vector linear = linear_kernel ? Vector(Vector::Constant(kInputs + 1, std::log(0.4))) : Vector();
  p.basis.update(kind, std::log(1.7), Vector::Constant(kInputs, std::log(0.8)), linear,
                 random.normal_matrix(inducing, kInputs));
  const Index features = p.basis.features();
  p.q.mu = random.normal_vector(features);
  const Matrix root = 0.3 * random.normal_matrix(features, features);
  p.q.Sigma = root * root.transpose() + 0.05 * Matrix::Identity(features, features);
  return p;
}

/// Features of the rows of X, by the definition.
Matrix features(const InducingBasis& basis, const Matrix& X) {
  Matrix Xs(X.rows(), basis.inputs());
  Matrix K(X.rows(), basis.inducing());
  Matrix A(X.rows(), basis.features());
  basis.evaluate(X, Vector(), Xs, K, nullptr, A);
  return A;
}

/// Every draw at one point.
Vector at(FunctionDraws& draws, const Matrix& x) {
  Vector values(draws.draws());
  draws.evaluate(x.replicate(draws.draws(), 1), values);
  return values;
}

class AllKernels : public ::testing::TestWithParam<kernels::Kind> {};

/// Mean and covariance of f at several points against a mu and a Sigma a'^T + k(x, x') - a a'^T.
TEST_P(AllKernels, DrawsHaveThePosteriorsMeanAndCovariance) {
  const Problem p = make_problem(GetParam(), true);
  Matrix X(4, kInputs);
  X << 0.0, 0.0, 0.3, -0.2, 1.5, 0.4, -3.0, 2.0;  // the last is far from every inducing point
  const Matrix A = features(p.basis, X);
  const Matrix A_stationary = A.leftCols(kInducing);
  const Matrix prior = kernels::gram(GetParam(), p.basis.variance, p.basis.inverse_length_scales.cwiseInverse(), X, X);
  const Vector mean = A * p.q.mu;
  const Matrix covariance = A * p.q.Sigma * A.transpose() + prior - A_stationary * A_stationary.transpose();

  constexpr Index kDraws = 20000;
  FunctionDraws draws(p.basis, p.q, kDraws, 7, 0, 32);
  Matrix values(kDraws, X.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    values.col(i) = at(draws, X.row(i));
  }
  const Vector sample_mean = values.colwise().mean();
  values.rowwise() -= sample_mean.transpose();
  const Matrix sample_covariance = values.transpose() * values / static_cast<double>(kDraws - 1);
  for (Index i = 0; i < X.rows(); ++i) {
    EXPECT_NEAR(sample_mean(i), mean(i), 4.5 * std::sqrt(covariance(i, i) / kDraws)) << "point " << i;
    for (Index j = 0; j <= i; ++j) {
      // The sample covariance of two Gaussians has variance (s_ij^2 + s_ii s_jj) / n.
      const double error =
          std::sqrt((covariance(i, j) * covariance(i, j) + covariance(i, i) * covariance(j, j)) / kDraws);
      EXPECT_NEAR(sample_covariance(i, j), covariance(i, j), 4.5 * error) << "points " << i << " and " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, AllKernels, ::testing::ValuesIn(kernels::kKinds),
                         [](const auto& kernel) { return std::string(kernels::name(kernel.param)); });

/// A draw is a function: the same value at the same point, whatever was asked before.
TEST(FunctionDraws, AreFunctions) {
  const Problem p = make_problem(kernels::Kind::kMatern32, true);
  FunctionDraws draws(p.basis, p.q, 9, 1);
  const Matrix x = Matrix::Constant(1, kInputs, 0.7);
  const Vector first = at(draws, x);
  at(draws, -x);
  EXPECT_EQ(at(draws, x), first);
}

/// Where q(v) is certain, every draw passes through its inducing values, up to the nugget.
TEST(FunctionDraws, PassThroughCertainInducingValues) {
  Problem p = make_problem(kernels::Kind::kMatern52, false);
  p.q.Sigma.setZero();
  p.q.Sigma.diagonal().setConstant(1e-12);
  FunctionDraws draws(p.basis, p.q, 50, 2);
  const Vector u = p.basis.L * p.q.mu;
  for (Index m = 0; m < kInducing; ++m) {
    const Matrix z = p.basis.Zs.row(m) * p.basis.inverse_length_scales.cwiseInverse().asDiagonal();
    EXPECT_LT((at(draws, z).array() - u(m)).abs().maxCoeff(), 2e-3) << "inducing point " << m;
  }
}

TEST(FunctionDraws, LinearKernelAloneHasNoResidual) {
  const Problem p = make_problem(kernels::Kind::kSquaredExponential, true, 0);
  FunctionDraws draws(p.basis, p.q, 100, 5);
  const Matrix zero = Matrix::Zero(1, kInputs);
  const Matrix x = Matrix::Constant(1, kInputs, 0.5);
  const Vector slope = at(draws, x) - at(draws, zero);
  EXPECT_LT((at(draws, 4.0 * x) - at(draws, zero) - 4.0 * slope).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(FunctionDraws, ADrawDependsOnItsKeyAlone) {
  const Problem p = make_problem(kernels::Kind::kMatern12, true);
  const Matrix x = Matrix::Constant(1, kInputs, 0.4);
  FunctionDraws few(p.basis, p.q, 3, 11, 1);
  FunctionDraws many(p.basis, p.q, 8, 11, 1);
  FunctionDraws other_seed(p.basis, p.q, 3, 12, 1);
  FunctionDraws other_function(p.basis, p.q, 3, 11, 2);
  EXPECT_LT((at(few, x) - at(many, x).head(3)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_NE(at(few, x), at(other_seed, x));
  EXPECT_NE(at(few, x), at(other_function, x));
}

}  // namespace
}  // namespace gpilot::gp
