#pragma once

#include <array>
#include <string_view>

namespace gpilot::kernels {

/// Stationary kernels k(x, z) = sigma^2 phi(r^2), r^2 = sum_i (x_i - z_i)^2 / l_i^2 (automatic relevance
/// determination).
enum class Kind { kSquaredExponential, kMatern12, kMatern32, kMatern52 };

inline constexpr std::array<Kind, 4> kKinds{Kind::kSquaredExponential, Kind::kMatern12, Kind::kMatern32,
                                            Kind::kMatern52};

/// "se", "matern12", "matern32", "matern52".
std::string_view name(Kind kind);
/// Throws InputError listing the valid names.
Kind kind_from_name(std::string_view text);

}  // namespace gpilot::kernels
