#pragma once

#include <Eigen/Core>
#include <limits>

namespace gpilot {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;
using MatrixRef = Eigen::Ref<const Matrix>;
using VectorRef = Eigen::Ref<const Vector>;

/// A value that is missing.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// An axis-parallel box, one interval per dimension.
struct Box {
  Vector low;
  Vector high;
};

}  // namespace gpilot
