#pragma once

#include <Eigen/Core>

namespace gpilot {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;
using MatrixRef = Eigen::Ref<const Matrix>;
using VectorRef = Eigen::Ref<const Vector>;

/// An axis-parallel box, one interval per dimension.
struct Box {
  Vector low;
  Vector high;
};

}  // namespace gpilot
