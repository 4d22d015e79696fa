#include "gpilot/gp/nodes.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <utility>

#include "gpilot/core/distributions.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/linalg/symmetric_eigen.hpp"

namespace gpilot::gp {

namespace {

constexpr Index kDefaultPoints = 3;              // of Gauss-Hermite, each dimension
constexpr Index kDefaultPointsOneDimension = 7;  // cheap there, and noisy data make wide posteriors
constexpr Index kDefaultSamples = 50;            // of random nodes
constexpr Index kLargestTensor = 10000;          // nodes of a tensor product: beyond, an error names the other rules
constexpr Index kLargestDegree5 = 4;             // dimensions: in more the rule of degree 5 has negative weights

constexpr std::array<std::pair<NodeRule, std::string_view>, 6> kNames{{{NodeRule::kAuto, "auto"},
                                                                       {NodeRule::kGaussHermite, "gauss-hermite"},
                                                                       {NodeRule::kCubature3, "cubature3"},
                                                                       {NodeRule::kCubature5, "cubature5"},
                                                                       {NodeRule::kQuasiMonteCarlo, "qmc"},
                                                                       {NodeRule::kSamples, "samples"}}};

/// Golub-Welsch: nodes and weights of the probabilists' Gauss-Hermite rule from its Jacobi matrix.
void gauss_hermite_1d(Index points, Vector& xi, Vector& w) {
  Matrix jacobi = Matrix::Zero(points, points);
  for (Index i = 1; i < points; ++i) {
    jacobi(i, i - 1) = jacobi(i - 1, i) = std::sqrt(static_cast<double>(i));
  }
  const linalg::SymmetricEigen eigen(jacobi);
  xi = eigen.values;
  w = eigen.vectors.row(0).array().square();
  // The rule is symmetric; make it so to the last bit.
  for (Index i = 0; i < points / 2; ++i) {
    const Index j = points - 1 - i;
    xi(j) = 0.5 * (xi(j) - xi(i));
    xi(i) = -xi(j);
    w(i) = w(j) = 0.5 * (w(i) + w(j));
  }
  if (points % 2 == 1) {
    xi(points / 2) = 0.0;
  }
}

Nodes gauss_hermite(Index dimension, Index points) {
  Vector xi;
  Vector w;
  gauss_hermite_1d(points, xi, w);
  const double count = std::pow(static_cast<double>(points), static_cast<double>(dimension));
  if (count > static_cast<double>(kLargestTensor)) {
    throw InputError(
        fmt::format("gauss-hermite with {} points in {} dimensions needs {:.0f} nodes, more than {}: "
                    "use cubature3, cubature5 or qmc",
                    points, dimension, count, kLargestTensor));
  }
  const auto total = static_cast<Index>(count);
  Nodes nodes{Matrix(total, dimension), Vector::Ones(total)};
  for (Index j = 0; j < total; ++j) {
    Index rest = j;
    for (Index d = 0; d < dimension; ++d) {
      nodes.xi(j, d) = xi(rest % points);
      nodes.w(j) *= w(rest % points);
      rest /= points;
    }
  }
  return nodes;
}

Nodes cubature3(Index dimension) {
  const auto D = static_cast<double>(dimension);
  Nodes nodes{Matrix::Zero(2 * dimension, dimension), Vector::Constant(2 * dimension, 0.5 / D)};
  for (Index d = 0; d < dimension; ++d) {
    nodes.xi(2 * d, d) = std::sqrt(D);
    nodes.xi(2 * d + 1, d) = -std::sqrt(D);
  }
  return nodes;
}

/// Fully symmetric rule of degree 5 (McNamee and Stenger): centre, +-sqrt(D+2) axes, +-sqrt((D+2)/2) pairs.
Nodes cubature5(Index dimension) {
  if (dimension > kLargestDegree5) {
    throw InputError(fmt::format("cubature5 has negative weights in {} dimensions (more than {}): use cubature3 or qmc",
                                 dimension, kLargestDegree5));
  }
  const auto D = static_cast<double>(dimension);
  const Index total = 2 * dimension * dimension + 1;
  Nodes nodes{Matrix::Zero(total, dimension), Vector(total)};
  nodes.w(0) = 2.0 / (D + 2.0);
  Index j = 1;
  for (Index d = 0; d < dimension; ++d) {
    for (const double sign : {1.0, -1.0}) {
      nodes.xi(j, d) = sign * std::sqrt(D + 2.0);
      nodes.w(j++) = (4.0 - D) / (2.0 * (D + 2.0) * (D + 2.0));
    }
  }
  for (Index a = 0; a < dimension; ++a) {
    for (Index b = a + 1; b < dimension; ++b) {
      for (const double sign_a : {1.0, -1.0}) {
        for (const double sign_b : {1.0, -1.0}) {
          nodes.xi(j, a) = sign_a * std::sqrt((D + 2.0) / 2.0);
          nodes.xi(j, b) = sign_b * std::sqrt((D + 2.0) / 2.0);
          nodes.w(j++) = 1.0 / ((D + 2.0) * (D + 2.0));
        }
      }
    }
  }
  if (dimension == kLargestDegree5) {
    // At D = 4 the axis nodes have weight zero: drop them.
    const Index axes = 2 * dimension;
    Nodes kept{Matrix(total - axes, dimension), Vector(total - axes)};
    kept.xi << nodes.xi.topRows(1), nodes.xi.bottomRows(total - 1 - axes);
    kept.w << nodes.w.head(1), nodes.w.tail(total - 1 - axes);
    return kept;
  }
  return nodes;
}

Nodes quasi_monte_carlo(Index dimension, Index points, std::uint64_t seed) {
  const Index pairs = std::max<Index>((points + 1) / 2, dimension);
  boost::random::sobol engine(static_cast<std::size_t>(dimension));
  RandomStream shift_stream(seed, Purpose::kNodes);
  Vector shift(dimension);
  for (Index d = 0; d < dimension; ++d) {
    shift(d) = shift_stream.uniform();
  }
  Nodes nodes{Matrix(2 * pairs, dimension), Vector::Constant(2 * pairs, 0.5 / static_cast<double>(pairs))};
  for (Index j = 0; j < pairs; ++j) {
    for (Index d = 0; d < dimension; ++d) {
      // A random shift modulo one (Cranley-Patterson) keeps the points away from 0 and makes the seed count.
      double u = static_cast<double>(engine()) * 0x1p-64 + shift(d);
      u -= std::floor(u);
      nodes.xi(2 * j, d) = normal_quantile(std::min(std::max(u, 1e-12), 1.0 - 1e-12));
      nodes.xi(2 * j + 1, d) = -nodes.xi(2 * j, d);
    }
  }
  const Matrix second_moment = nodes.xi.transpose() * nodes.xi / static_cast<double>(2 * pairs);
  Matrix L;
  linalg::cholesky(second_moment, L, "quasi-Monte-Carlo nodes");
  nodes.xi = L.triangularView<Eigen::Lower>().solve(nodes.xi.transpose()).transpose().eval();
  return nodes;
}

}  // namespace

std::string_view name(NodeRule rule) {
  for (const auto& [candidate, text] : kNames) {
    if (candidate == rule) {
      return text;
    }
  }
  return "";
}

NodeRule node_rule_from_name(std::string_view text) {
  for (const auto& [rule, candidate] : kNames) {
    if (candidate == text) {
      return rule;
    }
  }
  throw InputError(
      fmt::format("unknown node rule '{}': expected auto, gauss-hermite, cubature3, cubature5, qmc or samples", text));
}

Nodes make_nodes(NodeRule rule, Index dimension, Index points, std::uint64_t seed, std::uint32_t step) {
  if (rule == NodeRule::kAuto) {
    rule = dimension <= 2                 ? NodeRule::kGaussHermite
           : dimension <= kLargestDegree5 ? NodeRule::kCubature5
                                          : NodeRule::kCubature3;
  }
  switch (rule) {
    case NodeRule::kGaussHermite:
      return gauss_hermite(dimension, points > 0       ? points
                                      : dimension == 1 ? kDefaultPointsOneDimension
                                                       : kDefaultPoints);
    case NodeRule::kCubature3:
      return cubature3(dimension);
    case NodeRule::kCubature5:
      return cubature5(dimension);
    case NodeRule::kQuasiMonteCarlo:
      return quasi_monte_carlo(dimension, points > 0 ? points : kDefaultSamples, seed);
    default: {
      const Index count = points > 0 ? points : kDefaultSamples;
      RandomStream stream(seed, Purpose::kNodes, 1, step);
      return {stream.normal_matrix(count, dimension), Vector::Constant(count, 1.0 / static_cast<double>(count))};
    }
  }
}

bool refined_nodes(Index dimension, int level, Nodes& nodes) {
  constexpr Index kAffordable = 150;
  if (level <= 0) {
    nodes = make_nodes(NodeRule::kAuto, dimension);
    return true;
  }
  const std::array<Index, 3> ladder = dimension == 1   ? std::array<Index, 3>{11, 17, 25}
                                      : dimension == 2 ? std::array<Index, 3>{5, 7, 11}
                                                       : std::array<Index, 3>{3, 5, 7};
  if (level > static_cast<int>(ladder.size())) {
    return false;
  }
  const Index points = ladder[static_cast<std::size_t>(level - 1)];
  if (std::pow(static_cast<double>(points), static_cast<double>(dimension)) > static_cast<double>(kAffordable)) {
    return false;
  }
  nodes = gauss_hermite(dimension, points);
  return true;
}

}  // namespace gpilot::gp
