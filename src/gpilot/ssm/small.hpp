#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/structure.hpp"

/// Matrices of the size of a state: fixed for D = 1, 2, 4, bounded (and so never on the heap) above.
namespace gpilot::ssm {

template <int N>
inline constexpr int kBound = N == Eigen::Dynamic ? static_cast<int>(kMaxStates) : N;

template <int N>
using SmallMatrix = Eigen::Matrix<double, N, N, Eigen::ColMajor, kBound<N>, kBound<N>>;
template <int N>
using SmallVector = Eigen::Matrix<double, N, 1, Eigen::ColMajor, kBound<N>, 1>;

/// Block t of a [D x D n] array of square blocks.
template <int N>
Eigen::Map<SmallMatrix<N>> block(Matrix& blocks, Index t) {
  const Index D = blocks.rows();
  return {blocks.data() + t * D * D, D, D};
}
template <int N>
Eigen::Map<const SmallMatrix<N>> block(const Matrix& blocks, Index t) {
  const Index D = blocks.rows();
  return {blocks.data() + t * D * D, D, D};
}

/// Column t of a [D x n] array.
template <int N>
Eigen::Map<SmallVector<N>> column(Matrix& columns, Index t) {
  return {columns.data() + t * columns.rows(), columns.rows()};
}
template <int N>
Eigen::Map<const SmallVector<N>> column(const Matrix& columns, Index t) {
  return {columns.data() + t * columns.rows(), columns.rows()};
}

}  // namespace gpilot::ssm
