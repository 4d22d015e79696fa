#include "gpilot/core/suggest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gpilot {
namespace {

TEST(Suggest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "ab"), 2u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("kink", "kink"), 0u);
}

TEST(Suggest, NearestName) {
  const std::vector<std::string> names = {"kink", "pendulum", "cart-pole", "tras"};
  EXPECT_EQ(nearest_name("pendulm", names), "pendulum");
  EXPECT_EQ(nearest_name("cartpole", names), "cart-pole");
  EXPECT_EQ(nearest_name("TRAS", names), "tras");
  EXPECT_EQ(nearest_name("helicopter", names), "");
  EXPECT_EQ(nearest_name("", names), "");
}

TEST(Suggest, MessageListsTheNames) {
  const std::vector<std::string> names = {"random", "extremes"};
  EXPECT_EQ(unknown_name_message("kind", "ranodm", names),
            "unknown kind 'ranodm', did you mean 'random'? (known: random, extremes)");
  EXPECT_EQ(unknown_name_message("kind", "zzzzzz", names), "unknown kind 'zzzzzz' (known: random, extremes)");
}

}  // namespace
}  // namespace gpilot
