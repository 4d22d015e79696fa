#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"

namespace gpilot::ssm {

/// q(x): a Gaussian Markov chain over every sequence of a Series (and, with the same shape, a gradient in it).
///
///   x_t | x_{t-1} ~ N(m_t + A_t (x_{t-1} - m_{t-1}), S_t),   S_t = S_chol S_chol^T
///
/// A_t and S_t belong to the row they lead to; on the first row of a sequence A_t = 0 and S_t = P_t is the marginal
/// covariance. The means are the marginal ones: with offsets b_t instead, gradient methods crawl.
struct StatePosterior {
  Matrix m;       ///< [D x n]
  Matrix A;       ///< [D x D n], block t at columns D t
  Matrix S_chol;  ///< [D x D n], lower triangular blocks with positive diagonals

  Index states() const { return m.rows(); }
  Index rows() const { return m.cols(); }

  static StatePosterior zero(Index states, Index rows);
  void set_zero();
};

/// Marginal covariances P_t of q(x) [D x D n].
Matrix marginal_covariances(const StatePosterior& q);

/// Calls visit.template operator()<N>() with N = D for 1, 2 and 4 states and Eigen::Dynamic for others, so that the
/// small matrices of a chain have a size the compiler knows. (Each size costs half a minute of compile time.)
template <typename Visitor>
decltype(auto) with_static_states(Index D, Visitor&& visit) {
  switch (D) {
    case 1:
      return visit.template operator()<1>();
    case 2:
      return visit.template operator()<2>();
    case 4:
      return visit.template operator()<4>();
    default:
      return visit.template operator()<Eigen::Dynamic>();
  }
}

}  // namespace gpilot::ssm
