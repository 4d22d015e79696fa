#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/kernels/stationary.hpp"

/// Inputs that are angles enter kernels as points of a circle: in place of x, with w radians a unit of x,
///
///   s = sin(w x) / w,   c = (cos(w x) - 1) / w.
///
/// A stationary kernel of (s, c), both with the length scale of x, sees the chord |2 sin(w (x - z) / 2)| / w: it is
/// positive definite, since it is a kernel of R^2 on some of its points, has the period 2 pi / w, and tends to the
/// kernel of x for small angles. Of I inputs with A angles, column i of the embedding is x_i or its s, columns I and
/// on are the angles' c in their order.
namespace gpilot::kernels {

struct Angle {
  Index input = 0;     ///< which input, or state
  double omega = 1.0;  ///< radians a unit of it

  bool operator==(const Angle&) const = default;
};

using Angles = std::vector<Angle>;

/// The input that a column of the embedding comes from.
Index source_input(const Angles& angles, Index inputs, Index column);

/// In place: the first I columns of X [N x I + A] hold the inputs.
void embed(const Angles& angles, MatrixOut X);

/// The embedding [N x I + A] of the rows of X [N x I].
Matrix embedded(const Angles& angles, MatrixRef X);

/// The chain rule back through one angle, dF/dx = (1 + w c) dF/ds - w s dF/dc, in place of dF/ds.
void pull_back(double omega, VectorRef s, VectorRef c, Eigen::Ref<Vector> s_bar, VectorRef c_bar);

}  // namespace gpilot::kernels
