#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gpilot/types.hpp"

namespace gpilot::gp {

/// How expectations under a Gaussian are taken: E g(x) ~ sum_j w_j g(m + chol(P) xi_j).
enum class NodeRule {
  kAuto,          ///< Gauss-Hermite for D <= 2, cubature of degree 5 for D <= 4, of degree 3 above
  kGaussHermite,  ///< tensor product, `points` a dimension
  kCubature3,     ///< spherical-radial, 2 D nodes
  kCubature5,     ///< fully symmetric, 2 D^2 + 1 nodes (25 at D = 4); D <= 4 (negative weights above)
  kQuasiMonteCarlo,
  kSamples,  ///< the paper's random samples
};

/// "auto", "gauss-hermite", "cubature3", "cubature5", "qmc", "samples".
std::string_view name(NodeRule rule);
/// Throws InputError listing the valid names.
NodeRule node_rule_from_name(std::string_view text);

/// Unit nodes and their positive weights, which sum to one.
struct Nodes {
  Matrix xi;  ///< [J x D]
  Vector w;   ///< [J]

  Index count() const { return w.size(); }
};

/// Nodes for a D-dimensional standard normal. `points` is the number a dimension (Gauss-Hermite, default 3;
/// 7 in one dimension) or in all
/// (quasi-Monte-Carlo, samples: default 50); 0 takes the default. Quasi-Monte-Carlo nodes come in +- pairs and are
/// whitened, so that they are exact for polynomials of degree 2; random samples are left as they fall.
/// Throws InputError for a rule with negative weights at this dimension or a tensor of more than 10,000 nodes.
Nodes make_nodes(NodeRule rule, Index dimension, Index points = 0, std::uint64_t seed = 0, std::uint32_t step = 0);

/// A rule that errs less than the automatic one at this dimension: level 0 is the automatic rule itself, each level
/// beyond has more nodes. Returns false when there is none that stays affordable.
bool refined_nodes(Index dimension, int level, Nodes& nodes);

}  // namespace gpilot::gp
