#pragma once

#include <string_view>

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

}  // namespace gpilot::gp
