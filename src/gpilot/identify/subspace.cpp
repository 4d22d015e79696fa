#include "gpilot/identify/subspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/linalg/eigenvalues.hpp"
#include "gpilot/linalg/least_squares.hpp"
#include "gpilot/linalg/singular.hpp"
#include "gpilot/linalg/solve.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::identify {

namespace {

constexpr double kInside = 0.003;

/// Missing outputs between two measured ones by a straight line, others by the nearest.
Matrix interpolated(const ssm::Series& series) {
  Matrix y = series.outputs;
  for (Index e = 0; e < y.rows(); ++e) {
    for (Index k = 0; k < series.sequences(); ++k) {
      const Index end = series.start[static_cast<std::size_t>(k) + 1];
      Index last = -1;
      for (Index t = series.start[static_cast<std::size_t>(k)]; t <= end; ++t) {
        if (t < end && std::isnan(series.outputs(e, t))) {
          continue;
        }
        const Index from = last < 0 ? series.start[static_cast<std::size_t>(k)] : last + 1;
        for (Index s = from; s < t; ++s) {
          const double left = last < 0 ? (t < end ? y(e, t) : 0.0) : y(e, last);
          const double right = t < end ? y(e, t) : left;
          const double share =
              last < 0 || t == end ? 0.0 : static_cast<double>(s - last) / static_cast<double>(t - last);
          y(e, s) = left + share * (right - left);
        }
        last = t;
      }
    }
  }
  return y;
}

/// First rows of all windows of `length` rows within one sequence whose outputs are all there.
std::vector<Index> complete_windows(const ssm::Series& series, const Matrix& outputs, Index length) {
  std::vector<Index> starts;
  for (Index k = 0; k < series.sequences(); ++k) {
    Index complete = 0;
    for (Index t = series.start[static_cast<std::size_t>(k)]; t < series.start[static_cast<std::size_t>(k) + 1]; ++t) {
      complete = outputs.col(t).array().isNaN().any() ? 0 : complete + 1;
      if (complete >= length) {
        starts.push_back(t - length + 1);
      }
    }
  }
  return starts;
}

/// Block Hankel matrix, transposed: row j holds the columns starts_j + first .. + first + i - 1.
Matrix hankel(const Matrix& columns, const std::vector<Index>& starts, Index first, Index i) {
  const Index size = columns.rows();
  Matrix H(static_cast<Index>(starts.size()), size * i);
  for (std::size_t j = 0; j < starts.size(); ++j) {
    for (Index k = 0; k < i; ++k) {
      H.row(static_cast<Index>(j)).segment(size * k, size) = columns.col(starts[j] + first + k).transpose();
    }
  }
  return H;
}

/// Pulls poles beyond the radius back to it.
Matrix stabilised(const Matrix& A, double radius) {
  if (linalg::spectral_radius(A) <= radius) {
    return A;
  }
  Matrix stable = linalg::with_moduli_at_most(A, radius);
  if (stable.allFinite() && linalg::spectral_radius(stable) <= radius * (1.0 + 1e-6)) {
    return stable;
  }
  return A * (radius / linalg::spectral_radius(A));  // a Jordan block has no basis of eigenvectors
}

}  // namespace

Matrix simulate(const LinearDynamics& model, const ssm::Series& series) {
  Matrix y(model.C.rows(), series.rows());
  Vector x;
  Index sequence = -1;
  for (Index t = 0; t < series.rows(); ++t) {
    if (series.first[static_cast<std::size_t>(t)]) {
      x = model.x0.col(++sequence);
    } else {
      x = model.A * x + model.B * series.controls.col(t - 1);
    }
    y.col(t) = model.C * x + model.d;
    if (model.y0.cols() > 0) {
      y.col(t) += model.y0.col(sequence);
    }
  }
  return y;
}

Subspace find_subspace(const ssm::Series& series, Index block_rows, Index order) {
  const Index P = series.controls.rows();
  const Index E = series.outputs.rows();
  constexpr Index kSpare = 10;       // windows beyond the unknowns
  constexpr Index kFewestSpare = 1;  // where rows are few: refinement by the simulated outputs follows
  const Index least = std::max<Index>(2, std::min(block_rows, (std::max<Index>(1, order) + E - 1) / E + 1));
  std::vector<std::pair<Index, Index>> sizes;  // block rows and spare windows, in the order of preference
  for (Index i = block_rows; i >= least; --i) {
    sizes.emplace_back(i, kSpare);
  }
  sizes.emplace_back(least, kFewestSpare);
  for (const auto& [i, spare] : sizes) {
    for (const bool fill : {false, true}) {
      const Matrix outputs = fill ? interpolated(series) : series.outputs;
      const std::vector<Index> starts = complete_windows(series, outputs, 2 * i);
      const Index unknowns = (2 * P + 2 * E) * i;
      if (static_cast<Index>(starts.size()) < unknowns + spare) {
        continue;
      }
      // LQ decomposition of (future inputs; past inputs, past outputs; future outputs), by the QR of its transpose.
      Matrix H(static_cast<Index>(starts.size()), unknowns);
      H << hankel(series.controls, starts, i, i), hankel(series.controls, starts, 0, i), hankel(outputs, starts, 0, i),
          hankel(outputs, starts, i, i);
      const Matrix R = linalg::upper_factor(H);
      // The part of the future that the past explains and future inputs do not [E i x (P + E) i].
      const Matrix L32 = R.block(P * i, (2 * P + E) * i, (P + E) * i, E * i).transpose();
      const linalg::LeftSingular svd(L32);
      return {svd.values, svd.U, E};
    }
  }
  throw InputError(
      fmt::format("subspace identification: {} rows in {} sequence(s) are too few for {} input(s), {} "
                  "output(s) and order {}, expected at least {} in one sequence",
                  series.rows(), series.sequences(), P, E, order, 2 * (P + E + 1) * least + kFewestSpare - 1));
}

LinearDynamics realise(const Subspace& subspace, const ssm::Series& series, Index order, double max_radius,
                       bool offset_per_sequence) {
  const Index E = subspace.outputs;
  const Index P = series.controls.rows();
  const Index S = series.sequences();
  const Index rows = subspace.observability.rows();
  if (order < 1 || order > std::min(subspace.observability.cols(), rows - E)) {
    throw InputError(
        fmt::format("order: {}, expected 1 to {}", order, std::min(subspace.observability.cols(), rows - E)));
  }
  LinearDynamics model;
  const Matrix O =
      subspace.observability.leftCols(order) * subspace.singular_values.head(order).cwiseSqrt().asDiagonal();
  model.C = O.topRows(E);
  // A little inside the limit, so that refinement is not caught at it.
  model.A = stabilised(linalg::least_squares(O.topRows(rows - E), O.bottomRows(rows - E)), max_radius - kInside);
  // y is linear in B, d and the first states: one simulation for each.
  const Index offsets = offset_per_sequence ? S : 0;
  const Index unknowns = order * P + E + order * S + E * offsets;
  Matrix normal = Matrix::Zero(unknowns, unknowns);
  Vector right = Vector::Zero(unknowns);
  Matrix X_B(order, order * P);  // x as a function of vec(B)
  Matrix X_0(order, order);      // and of the first state
  Index sequence = -1;
  Vector row(unknowns);
  for (Index t = 0; t < series.rows(); ++t) {
    if (series.first[static_cast<std::size_t>(t)]) {
      X_B.setZero();
      X_0.setIdentity();
      ++sequence;
    } else {
      X_B = model.A * X_B;
      for (Index p = 0; p < P; ++p) {
        X_B.middleCols(order * p, order).diagonal().array() += series.controls(p, t - 1);
      }
      X_0 = model.A * X_0;
    }
    for (Index e = 0; e < E; ++e) {
      if (std::isnan(series.outputs(e, t))) {
        continue;
      }
      row.setZero();
      row.head(order * P) = (model.C.row(e) * X_B).transpose();
      row(order * P + e) = 1.0;
      row.segment(order * P + E + order * sequence, order) = (model.C.row(e) * X_0).transpose();
      if (offsets > 0) {
        row(order * P + E + order * S + E * sequence + e) = 1.0;
      }
      normal.selfadjointView<Eigen::Lower>().rankUpdate(row);
      right += series.outputs(e, t) * row;
    }
  }
  normal.triangularView<Eigen::StrictlyUpper>() = normal.transpose();
  const double ridge = 1e-9 * normal.trace() / static_cast<double>(unknowns) + 1e-12;
  normal.diagonal().array() += ridge;
  if (offsets > 0) {  // the common offset takes the mean of them
    normal.diagonal().tail(E * S).array() += 1e-3 * static_cast<double>(series.rows()) / static_cast<double>(S);
  }
  const Vector solution = linalg::solve_symmetric(normal, right);
  if (!solution.allFinite()) {
    throw NumericalError("subspace identification: the inputs' effect cannot be solved for");
  }
  model.B = Eigen::Map<const Matrix>(solution.data(), order, P);
  model.d = solution.segment(order * P, E);
  model.x0 = Eigen::Map<const Matrix>(solution.data() + order * P + E, order, S);
  model.y0 = Eigen::Map<const Matrix>(solution.data() + order * P + E + order * S, E, offsets);
  return model;
}

}  // namespace gpilot::identify
