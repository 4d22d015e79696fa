#include "gpilot/gp/packed_posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/random.hpp"

namespace gpilot::gp {
namespace {

struct Case {
  InducingBasis basis;
  Weights q;
};

/// `touched` of the weights have been learned, the others have their prior.
Case make_case(kernels::Kind kind, Index inducing, bool linear, Index touched) {
  constexpr Index kInputs = 3;
  RandomStream random(3, Purpose::kTest);
  Case c;
  const Vector log_linear_sd = linear ? Vector(0.3 * random.normal_vector(kInputs + 1)) : Vector();
  c.basis.update(kind, std::log(0.7), 0.2 * random.normal_vector(kInputs), log_linear_sd,
                 random.normal_matrix(inducing, kInputs));
  const Index features = c.basis.features();
  const Matrix directions = random.normal_matrix(features, touched);
  Statistics statistics{directions * directions.transpose(), random.normal_vector(features)};
  Matrix B;
  Matrix L_B;
  collapse(statistics, 0.1, B, L_B, c.q);
  return c;
}

void expect_same(const Case& c, Index rows) {
  RandomStream random(4, Purpose::kTest);
  const Matrix X = 1.5 * random.normal_matrix(rows, c.basis.inputs());
  Vector mean;
  Vector variance;
  c.basis.predict(c.q, X, mean, variance);
  Vector packed_mean(rows);
  Vector packed_variance(rows);
  PackedPosterior(c.basis, c.q).predict(X, packed_mean, packed_variance);
  EXPECT_LT((packed_mean - mean).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((packed_variance - variance).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(PackedPosterior, AgreesWithTheBasis) {
  for (const kernels::Kind kind : kernels::kKinds) {
    for (const bool linear : {false, true}) {
      expect_same(make_case(kind, 9, linear, 20), 300);  // more rows than a block holds
    }
  }
  expect_same(make_case(kernels::Kind::kSquaredExponential, 0, true, 2), 5);
}

TEST(PackedPosterior, LeavesOutDirectionsWithoutData) {
  const Case c = make_case(kernels::Kind::kMatern32, 20, false, 3);
  EXPECT_EQ(PackedPosterior(c.basis, c.q).directions(), 3);
  expect_same(c, 40);
}

}  // namespace
}  // namespace gpilot::gp
