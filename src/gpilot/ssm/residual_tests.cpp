#include "gpilot/ssm/residual_tests.hpp"

#include <algorithm>
#include <cmath>

#include "gpilot/core/distributions.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/linalg/symmetric_eigen.hpp"

namespace gpilot::ssm {

namespace {

/// Directions in which an input varies less than this share of its most are not tested: an input that is held for many
/// rows has few directions. 1e-6 to 1e-2 give the same verdicts on held inputs.
constexpr double kSmallestDirection = 1e-3;
constexpr Index kFewestResiduals = 8;  ///< two a lag, and four lags

/// Values of a column of every recording, centred by their common mean.
std::vector<Vector> centred(std::vector<Vector> columns) {
  double sum = 0.0;
  double count = 0.0;
  for (const Vector& column : columns) {
    sum += column.array().isNaN().select(0.0, column).sum();
    count += static_cast<double>(column.size() - column.array().isNaN().count());
  }
  for (Vector& column : columns) {
    column.array() -= sum / count;
  }
  return columns;
}

/// The mean of a_t b_(t-lag) over the pairs that are there, and their number.
struct Covariance {
  double value = 0.0;
  double pairs = 0.0;
};

Covariance covariance(const std::vector<Vector>& a, const std::vector<Vector>& b, Index lag) {
  Covariance c;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (Index t = lag; t < a[k].size(); ++t) {
      const double product = a[k](t) * b[k](t - lag);
      if (!std::isnan(product)) {
        c.value += product;
        c.pairs += 1.0;
      }
    }
  }
  c.value = c.pairs > 0.0 ? c.value / c.pairs : 0.0;
  return c;
}

double tail(double statistic, Index degrees) {
  return chi_squared_tail(std::max(0.0, statistic), static_cast<double>(degrees));
}

CorrelationTest no_test() {
  return {.correlation = {}, .statistic = kNaN, .degrees = 0, .p = kNaN};
}

CorrelationTest whiteness(const std::vector<Vector>& e, Index count, Index lags) {
  const Covariance variance = covariance(e, e, 0);
  if (count < kFewestResiduals || !(variance.value > 0.0)) {
    return no_test();
  }
  const auto n = static_cast<double>(count);
  CorrelationTest test{.correlation = Vector::Zero(lags), .degrees = lags};
  for (Index k = 1; k <= lags; ++k) {
    const Covariance c = covariance(e, e, k);
    test.correlation(k - 1) = c.value / variance.value;
    // r_k^2 n (n + 2) / (n - k) where no row is missing, with r_k by n - k pairs instead of n
    test.statistic += test.correlation(k - 1) * test.correlation(k - 1) * c.pairs * (n + 2.0) / n;
  }
  test.p = tail(test.statistic, test.degrees);
  return test;
}

CorrelationTest against_input(const std::vector<Vector>& e, const std::vector<Vector>& u, Index count, Index lags) {
  const double residual_variance = covariance(e, e, 0).value;
  const double input_variance = covariance(u, u, 0).value;
  if (count < kFewestResiduals || !(residual_variance > 0.0) || !(input_variance > 0.0)) {
    return no_test();
  }
  CorrelationTest test{.correlation = Vector::Zero(lags + 1)};
  Vector root_pairs(lags + 1);
  Matrix R(lags + 1, lags + 1);
  for (Index k = 0; k <= lags; ++k) {
    const Covariance c = covariance(e, u, k);
    test.correlation(k) = c.value / std::sqrt(residual_variance * input_variance);
    root_pairs(k) = std::sqrt(c.pairs);
    const double own = covariance(u, u, k).value / input_variance;
    for (Index i = 0; i + k <= lags; ++i) {
      R(i, i + k) = R(i + k, i) = own;
    }
  }
  const linalg::SymmetricEigen eigen(R);
  const Vector along = eigen.vectors.transpose() * test.correlation.cwiseProduct(root_pairs);
  for (Index j = 0; j <= lags; ++j) {
    if (eigen.values(j) > kSmallestDirection * eigen.values(lags)) {
      test.statistic += along(j) * along(j) / eigen.values(j);
      ++test.degrees;
    }
  }
  test.p = tail(test.statistic, test.degrees);
  return test;
}

}  // namespace

ResidualTests test_residuals(const std::vector<ResidualRows>& recordings, Index lags) {
  if (recordings.empty() || lags < 1) {
    throw InputError("tests of residuals: expected at least one recording and one lag");
  }
  const auto column = [&](bool of_input, Index i) {
    std::vector<Vector> columns;
    for (const ResidualRows& r : recordings) {
      columns.emplace_back(of_input ? Vector(r.controls.col(i)) : Vector(r.residuals.col(i)));
    }
    return centred(std::move(columns));
  };
  ResidualTests tests;
  for (Index e = 0; e < recordings.front().residuals.cols(); ++e) {
    const std::vector<Vector> residual = column(false, e);
    Index count = 0;
    for (const Vector& r : residual) {
      count += r.size() - r.array().isNaN().count();
    }
    const Index tested = std::clamp<Index>(count / 4, 1, lags);
    tests.count.push_back(count);
    tests.whiteness.push_back(whiteness(residual, count, tested));
    tests.inputs.emplace_back();
    for (Index p = 0; p < recordings.front().controls.cols(); ++p) {
      tests.inputs.back().push_back(against_input(residual, column(true, p), count, tested));
    }
  }
  return tests;
}

}  // namespace gpilot::ssm
