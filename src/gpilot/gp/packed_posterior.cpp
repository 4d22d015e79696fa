#include "gpilot/gp/packed_posterior.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>

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
      linear_(basis.linear_sd.size() > 0) {
  const Index M = basis.inducing();
  const Index features = basis.features();
  Matrix changed = -q.Sigma;  // [M_a x M_a]
  changed.diagonal().head(M).array() += 1.0;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(changed);
  Matrix kept(features, features + 1);
  eigenvalues_.resize(features);
  Index count = 0;
  for (Index j = 0; j < features; ++j) {
    if (const double value = eigen.eigenvalues()(j); std::abs(value) > kUntouched) {
      kept.col(count) = eigen.eigenvectors().col(j);
      eigenvalues_(count++) = value;
    }
  }
  eigenvalues_.conservativeResize(count);
  kept.col(count) = q.mu;
  folded_.resize(features, count + 1);
  folded_.topRows(M).noalias() = basis.Linv.transpose() * kept.topLeftCorner(M, count + 1);
  folded_.bottomRows(features - M) = basis.linear_sd.asDiagonal() * kept.bottomLeftCorner(features - M, count + 1);
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
      kernels::squared_distances(Xs.topRows(rows), Zs_, phi.topLeftCorner(rows, M));
      kernels::apply_profile(kind_, variance_, phi.topLeftCorner(rows, M), nullptr);
    }
    if (linear_) {
      phi.block(0, M, rows, I_e) = inputs;
    }
    product.topRows(rows).noalias() = phi.topRows(rows) * folded_;
    mean.segment(begin, rows) = product.col(r).head(rows);
    auto v = variance.segment(begin, rows).array();
    v.setConstant(variance_);
    for (Index j = 0; j < r; ++j) {
      v -= eigenvalues_(j) * product.col(j).head(rows).array().square();
    }
    v = v.max(0.0);
  }
}

}  // namespace gpilot::gp
