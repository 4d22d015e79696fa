#include "gpilot/physics/dual.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpilot::physics {

Vector spread(const Vector& values, Index N) {
  return values.size() == N ? values : Vector::Constant(N, values(0));
}

Dual combine(const Dual& a, const Dual& b, Vector value, const Vector& slope_a, const Vector& slope_b) {
  Dual result{std::move(value), {}};
  const Index N = result.v.size();
  const auto add = [&](const Dual& x, const Vector& slope) {
    if (x.constant()) {
      return;
    }
    const bool first = result.d.size() == 0;
    if (first) {
      result.d.resize(N, x.d.cols());
    }
    const auto put = [&](const auto& term) {
      if (first) {
        result.d.noalias() = term;
      } else {
        result.d.noalias() += term;
      }
    };
    if (x.d.rows() != N) {
      put(spread(slope, N) * x.d);  // one row for all
    } else if (slope.size() == 1) {
      put(slope(0) * x.d);
    } else {
      put(slope.asDiagonal() * x.d);
    }
  };
  add(a, slope_a);
  add(b, slope_b);
  return result;
}

namespace {

/// Element by element, of as many values as the longer of both has.
template <typename Operation>
Vector each(const Dual& a, const Dual& b, Operation operation) {
  const Index N = std::max(a.v.size(), b.v.size());
  return spread(a.v, N).binaryExpr(spread(b.v, N), operation);
}

}  // namespace

Dual operator+(const Dual& a, const Dual& b) {
  return combine(a, b, each(a, b, [](double x, double y) { return x + y; }), Vector::Ones(1), Vector::Ones(1));
}

Dual operator-(const Dual& a, const Dual& b) {
  return combine(a, b, each(a, b, [](double x, double y) { return x - y; }), Vector::Ones(1), -Vector::Ones(1));
}

Dual operator*(const Dual& a, const Dual& b) {
  return combine(a, b, each(a, b, [](double x, double y) { return x * y; }), b.v, a.v);
}

Dual operator/(const Dual& a, const Dual& b) {
  return combine(a, b, each(a, b, [](double x, double y) { return x / y; }), b.v.cwiseInverse(),
                 each(a, b, [](double x, double y) { return -x / (y * y); }));
}

Dual operator-(const Dual& a) {
  return {-a.v, -a.d};
}

Dual power(const Dual& a, const Dual& b) {
  if (b.constant() && b.v.size() == 1 && b.v(0) == 2.0) {
    return a * a;
  }
  // The exponent's slope is asked for only where it varies: the logarithm of what is not positive is not a number.
  const Vector in_exponent = b.constant() ? Vector(Vector::Zero(1)) : each(a, b, [](double x, double y) {
    return x > 0.0 ? std::pow(x, y) * std::log(x) : (x == 0.0 && y > 0.0 ? 0.0 : std::log(x));
  });
  return combine(a, b, each(a, b, [](double x, double y) { return std::pow(x, y); }),
                 each(a, b, [](double x, double y) { return y == 0.0 ? 0.0 : y * std::pow(x, y - 1.0); }), in_exponent);
}

}  // namespace gpilot::physics
