#include "gpilot/core/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace gpilot {

RandomStream::RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t trial, std::uint32_t step)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, step, trial, static_cast<std::uint32_t>(purpose)},
      buffer_{} {}

std::uint32_t RandomStream::bits() {
  if (used_ == 4) {
    const r123::Philox4x32 philox;
    const auto block = philox({{counter_[0], counter_[1], counter_[2], counter_[3]}}, {{key_[0], key_[1]}});
    for (int i = 0; i < 4; ++i) {
      buffer_[i] = block[static_cast<std::size_t>(i)];
    }
    ++counter_[0];
    used_ = 0;
  }
  return buffer_[used_++];
}

double RandomStream::uniform() {
  const std::uint64_t high = bits() >> 6;  // 26 bits
  const std::uint64_t low = bits() >> 6;   // 26 bits
  return (static_cast<double>((high << 26) | low) + 0.5) * 0x1p-52;
}

double RandomStream::uniform(double low, double high) {
  return low + (high - low) * uniform();
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  // Box-Muller: two normals from two uniforms.
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

Index RandomStream::index(Index count) {
  return static_cast<Index>(uniform() * static_cast<double>(count));
}

Vector RandomStream::normal_vector(Index size) {
  Vector v(size);
  for (Index i = 0; i < size; ++i) {
    v(i) = normal();
  }
  return v;
}

Matrix RandomStream::normal_matrix(Index rows, Index cols) {
  Matrix m(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) {
      m(i, j) = normal();
    }
  }
  return m;
}

}  // namespace gpilot
