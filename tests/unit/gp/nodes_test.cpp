#include "gpilot/gp/nodes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "gpilot/core/error.hpp"
#include "support/message_of.hpp"

namespace gpilot::gp {
namespace {

using test::message_of;

/// E x^k of a standard normal.
double normal_moment(Index k) {
  double moment = k % 2 == 0 ? 1.0 : 0.0;
  for (Index i = k - 1; i > 1; i -= 2) {
    moment *= static_cast<double>(i);
  }
  return moment;
}

/// Calls visit(exponents) for every monomial of `dimension` variables up to a total degree.
void for_each_monomial(Index dimension, Index degree, const std::function<void(const std::vector<Index>&)>& visit) {
  std::vector<Index> exponents(static_cast<std::size_t>(dimension), 0);
  const std::function<void(std::size_t, Index)> descend = [&](std::size_t d, Index left) {
    if (d == exponents.size()) {
      visit(exponents);
      return;
    }
    for (Index k = 0; k <= left; ++k) {
      exponents[d] = k;
      descend(d + 1, left - k);
    }
  };
  descend(0, degree);
}

double error_of(const Nodes& nodes, const std::vector<Index>& exponents) {
  double sum = 0.0;
  double exact = 1.0;
  double scale = 1.0;  // of even powers nearby: what is summed up has their size
  for (Index j = 0; j < nodes.count(); ++j) {
    double product = nodes.w(j);
    for (std::size_t d = 0; d < exponents.size(); ++d) {
      product *= std::pow(nodes.xi(j, static_cast<Index>(d)), static_cast<double>(exponents[d]));
    }
    sum += product;
  }
  for (const Index k : exponents) {
    exact *= normal_moment(k);
    scale *= normal_moment(k + k % 2);
  }
  return std::abs(sum - exact) / scale;
}

double worst_error(const Nodes& nodes, Index degree) {
  double worst = 0.0;
  for_each_monomial(nodes.xi.cols(), degree,
                    [&](const std::vector<Index>& exponents) { worst = std::max(worst, error_of(nodes, exponents)); });
  return worst;
}

void expect_weights(const Nodes& nodes) {
  EXPECT_TRUE((nodes.w.array() > 0.0).all());
  EXPECT_NEAR(nodes.w.sum(), 1.0, 1e-13);
  EXPECT_EQ(nodes.xi.rows(), nodes.count());
}

TEST(GaussHermite, IsExactToDegreeTwoNMinusOneAndNoFurther) {
  for (const Index points : {1, 2, 3, 5, 7}) {
    for (const Index dimension : {1, 2, 3}) {
      const Nodes nodes = make_nodes(NodeRule::kGaussHermite, dimension, points);
      expect_weights(nodes);
      EXPECT_EQ(nodes.count(), static_cast<Index>(std::pow(points, dimension)));
      EXPECT_LT(worst_error(nodes, 2 * points - 1), 1e-10) << points << " points, dimension " << dimension;
      std::vector<Index> beyond(static_cast<std::size_t>(dimension), 0);
      beyond.front() = 2 * points;
      EXPECT_GT(error_of(nodes, beyond), 1e-3);
    }
  }
}

TEST(GaussHermite, ManyPointsStaySymmetric) {
  const Nodes nodes = make_nodes(NodeRule::kGaussHermite, 1, 40);
  expect_weights(nodes);
  EXPECT_EQ(nodes.xi, -nodes.xi.reverse());
  EXPECT_LT(worst_error(nodes, 30), 1e-9);
}

TEST(Cubature, OfDegreeThree) {
  for (Index dimension = 1; dimension <= 8; ++dimension) {
    const Nodes nodes = make_nodes(NodeRule::kCubature3, dimension);
    expect_weights(nodes);
    EXPECT_EQ(nodes.count(), 2 * dimension);
    EXPECT_LT(worst_error(nodes, 3), 1e-12) << "dimension " << dimension;
    if (dimension != 3) {  // there a fourth power happens to be right
      EXPECT_GT(worst_error(nodes, 4), 0.1) << "dimension " << dimension;
    }
  }
}

TEST(Cubature, OfDegreeFive) {
  for (Index dimension = 1; dimension <= 4; ++dimension) {
    const Nodes nodes = make_nodes(NodeRule::kCubature5, dimension);
    expect_weights(nodes);
    EXPECT_LT(worst_error(nodes, 5), 1e-12) << "dimension " << dimension;
    EXPECT_GT(worst_error(nodes, 6), 0.1) << "dimension " << dimension;
  }
}

TEST(QuasiMonteCarlo, IsExactToDegreeThreeAndDeterministicBySeed) {
  for (const Index dimension : {1, 3, 6}) {
    const Nodes nodes = make_nodes(NodeRule::kQuasiMonteCarlo, dimension, 64, 5);
    expect_weights(nodes);
    EXPECT_EQ(nodes.count(), 64);
    EXPECT_LT(worst_error(nodes, 3), 1e-12) << "dimension " << dimension;  // odd degrees by symmetry
    EXPECT_EQ(nodes.xi, make_nodes(NodeRule::kQuasiMonteCarlo, dimension, 64, 5).xi);
    EXPECT_NE(nodes.xi, make_nodes(NodeRule::kQuasiMonteCarlo, dimension, 64, 6).xi);
  }
}

TEST(QuasiMonteCarlo, ConvergesOnASmoothFunction) {
  const Nodes nodes = make_nodes(NodeRule::kQuasiMonteCarlo, 2, 4096, 1);
  const Vector f = (nodes.xi.col(0) + 0.5 * nodes.xi.col(1)).array().cos();
  EXPECT_NEAR(nodes.w.dot(f), std::exp(-0.5 * 1.25), 5e-3);
}

TEST(Samples, AreDrawnBySeedAndStep) {
  const Nodes nodes = make_nodes(NodeRule::kSamples, 2, 500, 3, 4);
  expect_weights(nodes);
  EXPECT_EQ(nodes.xi, make_nodes(NodeRule::kSamples, 2, 500, 3, 4).xi);
  EXPECT_NE(nodes.xi, make_nodes(NodeRule::kSamples, 2, 500, 3, 5).xi);
  EXPECT_NE(nodes.xi, make_nodes(NodeRule::kSamples, 2, 500, 2, 4).xi);
  EXPECT_LT(worst_error(nodes, 2), 0.3);
  EXPECT_EQ(make_nodes(NodeRule::kSamples, 2).count(), 50);
}

TEST(AutomaticRule, TakesTheRuleThatTheDimensionAllows) {
  const std::vector<Index> counts{7, 9, 19, 25, 10, 12};
  for (Index dimension = 1; dimension <= 6; ++dimension) {
    const Nodes nodes = make_nodes(NodeRule::kAuto, dimension);
    expect_weights(nodes);
    EXPECT_EQ(nodes.count(), counts[static_cast<std::size_t>(dimension - 1)]) << "dimension " << dimension;
  }
}

TEST(NodeRules, ThatMakeNoSenseAreErrors) {
  const std::string negative = message_of<InputError>([] { make_nodes(NodeRule::kCubature5, 5); });
  EXPECT_NE(negative.find("negative weights in 5 dimensions"), std::string::npos) << negative;
  const std::string tensor = message_of<InputError>([] { make_nodes(NodeRule::kGaussHermite, 5, 10); });
  EXPECT_NE(tensor.find("100000 nodes"), std::string::npos) << tensor;
}

TEST(NodeRules, NamesRoundTripAndUnknownOnesAreListed) {
  for (const NodeRule rule : {NodeRule::kAuto, NodeRule::kGaussHermite, NodeRule::kCubature3, NodeRule::kCubature5,
                              NodeRule::kQuasiMonteCarlo, NodeRule::kSamples}) {
    EXPECT_EQ(node_rule_from_name(name(rule)), rule);
  }
  const std::string message = message_of<InputError>([] { node_rule_from_name("sobol"); });
  EXPECT_NE(message.find("'sobol'"), std::string::npos);
  EXPECT_NE(message.find("cubature5, qmc or samples"), std::string::npos);
}

TEST(RefinedNodes, BeginWithTheAutomaticRuleAndErrLess) {
  for (Index dimension = 1; dimension <= 4; ++dimension) {
    Nodes nodes;
    ASSERT_TRUE(refined_nodes(dimension, 0, nodes));
    EXPECT_EQ(nodes.xi, make_nodes(NodeRule::kAuto, dimension).xi);
    double last = 1.0;
    for (int level = 0; refined_nodes(dimension, level, nodes); ++level) {
      expect_weights(nodes);
      // E cos(sum 1.5 x_d / sqrt(D)), a wave that coarse rules miss.
      const Vector phase = nodes.xi.rowwise().sum() * 1.5 / std::sqrt(static_cast<double>(dimension));
      const double error = std::abs(nodes.w.dot(Vector(phase.array().cos())) - std::exp(-0.5 * 1.5 * 1.5));
      if (dimension < 3 || level != 1) {  // from a rule of degree 5 to a tensor of degree 5: not comparable
        EXPECT_LT(error, last) << "dimension " << dimension << ", level " << level;
      }
      last = std::max(error, 1e-12);
    }
  }
}

TEST(RefinedNodes, EndWhereTheyCostTooMuch) {
  Nodes nodes;
  EXPECT_TRUE(refined_nodes(1, 3, nodes));
  EXPECT_FALSE(refined_nodes(1, 4, nodes));
  EXPECT_TRUE(refined_nodes(3, 2, nodes));
  EXPECT_FALSE(refined_nodes(3, 3, nodes));
  EXPECT_FALSE(refined_nodes(6, 1, nodes));
}

}  // namespace
}  // namespace gpilot::gp
