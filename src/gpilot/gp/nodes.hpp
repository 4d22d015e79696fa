#pragma once

#include <cstdint>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/node_rule.hpp"

namespace gpilot::gp {

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
