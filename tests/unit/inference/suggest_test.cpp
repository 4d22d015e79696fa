#include "gpilot/inference/suggest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "gpilot/core/random.hpp"
#include "gpilot/ssm/knowledge.hpp"

namespace gpilot::inference {
namespace {

/// A cart under a force that pushes harder than it pulls: nothing depends on where it stands, and neither is its
/// acceleration odd nor affine in the force.
ssm::Dataset cart_data(Index rows) {
  RandomStream random(4, Purpose::kTest);
  ssm::Sequence s{Matrix::Zero(rows, 1), Matrix::Zero(rows, 1)};
  double p = 0.0;
  double v = 0.0;
  for (Index t = 0; t < rows; ++t) {
    s.outputs(t, 0) = p + 0.01 * random.normal();
    s.controls(t, 0) = random.uniform(-1.0, 1.0);
    const double u = s.controls(t, 0);
    const double before = v;
    v += 0.5 * (u + 0.8 * u * u - 0.25 - 0.6 * v) + 0.005 * random.normal();
    p += 0.25 * (before + v);
  }
  return {s};
}

ssm::ModelSpec cart() {
  ssm::ModelSpec spec;
  spec.inputs = {"u"};
  spec.outputs = {"y"};
  spec.states = {"p", "v"};
  spec.dt = 0.5;
  spec.C = Matrix{{1.0, 0.0}};
  spec.derivatives = {{1, 0}};
  spec.inducing = 10;
  return spec;
}

TEST(Suggest, FindsWhatIsTrueAndNothingElse) {
  FitOptions options;
  options.rounds = 4;
  options.polish = 30;
  options.noise_path = 1;
  int tries = 0;
  double done = -1.0;
  const std::vector<Suggestion> all = suggest(cart_data(60), cart(), options, [&](const std::string&, double share) {
    ++tries;
    EXPECT_GT(share, done);
    done = share;
  });
  const auto of = [&](const std::string& option) {
    const auto found = std::ranges::find(all, option, &Suggestion::option);
    EXPECT_NE(found, all.end()) << option;
    return *found;
  };
  for (const Suggestion& s : all) {
    SCOPED_TRACE(s.what + ", " + std::string(name(s.verdict())));
    EXPECT_GE(s.runs, 6);
    // Tried one at a time, on top of what was declared.
    EXPECT_EQ(ssm::describe_knowledge(s.spec).size(), 1u);
    s.spec.validate();
    if (s.option != "--cyclic p" && s.option != "--depends-on v=v,u") {
      EXPECT_NE(s.verdict(), Suggestion::Verdict::kSupported);
    }
  }
  EXPECT_EQ(tries, static_cast<int>(all.size()) + 1);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Suggestion::difference));
  EXPECT_EQ(of("--cyclic p").verdict(), Suggestion::Verdict::kSupported);
  EXPECT_EQ(of("--depends-on v=p,v").verdict(), Suggestion::Verdict::kContradicted);
  EXPECT_EQ(of("--odd v").verdict(), Suggestion::Verdict::kContradicted);
  EXPECT_EQ(of("--control-affine v").verdict(), Suggestion::Verdict::kContradicted);
  EXPECT_TRUE(
      std::ranges::none_of(all, [](const Suggestion& s) { return s.option == "--cyclic v" && s.difference < 0.0; }));
}

TEST(Suggest, FewRowsSayNothing) {
  FitOptions options;
  options.rounds = 2;
  options.polish = 5;
  options.noise_path = 0;
  for (const Suggestion& s : suggest(cart_data(8), cart(), options)) {
    EXPECT_EQ(s.verdict(), Suggestion::Verdict::kUnknown) << s.what;
  }
}

}  // namespace
}  // namespace gpilot::inference
