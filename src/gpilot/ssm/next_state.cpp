#include "gpilot/ssm/next_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::ssm {

namespace {

constexpr Index kBlock = 1024;  ///< rows at a time: the features of a large grid would not fit into memory

void check(const char* what, MatrixRef values, Index rows, Index cols) {
  if (values.rows() != rows || values.cols() != cols) {
    throw InputError(
        fmt::format("{}: {} x {} values, expected {} x {}", what, values.rows(), values.cols(), rows, cols));
  }
  if (!values.allFinite()) {
    throw InputError(fmt::format("{}: a value is not finite", what));
  }
}

/// (X - offset) / scale, a column each.
Matrix to_scaled(MatrixRef X, const Vector& offset, const Vector& scale) {
  return (X.rowwise() - offset.transpose()).array().rowwise() / scale.transpose().array();
}

}  // namespace

NextState next_state(const Model& model, MatrixRef states, MatrixRef controls) {
  const Structure& s = model.gp.structure;
  const Scaling& scaling = model.scaling;
  const Index N = states.rows();
  check("states", states, N, s.states);
  check("controls", controls, N, s.controls);
  Matrix X(N, s.inputs());
  X.leftCols(s.states) = to_scaled(states, scaling.state_offset, scaling.state_scale);
  X.rightCols(s.controls) = to_scaled(controls, scaling.control_offset, scaling.control_scale);

  const Transition transition(s, model.gp.parameters, model.gp.weights);
  const Matrix& L_inverse = transition.left_inverse();
  const Matrix L_inverse_squared = L_inverse.cwiseAbs2();
  NextState next{Matrix(N, s.states), Matrix(N, s.states)};
  Matrix mean;
  Matrix variance;
  for (Index begin = 0; begin < N; begin += kBlock) {
    const Index rows = std::min(kBlock, N - begin);
    transition.moments(X.middleRows(begin, rows), mean, variance);
    next.mean.middleRows(begin, rows).noalias() = mean * L_inverse.transpose();
    next.sd.middleRows(begin, rows) = (variance * L_inverse_squared.transpose()).cwiseSqrt();
  }
  next.mean = next.mean * scaling.state_scale.asDiagonal();
  next.mean.rowwise() += scaling.state_offset.transpose();
  next.sd = next.sd * scaling.state_scale.asDiagonal();
  return next;
}

}  // namespace gpilot::ssm
