#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/kernels/angles.hpp"
#include "gpilot/kernels/form.hpp"
#include "gpilot/kernels/stationary.hpp"
#include "gpilot/ssm/spec.hpp"

/// The Gaussian process state-space model, in scaled units.
///
///   L x_{t+1} = J x_t + W (x_t, c_t, 1) + m(x_t, c_t) + f(x_t, c_t) + N(0, Q)      y_t = C x_t + d + N(0, R)
///
/// m is what declared physics adds (ssm/physics_mean.hpp), 0 where there is none.
/// Rows of L, J: a *GP row* d has L_d = e_d, J_d = 0 and a function f_d ~ GP(0, k_d) on top of its mean function W_d.
/// A *kinematic row* declares state p the integral of state v: p' - h v' = p + h v with h = dt/2, the trapezoidal rule;
/// it has neither mean function nor GP. L is unit triangular up to a permutation, so |L| = 1. A *linear row* has a mean
/// function but no GP. A *shift row* copies a state of the row before, x_d' = x_s, exactly: no noise, no GP, no KL;
/// with s = d it is a constant of its sequence. Shift rows stand after all others. A state may be an angle: kernels
/// then see it as a point of a circle (kernels/angles.hpp), while the state itself counts turns. D states, P controls,
/// E outputs, I = D + P inputs, G GP rows, M inducing points.
namespace gpilot::ssm {

inline constexpr Index kMaxStates = 16;
/// Standard deviation of a first state that may be anywhere. Scaled units: three times the range or spread of the data.
inline constexpr double kBroadStartSd = 3.0;

/// State `position` is the integral of state `velocity`.
struct Kinematics {
  Index position = 0;
  Index velocity = 0;
  double half_step = 0.5;  ///< dt/2, times the ratio of the two states' scales

  bool operator==(const Kinematics&) const = default;
};

/// State `state` is what state `source` was one row earlier.
struct Shift {
  Index state = 0;
  Index source = 0;

  bool operator==(const Shift&) const = default;
};

/// log_q of a shift row. The bound and predictions take its noise as 0; smoothing in information form needs a number.
inline constexpr double kShiftLogVariance = -18.5;

/// A weight of the mean function of `state` that is known: of an input, or of the constant (input I).
struct KnownWeight {
  Index state = 0;
  Index input = 0;
  double value = 0.0;

  bool operator==(const KnownWeight&) const = default;
};

class PhysicsMean;

/// The shape of a model: everything about it that is not learned.
struct Structure {
  Index states = 1;    ///< D
  Index controls = 0;  ///< P
  Index outputs = 1;   ///< E
  Index inducing = 0;  ///< M; 0 switches the stationary kernel off
  kernels::Kind kernel = kernels::Kind::kSquaredExponential;
  bool linear_kernel = true;
  MeanKind mean = MeanKind::kIdentity;
  std::vector<Kinematics> kinematics;
  std::vector<Shift> shifts;                             ///< the last states, in their order
  std::vector<Index> linear_rows;                        ///< states with a mean function and no Gaussian process
  kernels::Angles angles;                                ///< states that are angles, in order
  Vector x0_mean;                                        ///< [D]
  Vector x0_sd;                                          ///< [D], positive
  std::vector<kernels::Form> forms = {};                 ///< [G] what is known of each function; empty: nothing
  std::vector<KnownWeight> known_weights = {};           ///< of the mean function
  std::shared_ptr<const PhysicsMean> physics = nullptr;  ///< null: none

  Index inputs() const { return states + controls; }
  /// I_e: columns of the embedding of the inputs, one more for each angle.
  Index embedded_inputs() const { return inputs() + static_cast<Index>(angles.size()); }
  Index features() const { return inducing + (linear_kernel ? embedded_inputs() + 1 : 0); }
  /// States that are not shifted: rows with noise.
  Index stochastic() const { return states - static_cast<Index>(shifts.size()); }
  /// What is known of the function of GP row g.
  const kernels::Form& form(Index g) const;
  /// Whether the function of some row depends on an input.
  bool uses(Index input) const;
  /// The states that have a Gaussian process, in order.
  std::vector<Index> gp_rows() const;
  /// The states that have a mean function, in order: those with a Gaussian process and the linear rows.
  std::vector<Index> mean_rows() const;
  Matrix left() const;   ///< L [D x D]
  Matrix right() const;  ///< J [D x D]
  /// Throws InputError for shapes that make no sense.
  void validate() const;
};

/// The independent Gaussian prior of a sequence's first state.
struct StartPrior {
  Vector mean, sd;  ///< [D]
};

/// The declared p(x_0), or the broad one of a sequence that may begin anywhere.
StartPrior start_prior(const Structure& structure, bool broad);

/// What is learned (and, with the same shape, a gradient in it).
struct Parameters {
  Vector log_variance;       ///< [G] kernel variances
  Matrix log_length_scales;  ///< [I x G]
  Matrix log_linear_sd;      ///< [I + 1 x G], or [0 x G] without a linear kernel
  Matrix mean_weights;       ///< W^T [I + 1 x mean rows]
  Matrix Z;                  ///< [M x I]
  Vector log_q;              ///< [D] process variances
  Vector log_r;              ///< [E] output variances
  Matrix C;                  ///< [E x D]
  Vector d;                  ///< [E]
  Vector physics;            ///< [parameters of the physics], as PhysicsMean takes them

  void set_zero();
};

/// Sensible values in scaled units: unit variance, length scales of 3, the declared mean function, C = [I 0].
Parameters default_parameters(const Structure& structure);

/// Which parameters an optimiser may move.
struct Free {
  bool kernel = true;
  bool linear_sd = true;
  bool mean = false;  ///< only with MeanKind::kLinear
  bool inducing = true;
  Vector q;  ///< [D] 1 = free, 0 = fixed
  Vector r;  ///< [E]
  bool C = false;
  bool d = false;
  bool physics = true;
  /// 1 = free, 0 = not a parameter of this structure, in the order of the block; empty: all of it.
  Vector length_scales = {}, linear_sds = {}, mean_weights = {}, Z_entries = {};

  static Free defaults(const Structure& structure);
};

/// Flat vector of the free parameters, in one fixed order.
Index free_count(const Parameters& p, const Free& free);
void pack(const Parameters& p, const Free& free, Eigen::Ref<Vector> flat);
void unpack(VectorRef flat, const Free& free, Parameters& p);

}  // namespace gpilot::ssm
