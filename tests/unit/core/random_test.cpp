#include "gpilot/core/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace gpilot {
namespace {

TEST(RandomStream, SameKeySameNumbers) {
  RandomStream a(7, Purpose::kTest, 2, 3);
  RandomStream b(7, Purpose::kTest, 2, 3);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(a.bits(), b.bits());
  }
}

TEST(RandomStream, EveryPartOfTheKeyMatters) {
  std::set<std::uint32_t> first;
  first.insert(RandomStream(7, Purpose::kTest).bits());
  first.insert(RandomStream(8, Purpose::kTest).bits());
  first.insert(RandomStream(7 + (1ULL << 32), Purpose::kTest).bits());
  first.insert(RandomStream(7, Purpose::kNodes).bits());
  first.insert(RandomStream(7, Purpose::kTest, 1).bits());
  first.insert(RandomStream(7, Purpose::kTest, 0, 1).bits());
  EXPECT_EQ(first.size(), 6u);
}

// Random123's known answers for Philox 4x32-10: the key is the seed, the counter {block, step, trial, purpose}.
TEST(RandomStream, IsPhilox) {
  RandomStream stream(0, static_cast<Purpose>(0));
  EXPECT_EQ(stream.bits(), 0x6627e8d5u);
  EXPECT_EQ(stream.bits(), 0xe169c58du);
  EXPECT_EQ(stream.bits(), 0xbc57ac4cu);
  EXPECT_EQ(stream.bits(), 0x9b00dbd8u);
}

TEST(RandomStream, UniformStaysInsideItsInterval) {
  RandomStream stream(1, Purpose::kTest);
  double sum = 0.0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = stream.uniform(-2.0, 3.0);
    ASSERT_GT(u, -2.0);
    ASSERT_LT(u, 3.0);
    sum += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 4.0 * 5.0 / std::sqrt(12.0 * kDraws));
}

TEST(RandomStream, NormalHasTheMomentsOfANormal) {
  constexpr Index kDraws = 20000;
  const Vector z = RandomStream(2, Purpose::kTest).normal_vector(kDraws);
  const double n = static_cast<double>(kDraws);
  EXPECT_NEAR(z.mean(), 0.0, 4.0 / std::sqrt(n));
  EXPECT_NEAR(z.array().square().mean(), 1.0, 4.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(z.array().pow(4).mean(), 3.0, 4.0 * std::sqrt(96.0 / n));
}

TEST(RandomStream, IndexReachesEveryValueAndNoOther) {
  RandomStream stream(3, Purpose::kTest);
  std::set<Index> seen;
  for (int i = 0; i < 200; ++i) {
    seen.insert(stream.index(5));
  }
  EXPECT_EQ(seen, (std::set<Index>{0, 1, 2, 3, 4}));
  EXPECT_EQ(stream.index(1), 0);
}

TEST(RandomStream, MatrixIsFilledByColumns) {
  const Matrix m = RandomStream(4, Purpose::kTest).normal_matrix(3, 2);
  const Vector v = RandomStream(4, Purpose::kTest).normal_vector(6);
  EXPECT_EQ(m.reshaped(), v);
}

}  // namespace
}  // namespace gpilot
