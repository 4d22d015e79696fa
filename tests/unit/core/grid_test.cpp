#include "gpilot/core/grid.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "gpilot/core/error.hpp"
#include "support/message_of.hpp"

namespace gpilot {
namespace {

using test::message_of;

TEST(RegularGrid, HoldsAllCombinationsAndTheCorners) {
  const Box box{Vector{{-1.0, 2.0}}, Vector{{1.0, 3.0}}};
  const Matrix grid = regular_grid(box, std::vector<Index>{3, 2});
  Matrix expected(6, 2);
  expected << -1, 2, -1, 3, 0, 2, 0, 3, 1, 2, 1, 3;
  EXPECT_EQ(grid, expected);
}

TEST(RegularGrid, HitsRoundNumbers) {
  const Matrix grid = regular_grid({Vector{{-0.5}}, Vector{{0.5}}}, std::vector<Index>{11});
  EXPECT_EQ(grid(3, 0), -0.2);
  EXPECT_EQ(grid(5, 0), 0.0);
  EXPECT_EQ(grid(10, 0), 0.5);
}

TEST(RegularGrid, AnIntervalWithoutWidthIsOnePoint) {
  const Box box{Vector{{0.5, 0.0}}, Vector{{0.5, 1.0}}};
  Matrix expected(3, 2);
  expected << 0.5, 0.0, 0.5, 0.5, 0.5, 1.0;
  EXPECT_EQ(regular_grid(box, std::vector<Index>{7, 3}), expected);
  EXPECT_EQ(regular_grid(box, std::vector<Index>{7, 1}), expected.topRows(1));
}

TEST(RegularGrid, WrongPointsAreNamed) {
  const Box box{Vector{{0.0}}, Vector{{1.0}}};
  EXPECT_EQ(message_of<InputError>([&] { regular_grid(box, std::vector<Index>{0}); }),
            "grid: points [0], expected a number of at least 1 for each of 1 dimension(s)");
  EXPECT_EQ(message_of<InputError>([&] {
              regular_grid(box, std::vector<Index>{2, 2});
            }),
            "grid: points [2, 2], expected a number of at least 1 for each of 1 dimension(s)");
}

}  // namespace
}  // namespace gpilot
