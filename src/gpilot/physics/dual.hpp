#pragma once

#include "gpilot/core/types.hpp"

namespace gpilot::physics {

/// N values with their derivatives in K variables: forward differentiation of many points at once. A dual without
/// derivatives is a constant of them; one value, with one row of derivatives, stands for N equal ones.
struct Dual {
  Vector v;  ///< [N] or [1]
  Matrix d;  ///< [N x K], [1 x K] beside one value, or [0 x 0]: all are 0

  bool constant() const { return d.size() == 0; }
  static Dual number(double value) { return {Vector::Constant(1, value), {}}; }
};

Dual operator+(const Dual& a, const Dual& b);
Dual operator-(const Dual& a, const Dual& b);
Dual operator*(const Dual& a, const Dual& b);
Dual operator/(const Dual& a, const Dual& b);
Dual operator-(const Dual& a);
/// a^b; b constant or a positive.
Dual power(const Dual& a, const Dual& b);

/// value(a) whose derivative is slope(a), both element by element.
template <typename Value, typename Slope>
Dual apply(const Dual& a, Value value, Slope slope) {
  Dual result{a.v.unaryExpr(value), {}};
  if (!a.constant()) {
    result.d = Vector(a.v.unaryExpr(slope)).asDiagonal() * a.d;
  }
  return result;
}

/// value(a, b) whose derivatives in a and b are slope_a and slope_b [N], or [1].
Dual combine(const Dual& a, const Dual& b, Vector value, const Vector& slope_a, const Vector& slope_b);

/// Values as many as there are points.
Vector spread(const Vector& values, Index N);

}  // namespace gpilot::physics
