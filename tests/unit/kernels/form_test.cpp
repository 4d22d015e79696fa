#include "gpilot/kernels/form.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/core/random.hpp"
#include "gpilot/kernels/kind.hpp"
#include "gpilot/linalg/symmetric_eigen.hpp"

namespace gpilot::kernels {
namespace {

// Three inputs, of which the last is affine where a form has one, and one cosine column.
constexpr Index kInputs = 3;
constexpr Index kColumns = 4;

std::vector<Form> forms() {
  return {{{}, {2}, false}, {{}, {}, true}, {{}, {2}, true}, {{}, {1, 2}, true}};
}

double stationary(Kind kind, double variance, const Vector& x, const Vector& z) {
  return gram(kind, variance, Vector::Ones(x.size()), x.transpose(), z.transpose())(0, 0);
}

/// The kernel as the header writes it.
double base(Kind kind, double variance, const Form& form, Vector x, Vector z) {
  double factor = 1.0;
  for (const Index p : form.affine) {
    factor += x(p) * z(p);
    x(p) = z(p) = 0.0;
  }
  return factor * stationary(kind, variance, x, z);
}

double written_out(Kind kind, double variance, const Form& form, const Vector& x, const Vector& z) {
  Vector minus = x;
  minus.head(kInputs) *= -1.0;
  return base(kind, variance, form, x, z) - (form.odd ? base(kind, variance, form, minus, z) : 0.0);
}

class AllKinds : public testing::TestWithParam<Kind> {};

TEST_P(AllKinds, AreAsWrittenOutAndPositive) {
  RandomStream random(1, Purpose::kTest);
  const Matrix X = random.normal_matrix(9, kColumns);
  for (const Form& form : forms()) {
    const FormedKernel k{GetParam(), 1.7, form, kInputs};
    Matrix K(9, 9);
    k.evaluate(X, X, K);
    const Vector diagonal = k.diagonal(X);
    for (Index a = 0; a < 9; ++a) {
      for (Index b = 0; b < 9; ++b) {
        EXPECT_NEAR(K(a, b), written_out(GetParam(), 1.7, form, X.row(a).transpose(), X.row(b).transpose()), 1e-12);
      }
      EXPECT_NEAR(diagonal(a), K(a, a), 1e-12);
    }
    EXPECT_GT(linalg::SymmetricEigen(K).values.minCoeff(), -1e-12);
  }
}

TEST_P(AllKinds, GradientsMatchDifferences) {
  RandomStream random(2, Purpose::kTest);
  Matrix X = random.normal_matrix(4, kColumns);
  Matrix Z = random.normal_matrix(3, kColumns);
  const Matrix K_bar = random.normal_matrix(4, 3);
  const Vector k_bar = random.normal_vector(4);
  for (const Form& form : forms()) {
    const FormedKernel kernel{GetParam(), 0.8, form, kInputs};
    const auto value = [&] {
      Matrix K(4, 3);
      kernel.evaluate(X, Z, K);
      return K.cwiseProduct(K_bar).sum() + kernel.diagonal(X).dot(k_bar);
    };
    Matrix X_bar = Matrix::Zero(4, kColumns);
    Matrix Z_bar = Matrix::Zero(3, kColumns);
    MatrixOut Z_out(Z_bar);
    kernel.pull_back(X, Z, K_bar, X_bar, &Z_out);
    kernel.pull_back_diagonal(X, k_bar, X_bar);
    const auto check = [&](Matrix& at, const Matrix& bar) {
      for (Index i = 0; i < at.size(); ++i) {
        constexpr double kStep = 1e-6;
        const double here = at.data()[i];
        at.data()[i] = here + kStep;
        const double right = value();
        at.data()[i] = here - kStep;
        const double left = value();
        at.data()[i] = here;
        EXPECT_NEAR(bar.data()[i], (right - left) / (2.0 * kStep), 1e-7) << "odd " << form.odd << ", entry " << i;
      }
    };
    check(X, X_bar);
    check(Z, Z_bar);
  }
}

TEST_P(AllKinds, OddIsOddToTheLastBit) {
  RandomStream random(3, Purpose::kTest);
  const Matrix X = random.normal_matrix(5, kColumns);
  const Matrix Z = random.normal_matrix(4, kColumns);
  const Form form{{}, {2}, true};
  const FormedKernel kernel{GetParam(), 0.8, form, kInputs};
  Matrix right(5, 4);
  Matrix left(5, 4);
  kernel.evaluate(X, Z, right);
  kernel.evaluate(kernel.reflected(X), Z, left);
  EXPECT_EQ((right + left).cwiseAbs().maxCoeff(), 0.0);
}

INSTANTIATE_TEST_SUITE_P(Form, AllKinds, testing::Values(Kind::kSquaredExponential, Kind::kMatern32, Kind::kMatern52),
                         [](const auto& kind) { return std::string(name(kind.param)); });

}  // namespace
}  // namespace gpilot::kernels
