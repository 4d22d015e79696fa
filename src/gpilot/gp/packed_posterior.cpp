#include "gpilot/gp/packed_posterior.hpp"

#include <algorithm>
#include <cmath>

#include "gpilot/kernels/stationary.hpp"
#include "gpilot/linalg/symmetric_eigen.hpp"

namespace gpilot::gp {

namespace {

constexpr Index kBlock = 128;  ///< rows at a time: their features stay in the cache nearest to the processor
/// Eigenvalues lie in [.., 1]; below this one a direction changes the variance by less than rounding does.
constexpr double kUntouched = 1e-13;

}  // namespace

PackedPosterior::PackedPosterior(const InducingBasis& basis, const Weights& q)
    : kind_(basis.kind),
      variance_(basis.inducing() > 0 ? basis.variance : 0.0),
      angles_(basis.angles),
      inverse_length_scales_(basis.inverse_length_scales),
      Zs_(basis.Zs),
      linear_(basis.linear_sd.size() > 0),
      form_(basis.form) {
  const Index M = basis.inducing();
  const Index features = basis.features();
  Matrix changed = -q.Sigma;  // [M_a x M_a]
  changed.diagonal().head(M).array() += 1.0;
  const linalg::SymmetricEigen eigen(changed);
  Matrix kept(features, features + 1);
  eigenvalues_.resize(features);
  Index count = 0;
  for (Index j = 0; j < features; ++j) {
    if (const double value = eigen.values(j); std::abs(value) > kUntouched) {
      kept.col(count) = eigen.vectors.col(j);
      eigenvalues_(count++) = value;
    }
  }
  eigenvalues_.conservativeResize(count);
  kept.col(count) = q.mu;
  folded_.resize(features, count + 1);
  folded_.topRows(M).noalias() = basis.Linv.transpose() * kept.topLeftCorner(M, count + 1);
  folded_.bottomRows(features - M) = basis.linear_sd.asDiagonal() * kept.bottomLeftCorner(features - M, count + 1);
}

Matrix AnchoredKernel::gram() const {
  const Index I = anchors.cols() - static_cast<Index>(angles.size());
  Matrix K(anchors.rows(), anchors.rows());
  if (form.stationary()) {
    K = kernels::gram(kind, variance, length_scales, anchors, anchors);
  } else {
    const Matrix Xs = anchors * length_scales.cwiseInverse().asDiagonal();
    kernels::FormedKernel{kind, variance, form, I}.evaluate(Xs, Xs, K);
  }
  if (linear_sd.size() > 0) {
    const Index I_e = anchors.cols();
    const Matrix scaled = anchors * linear_sd.head(I_e).asDiagonal();
    K.noalias() += scaled * scaled.transpose();
    K.array() += linear_sd(I_e) * linear_sd(I_e);
  }
  if (extra) {
    K.noalias() += extra_at_anchors * extra_at_anchors.transpose();
  }
  return K;
}

PackedPosterior::PackedPosterior(const AnchoredKernel& kernel, MatrixRef B)
    : kind_(kernel.kind),
      variance_(kernel.variance),
      angles_(kernel.angles),
      inverse_length_scales_(kernel.length_scales.cwiseInverse()),
      Zs_(kernel.anchors * inverse_length_scales_.asDiagonal()),
      linear_(kernel.linear_sd.size() > 0),
      form_(kernel.form),
      extra_(kernel.extra),
      extra_count_(kernel.extra ? kernel.extra_at_anchors.cols() : 0) {
  const Index T = kernel.anchors.rows();
  const Index I = kernel.anchors.cols();
  const Index linear = linear_ ? I + 1 : 0;
  const Index weights = linear + extra_count_;
  const linalg::SymmetricEigen eigen(B);
  // k(x, anchors) = phi(x)^T [1; s^2 anchors^T; s_0^2; extra^T]: the first columns. The linear kernel itself, which a
  // sparse posterior carries in its weights, are further ones with eigenvalue -1, and so are the extra features.
  folded_.setZero(T + weights, T + weights + 1);
  eigenvalues_.resize(T + weights);
  eigenvalues_.head(T) = eigen.values;
  eigenvalues_.tail(weights).setConstant(-1.0);
  folded_.topLeftCorner(T, T) = eigen.vectors;
  if (linear_) {
    const Vector s2 = kernel.linear_sd.cwiseAbs2();
    folded_.block(T, 0, I, T).noalias() = s2.head(I).asDiagonal() * kernel.anchors.transpose() * eigen.vectors;
    folded_.block(T + I, 0, 1, T) = s2(I) * eigen.vectors.colwise().sum();
    folded_.block(T, T, linear, linear) = kernel.linear_sd.asDiagonal();
  }
  if (extra_count_ > 0) {
    folded_.block(T + linear, 0, extra_count_, T).noalias() = kernel.extra_at_anchors.transpose() * eigen.vectors;
    folded_.block(T + linear, T + linear, extra_count_, extra_count_).setIdentity();
  }
}

kernels::FormedKernel PackedPosterior::formed() const {
  return {kind_, variance_, form_, inverse_length_scales_.size() - static_cast<Index>(angles_.size())};
}

void PackedPosterior::predict(MatrixRef X, Eigen::Ref<Vector> mean, Eigen::Ref<Vector> variance) const {
  const Index M = Zs_.rows();
  const Index I_e = inverse_length_scales_.size();
  const Index r = directions();
  Matrix Xe(angles_.empty() ? 0 : kBlock, I_e);
  Matrix Xs(kBlock, I_e);
  Matrix phi(kBlock, folded_.rows());
  Matrix product(kBlock, r + 1);
  if (linear_) {
    phi.col(M + I_e).setOnes();
  }
  for (Index begin = 0; begin < X.rows(); begin += kBlock) {
    const Index rows = std::min(kBlock, X.rows() - begin);
    if (!angles_.empty()) {
      Xe.topLeftCorner(rows, X.cols()) = X.middleRows(begin, rows);
      kernels::embed(angles_, Xe.topRows(rows));
    }
    const MatrixIn inputs = angles_.empty() ? MatrixIn(X.middleRows(begin, rows)) : MatrixIn(Xe.topRows(rows));
    if (M > 0) {
      for (Index i = 0; i < I_e; ++i) {
        Xs.col(i).head(rows) = inverse_length_scales_(i) * inputs.col(i);
      }
      if (form_.stationary()) {
        kernels::squared_distances(Xs.topRows(rows), Zs_, phi.topLeftCorner(rows, M));
        kernels::apply_profile(kind_, variance_, phi.topLeftCorner(rows, M), nullptr);
      } else {
        formed().evaluate(Xs.topRows(rows), Zs_, phi.topLeftCorner(rows, M));
      }
    }
    if (linear_) {
      phi.block(0, M, rows, I_e) = inputs;
    }
    if (extra_count_ > 0) {
      phi.topRightCorner(rows, extra_count_) = extra_(X.middleRows(begin, rows));
    }
    product.topRows(rows).noalias() = phi.topRows(rows) * folded_;
    mean.segment(begin, rows) = product.col(r).head(rows);
    auto v = variance.segment(begin, rows).array();
    if (form_.stationary() || M == 0) {
      v.setConstant(variance_);
    } else {
      v = formed().diagonal(Xs.topRows(rows)).array();
    }
    for (Index j = 0; j < r; ++j) {
      v -= eigenvalues_(j) * product.col(j).head(rows).array().square();
    }
    v = v.max(0.0);
  }
}

void PackedPosterior::project(MatrixRef X, Points& points) const {
  set_features(X, points, nullptr);
  points.P.noalias() = points.phi * folded_.leftCols(directions());
}

void PackedPosterior::predict(MatrixRef X, Points& points, Vector& mean, Matrix& slope) const {
  const Index M = Zs_.rows();
  const Index I = X.cols();
  const Index I_e = inverse_length_scales_.size();
  const Index r = directions();
  slope.setZero(X.rows(), I_e);
  Matrix dk(X.rows(), M);
  set_features(X, points, &dk);
  if (M > 0 && !form_.stationary()) {
    formed().pull_back(points.Xs, Zs_, folded_.col(r).head(M).transpose().replicate(X.rows(), 1), slope, nullptr);
    slope *= inverse_length_scales_.asDiagonal();
  } else if (M > 0) {
    // d mean/dx_i = sum_m weight_m dk/dr^2 2 (x_i - z_i) / l_i^2
    dk *= (2.0 * folded_.col(r).head(M)).asDiagonal();
    slope = dk.rowwise().sum().asDiagonal() * points.Xs;
    slope.noalias() -= dk * Zs_;
    slope *= inverse_length_scales_.asDiagonal();
  }
  if (linear_) {
    slope.rowwise() += folded_.col(r).segment(M, I_e).transpose();
  }
  for (std::size_t a = 0; a < angles_.size(); ++a) {
    const Index c = I + static_cast<Index>(a);
    kernels::pull_back(angles_[a].omega, points.Xe.col(angles_[a].input), points.Xe.col(c), slope.col(angles_[a].input),
                       slope.col(c));
  }
  slope.conservativeResize(Eigen::NoChange, I);
  points.P.noalias() = points.phi * folded_.leftCols(r);
  mean.noalias() = points.phi * folded_.col(r);
}

/// phi at the rows of X and, when asked for, dk/dr^2 [N x M].
void PackedPosterior::set_features(MatrixRef X, Points& points, Matrix* slope) const {
  const Index M = Zs_.rows();
  const Index I_e = inverse_length_scales_.size();
  points.phi.resize(X.rows(), folded_.rows());
  points.Xe.resize(X.rows(), I_e);
  points.Xe.leftCols(X.cols()) = X;
  kernels::embed(angles_, points.Xe);
  points.Xs.noalias() = points.Xe * inverse_length_scales_.asDiagonal();
  if (M > 0 && !form_.stationary()) {
    formed().evaluate(points.Xs, Zs_, points.phi.leftCols(M));
  } else if (M > 0) {
    kernels::squared_distances(points.Xs, Zs_, points.phi.leftCols(M));
    if (slope != nullptr) {
      kernels::MatrixOut out(*slope);
      kernels::apply_profile(kind_, variance_, points.phi.leftCols(M), &out);
    } else {
      kernels::apply_profile(kind_, variance_, points.phi.leftCols(M), nullptr);
    }
  }
  if (linear_) {
    points.phi.middleCols(M, I_e) = points.Xe;
    points.phi.col(M + I_e).setOnes();
  }
  if (extra_count_ > 0) {
    points.phi.rightCols(extra_count_) = extra_(X);
  }
}

void PackedPosterior::covariance(const Points& x, const Points& y, Matrix& V) const {
  V.resize(x.Xs.rows(), y.Xs.rows());
  if (Zs_.rows() > 0 && !form_.stationary()) {
    formed().evaluate(x.Xs, y.Xs, V);
  } else if (Zs_.rows() > 0) {
    kernels::squared_distances(x.Xs, y.Xs, V);
    kernels::apply_profile(kind_, variance_, V, nullptr);
  } else {
    V.setZero();
  }
  V.noalias() -= x.P * eigenvalues_.asDiagonal() * y.P.transpose();
}

}  // namespace gpilot::gp
