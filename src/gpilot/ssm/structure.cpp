#include "gpilot/ssm/structure.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/physics_mean.hpp"

namespace gpilot::ssm {

std::vector<Index> Structure::mean_rows() const {
  std::vector<Index> rows;
  for (Index d = 0; d < states; ++d) {
    const bool kinematic =
        std::any_of(kinematics.begin(), kinematics.end(), [d](const Kinematics& k) { return k.position == d; });
    const bool shifted = std::any_of(shifts.begin(), shifts.end(), [d](const Shift& k) { return k.state == d; });
    if (!kinematic && !shifted) {
      rows.push_back(d);
    }
  }
  return rows;
}

std::vector<Index> Structure::gp_rows() const {
  std::vector<Index> rows = mean_rows();
  std::erase_if(rows,
                [&](Index d) { return std::find(linear_rows.begin(), linear_rows.end(), d) != linear_rows.end(); });
  return rows;
}

const kernels::Form& Structure::form(Index g) const {
  static const kernels::Form kNothingKnown;
  return forms.empty() ? kNothingKnown : forms[static_cast<std::size_t>(g)];
}

bool Structure::uses(Index input) const {
  return forms.empty() || std::any_of(forms.begin(), forms.end(), [input](const kernels::Form& form) {
           return std::find(form.excluded.begin(), form.excluded.end(), input) == form.excluded.end();
         });
}

Matrix Structure::left() const {
  Matrix L = Matrix::Identity(states, states);
  for (const Kinematics& k : kinematics) {
    L(k.position, k.velocity) = -k.half_step;
  }
  return L;
}

Matrix Structure::right() const {
  Matrix J = Matrix::Zero(states, states);
  for (const Kinematics& k : kinematics) {
    J(k.position, k.position) = 1.0;
    J(k.position, k.velocity) = k.half_step;
  }
  for (const Shift& k : shifts) {
    J(k.state, k.source) = 1.0;
  }
  return J;
}

namespace {

/// Shift rows are the last states, one each, and copy a state that is there; linear rows are rows with a mean function.
void check_shifts(const Structure& s) {
  for (std::size_t k = 0; k < s.shifts.size(); ++k) {
    const Shift& shift = s.shifts[k];
    const Index expected = s.stochastic() + static_cast<Index>(k);
    if (shift.state != expected || shift.source < 0 || shift.source >= s.states) {
      throw InputError(fmt::format("shift {} copies state {} into state {}: expected one of {} states into state {}", k,
                                   shift.source, shift.state, s.states, expected));
    }
  }
  for (const Kinematics& k : s.kinematics) {
    if (k.position >= s.stochastic()) {
      throw InputError(fmt::format("state {} is both shifted and declared an integral", k.position));
    }
  }
  const std::vector<Index> rows = s.mean_rows();
  for (const Index d : s.linear_rows) {
    if (std::count(rows.begin(), rows.end(), d) != 1 ||
        std::count(s.linear_rows.begin(), s.linear_rows.end(), d) != 1) {
      throw InputError(
          fmt::format("linear row {}: expected each a state that is neither an integral nor shifted, once", d));
    }
  }
}

/// An angle moves by an increment that is the same after a full turn: with the mean function zero it could not count
/// turns, and nothing but kernels may depend on it.
void check_angles(const Structure& s) {
  Index last = -1;
  for (const kernels::Angle& angle : s.angles) {
    const Index d = angle.input;
    if (d <= last || d >= s.stochastic() || !(angle.omega > 0.0) || !std::isfinite(angle.omega)) {
      throw InputError(fmt::format(
          "angle: state {} with {} radians a unit: expected states from 0 to {} in order, and a positive number", d,
          angle.omega, s.stochastic() - 1));
    }
    last = d;
    if (s.mean != MeanKind::kIdentity) {
      throw InputError(
          fmt::format("state {} is an angle: with the mean function {} the dynamics would not be the same after a full "
                      "turn; expected identity",
                      d, name(s.mean)));
    }
    for (const Kinematics& k : s.kinematics) {
      if (k.velocity == d) {
        throw InputError(
            fmt::format("state {} is an angle and declared the derivative of state {}: expected one", d, k.position));
      }
    }
    for (const Shift& shift : s.shifts) {
      if (shift.source == d) {
        throw InputError(
            fmt::format("state {} is an angle, and state {} a copy of it: expected no copy", d, shift.state));
      }
    }
  }
}

/// Forms are one a GP row; known weights belong to rows with a mean function.
void check_knowledge(const Structure& s) {
  const std::vector<Index> rows = s.mean_rows();
  const std::vector<Index> gp_rows = s.gp_rows();
  if (!s.forms.empty() && s.forms.size() != gp_rows.size()) {
    throw InputError(fmt::format("{} forms of functions, expected {}", s.forms.size(), gp_rows.size()));
  }
  for (const kernels::Form& form : s.forms) {
    const auto is_input = [&](Index i) { return i >= 0 && i < s.inputs(); };
    const auto is_control = [&](Index i) { return i >= s.states && i < s.inputs(); };
    if (!std::all_of(form.excluded.begin(), form.excluded.end(), is_input) ||
        !std::all_of(form.affine.begin(), form.affine.end(), is_control)) {
      throw InputError(
          "forms of functions: expected excluded inputs that are there, and affine ones that are controls");
    }
    if (form.odd && s.mean != MeanKind::kIdentity) {
      throw InputError(fmt::format("an odd function needs the mean function identity, not {}", name(s.mean)));
    }
  }
  for (const KnownWeight& w : s.known_weights) {
    if (std::count(rows.begin(), rows.end(), w.state) != 1 || w.input < 0 || w.input > s.inputs() ||
        !std::isfinite(w.value)) {
      throw InputError(fmt::format("known weight {} of input {} in state {}: expected a state with a mean function",
                                   w.value, w.input, w.state));
    }
  }
  for (const Index d : s.physics ? s.physics->rows() : std::vector<Index>{}) {
    if (std::count(gp_rows.begin(), gp_rows.end(), d) != 1) {
      throw InputError(fmt::format("physics of state {}: expected a state with a function of its own", d));
    }
  }
}

}  // namespace

void Structure::validate() const {
  if (states < 1 || states > kMaxStates) {
    throw InputError(fmt::format("{} states: expected 1 to {}", states, kMaxStates));
  }
  if (outputs < 1) {
    throw InputError("a model needs at least one output");
  }
  if (x0_mean.size() != states || x0_sd.size() != states) {
    throw InputError(fmt::format("x0 has {} means and {} standard deviations: expected {} of each (one a state)",
                                 x0_mean.size(), x0_sd.size(), states));
  }
  if (!x0_mean.allFinite() || !(x0_sd.array() > 0.0).all() || !x0_sd.allFinite()) {
    throw InputError("x0 needs finite means and positive standard deviations");
  }
  check_shifts(*this);
  check_angles(*this);
  check_knowledge(*this);
  std::vector<bool> used(static_cast<std::size_t>(states), false);
  for (const Kinematics& k : kinematics) {
    if (k.position < 0 || k.position >= states || k.velocity < 0 || k.velocity >= states || k.position == k.velocity) {
      throw InputError(
          fmt::format("a state cannot be declared the derivative of itself or of a state that is not there "
                      "(position {}, velocity {}, {} states)",
                      k.position, k.velocity, states));
    }
    if (used[static_cast<std::size_t>(k.position)]) {
      throw InputError(fmt::format("state {} is declared to have two derivatives", k.position));
    }
    used[static_cast<std::size_t>(k.position)] = true;
  }
  if (std::abs(left().determinant() - 1.0) > 1e-9) {
    throw InputError("states are declared derivatives of each other in a circle");
  }
  if (mean_rows().empty()) {
    throw InputError("every state is declared the integral of another: nothing is left to learn");
  }
}

void Parameters::set_zero() {
  log_variance.setZero();
  log_length_scales.setZero();
  log_linear_sd.setZero();
  mean_weights.setZero();
  Z.setZero();
  log_q.setZero();
  log_r.setZero();
  C.setZero();
  d.setZero();
  physics.setZero();
}

StartPrior start_prior(const Structure& s, bool broad) {
  if (!broad) {
    return {s.x0_mean, s.x0_sd};
  }
  return {Vector::Zero(s.states), s.x0_sd.cwiseMax(kBroadStartSd)};
}

Parameters default_parameters(const Structure& s) {
  const auto G = static_cast<Index>(s.gp_rows().size());
  const std::vector<Index> rows = s.mean_rows();
  const auto W = static_cast<Index>(rows.size());
  const Index I = s.inputs();
  Parameters p;
  p.log_variance = Vector::Zero(G);
  p.log_length_scales = Matrix::Constant(I, G, std::log(3.0));
  p.log_linear_sd = Matrix::Constant(s.linear_kernel ? I + 1 : 0, G, std::log(0.5));
  p.mean_weights = Matrix::Zero(I + 1, W);
  if (s.mean != MeanKind::kZero) {
    for (Index g = 0; g < W; ++g) {
      p.mean_weights(rows[static_cast<std::size_t>(g)], g) = 1.0;
    }
  }
  for (const KnownWeight& w : s.known_weights) {
    p.mean_weights(w.input, std::find(rows.begin(), rows.end(), w.state) - rows.begin()) = w.value;
  }
  p.Z = Matrix::Zero(s.inducing, I);
  p.log_q = Vector::Constant(s.states, std::log(0.01));
  p.log_q.tail(s.states - s.stochastic()).setConstant(kShiftLogVariance);
  p.log_r = Vector::Constant(s.outputs, std::log(0.01));
  p.C = Matrix::Identity(s.outputs, s.states);
  p.d = Vector::Zero(s.outputs);
  p.physics = s.physics ? s.physics->start() : Vector();
  return p;
}

namespace {

/// What is no parameter of a structure: hyperparameters of inputs that a function does not depend on, the linear part
/// that an odd function cannot have, coordinates of inducing points that no function sees, known weights.
void leave_out_unused(const Structure& s, Free& free) {
  const Index I = s.inputs();
  const auto G = static_cast<Index>(s.gp_rows().size());
  Matrix length_scales = Matrix::Ones(I, G);
  Matrix linear_sds = Matrix::Ones(I + 1, G);
  Matrix Z_entries = Matrix::Ones(s.inducing, I);
  for (Index g = 0; g < G; ++g) {
    for (const Index i : s.form(g).excluded) {
      length_scales(i, g) = 0.0;
      linear_sds(i, g) = 0.0;
    }
    linear_sds(I, g) = s.form(g).odd ? 0.0 : 1.0;
  }
  for (Index i = 0; i < I; ++i) {
    if (!s.uses(i)) {
      Z_entries.col(i).setZero();
    }
  }
  free.length_scales = length_scales.reshaped();
  free.Z_entries = Z_entries.reshaped();
  if (s.linear_kernel) {
    free.linear_sds = linear_sds.reshaped();
  }
}

/// The mean function, too, depends on what its row's function does alone, and known weights are known.
void leave_out_known_weights(const Structure& s, Free& free) {
  const std::vector<Index> rows = s.mean_rows();
  const std::vector<Index> gp_rows = s.gp_rows();
  Matrix weights = Matrix::Ones(s.inputs() + 1, static_cast<Index>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto found = std::find(gp_rows.begin(), gp_rows.end(), rows[k]);
    if (found != gp_rows.end()) {
      for (const Index i : s.form(found - gp_rows.begin()).excluded) {
        weights(i, static_cast<Index>(k)) = 0.0;
      }
    }
  }
  for (const KnownWeight& w : s.known_weights) {
    if (w.input < s.inputs()) {
      weights(w.input, std::find(rows.begin(), rows.end(), w.state) - rows.begin()) = 0.0;
    }
  }
  free.mean_weights = weights.reshaped();
}

}  // namespace

Free Free::defaults(const Structure& s) {
  Free free;
  free.linear_sd = s.linear_kernel;
  free.kernel = s.inducing > 0;
  free.inducing = s.inducing > 0;
  free.mean = s.mean == MeanKind::kLinear;
  free.q = Vector::Ones(s.states);
  free.q.tail(s.states - s.stochastic()).setZero();
  free.r = Vector::Ones(s.outputs);
  if (!s.forms.empty()) {
    leave_out_unused(s, free);
  }
  if (!s.forms.empty() || !s.known_weights.empty()) {
    leave_out_known_weights(s, free);
  }
  return free;
}

namespace {

/// The one place that knows the order of the flat vector: calls visit(matrix, mask) for every block that is free; mask
/// is null when the whole block is.
template <typename ParametersType, typename Visitor>
void for_each_free_block(ParametersType& p, const Free& free, Visitor&& visit) {
  const auto some = [&](bool is_free, auto& block, const Vector& mask) {
    if (is_free) {
      visit(block, mask.size() > 0 ? &mask : nullptr);
    }
  };
  const auto all = [&](bool is_free, auto& block) { some(is_free, block, Vector()); };
  all(free.kernel, p.log_variance);
  some(free.kernel, p.log_length_scales, free.length_scales);
  some(free.linear_sd, p.log_linear_sd, free.linear_sds);
  some(free.mean, p.mean_weights, free.mean_weights);
  some(free.inducing, p.Z, free.Z_entries);
  visit(p.log_q, &free.q);
  visit(p.log_r, &free.r);
  all(free.C, p.C);
  all(free.d, p.d);
  all(free.physics, p.physics);
}

bool is_free(const Vector* mask, Index i) {
  return mask == nullptr || (*mask)(i) != 0.0;
}

}  // namespace

Index free_count(const Parameters& p, const Free& free) {
  Index count = 0;
  for_each_free_block(p, free, [&](const auto& block, const Vector* mask) {
    for (Index i = 0; i < block.size(); ++i) {
      count += is_free(mask, i) ? 1 : 0;
    }
  });
  return count;
}

void pack(const Parameters& p, const Free& free, Eigen::Ref<Vector> flat) {
  Index k = 0;
  for_each_free_block(p, free, [&](const auto& block, const Vector* mask) {
    for (Index i = 0; i < block.size(); ++i) {
      if (is_free(mask, i)) {
        flat(k++) = block.data()[i];
      }
    }
  });
}

void unpack(VectorRef flat, const Free& free, Parameters& p) {
  Index k = 0;
  for_each_free_block(p, free, [&](auto& block, const Vector* mask) {
    for (Index i = 0; i < block.size(); ++i) {
      if (is_free(mask, i)) {
        block.data()[i] = flat(k++);
      }
    }
  });
}

}  // namespace gpilot::ssm
