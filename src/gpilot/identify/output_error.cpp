#include "gpilot/identify/output_error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "gpilot/core/error.hpp"
#include "gpilot/linalg/eigenvalues.hpp"
#include "gpilot/linalg/solve.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::identify {

namespace {

constexpr int kTries = 12;  ///< dampings tried in an iteration
constexpr double kLargestDamping = 1e12;

/// Positions in the flat vector of parameters.
struct Layout {
  Index n, P, E, S, offsets;

  explicit Layout(const LinearDynamics& m)
      : n(m.order()), P(m.B.cols()), E(m.C.rows()), S(m.x0.cols()), offsets(m.y0.cols()) {}
  Index B() const { return n * n; }
  Index C() const { return B() + n * P; }
  Index d() const { return C() + E * n; }
  Index x0() const { return d() + E; }
  Index y0() const { return x0() + n * S; }
  Index size() const { return y0() + E * offsets; }
};

Vector flat_of(const LinearDynamics& m) {
  Vector flat(Layout(m).size());
  flat << m.A.reshaped(), m.B.reshaped(), m.C.reshaped(), m.d, m.x0.reshaped(), m.y0.reshaped();
  return flat;
}

LinearDynamics model_of(const Vector& flat, const Layout& at) {
  const auto matrix = [&](Index begin, Index rows, Index cols) {
    return Matrix(Eigen::Map<const Matrix>(flat.data() + begin, rows, cols));
  };
  return {matrix(0, at.n, at.n),      matrix(at.B(), at.n, at.P),  matrix(at.C(), at.E, at.n),
          flat.segment(at.d(), at.E), matrix(at.x0(), at.n, at.S), matrix(at.y0(), at.E, at.offsets)};
}

/// Gauss-Newton's normal equations of the simulation error.
struct NormalEquations {
  Matrix H;      ///< J^T J
  Vector right;  ///< J^T r
  double squares = 0.0;
  Index count = 0;
  bool diverged = false;
};

/// The columns of the sensitivities are (A, B, C, d, this sequence's x0); C and d do not move the state.
class Sensitivities {
 public:
  Sensitivities(const LinearDynamics& model, const ssm::Series& series)
      : model_(model), series_(series), at_(model), dx_(at_.n, at_.C() + at_.n), next_(at_.n, at_.C() + at_.n) {}

  void run(bool with_matrix, NormalEquations& out) {
    out.H.setZero(with_matrix ? at_.size() : 0, with_matrix ? at_.size() : 0);
    out.right.setZero(at_.size());
    out.squares = 0.0;
    out.count = 0;
    Index sequence = -1;
    Vector row = Vector::Zero(at_.size());
    for (Index t = 0; t < series_.rows(); ++t) {
      if (series_.first[static_cast<std::size_t>(t)]) {
        x_ = model_.x0.col(++sequence);
        dx_.setZero();
        dx_.rightCols(at_.n).setIdentity();
      } else {
        step(t);
      }
      if (!(x_.cwiseAbs().maxCoeff() < ssm::kFarthestState)) {
        out.diverged = true;
        return;
      }
      add_row(t, sequence, with_matrix, row, out);
    }
    if (with_matrix) {
      out.H.triangularView<Eigen::StrictlyUpper>() = out.H.transpose();
    }
  }

 private:
  void step(Index t) {
    next_.noalias() = model_.A * dx_;
    for (Index j = 0; j < at_.n; ++j) {  // A is flat column by column: A_ij x_j
      next_.middleCols(at_.n * j, at_.n).diagonal().array() += x_(j);
    }
    for (Index p = 0; p < at_.P; ++p) {
      next_.middleCols(at_.B() + at_.n * p, at_.n).diagonal().array() += series_.controls(p, t - 1);
    }
    x_ = model_.A * x_ + model_.B * series_.controls.col(t - 1);
    dx_.swap(next_);
  }

  void add_row(Index t, Index sequence, bool with_matrix, Vector& row, NormalEquations& out) {
    for (Index e = 0; e < at_.E; ++e) {
      const double y = series_.outputs(e, t);
      if (std::isnan(y)) {
        continue;
      }
      double residual = y - model_.C.row(e).dot(x_) - model_.d(e);
      row.setZero();
      const Vector through_state = dx_.transpose() * model_.C.row(e).transpose();
      row.head(at_.C()) = through_state.head(at_.C());
      for (Index j = 0; j < at_.n; ++j) {
        row(at_.C() + at_.E * j + e) = x_(j);
      }
      row(at_.d() + e) = 1.0;
      row.segment(at_.x0() + at_.n * sequence, at_.n) = through_state.tail(at_.n);
      if (at_.offsets > 0) {
        row(at_.y0() + at_.E * sequence + e) = 1.0;
        residual -= model_.y0(e, sequence);
      }
      if (with_matrix) {
        out.H.selfadjointView<Eigen::Lower>().rankUpdate(row);
      }
      out.right += residual * row;
      out.squares += residual * residual;
      ++out.count;
    }
  }

  const LinearDynamics& model_;
  const ssm::Series& series_;
  Layout at_;
  Vector x_;
  Matrix dx_, next_;  ///< [n x n^2 + n P + n]
};

double squared_error(const LinearDynamics& model, const ssm::Series& series) {
  const Matrix error = series.outputs - simulate(model, series);
  const double squares = error.array().isNaN().select(0.0, error.array()).square().sum();
  return std::isfinite(squares) ? squares : std::numeric_limits<double>::infinity();
}

}  // namespace

void OutputErrorOptions::validate() const {
  if (iterations < 0) {
    throw InputError(fmt::format("iterations: {} is below 0", iterations));
  }
  if (!(max_radius > 0.0 && max_radius < 1.0)) {
    throw InputError(fmt::format("max_radius: {}, expected above 0 and below 1", max_radius));
  }
  if (!(tolerance > 0.0)) {
    throw InputError(fmt::format("tolerance: {} is not positive", tolerance));
  }
}

double output_error(const LinearDynamics& model, const ssm::Series& series, Vector& gradient) {
  NormalEquations equations;
  Sensitivities(model, series).run(false, equations);
  gradient = -equations.right;
  return 0.5 * equations.squares;
}

OutputErrorResult refine_output_error(const LinearDynamics& start, const ssm::Series& series,
                                      const OutputErrorOptions& options) {
  options.validate();
  const Layout at(start);
  const double radius = std::max(options.max_radius, linalg::spectral_radius(start.A) + 1e-9);
  OutputErrorResult result{.model = start};
  NormalEquations equations;
  double damping = 1e-3;
  for (; result.iterations < options.iterations && !result.converged; ++result.iterations) {
    Sensitivities(result.model, series).run(true, equations);
    if (equations.diverged || equations.count == 0) {
      break;
    }
    const Vector flat = flat_of(result.model);
    const double floor = 1e-6 * equations.H.trace() / static_cast<double>(at.size()) + 1e-12;
    bool decreased = false;
    for (int k = 0; k < kTries && !decreased && damping < kLargestDamping; ++k) {
      Matrix damped = equations.H;
      damped.diagonal().array() += damping * (equations.H.diagonal().array() + floor);
      const Vector step = linalg::solve_symmetric(damped, equations.right);
      LinearDynamics candidate = step.allFinite() ? model_of(flat + step, at) : result.model;
      if (step.allFinite() && linalg::spectral_radius(candidate.A) < radius) {
        const double squares = squared_error(candidate, series);
        if (squares < equations.squares) {
          result.converged = equations.squares - squares < options.tolerance * equations.squares;
          result.model = std::move(candidate);
          damping = std::max(0.2 * damping, 1e-9);
          decreased = true;
          continue;
        }
      }
      damping *= 4.0;
    }
    if (!decreased) {
      result.converged = true;  // no step in any direction helps
    }
  }
  Vector ignored;
  Index count = series.outputs.size() - series.outputs.array().isNaN().count();
  result.mean_square = squared_error(result.model, series) / static_cast<double>(std::max<Index>(1, count));
  return result;
}

}  // namespace gpilot::identify
