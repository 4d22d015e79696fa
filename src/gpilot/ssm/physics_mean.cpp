#include "gpilot/ssm/physics_mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpilot/core/central_interval.hpp"
#include "gpilot/core/distributions.hpp"
#include "gpilot/core/error.hpp"

namespace gpilot::ssm {

namespace {

using physics::Dual;

/// A log-normal prior within `factor` of its median with 95 %.
double log_sd(double factor) {
  return std::log(factor) / kNormal95;
}

Dual scaled_by(double factor, const Dual& a) {
  return {factor * a.v, factor * a.d};
}

/// A function of one point, at many.
RatesFunction::Rows at_every_point(const std::function<Vector(VectorRef, VectorRef, VectorRef)>& function,
                                   Index states) {
  return [function, states](MatrixRef x, MatrixRef inputs, VectorRef parameters, std::vector<Matrix>* /*slopes*/) {
    Matrix rates(x.rows(), states);
    for (Index n = 0; n < x.rows(); ++n) {
      const Vector at = function(Vector(x.row(n)), Vector(inputs.row(n)), parameters);
      if (at.size() != states) {
        throw InputError(fmt::format("physics: the function gives {} value(s), expected {}", at.size(), states));
      }
      rates.row(n) = at.transpose();
    }
    return rates;
  };
}

}  // namespace

RatesFunction::Rows checked_function(const Physics& physics) {
  const auto states = static_cast<Index>(physics.function_states.size());
  const auto* many = physics.function.target<RatesFunction>();
  if (many == nullptr) {
    return at_every_point(physics.function, states);
  }
  return
      [rates = many->rows, states](MatrixRef x, MatrixRef inputs, VectorRef parameters, std::vector<Matrix>* slopes) {
        Matrix at = rates(x, inputs, parameters, slopes);
        const Index N = x.rows();
        if (at.rows() != N || at.cols() != states) {
          throw InputError(
              fmt::format("physics: the function gives an array of {} x {} values, expected {} x {}: points, "
                          "states",
                          at.rows(), at.cols(), N, states));
        }
        if (slopes == nullptr || slopes->empty()) {
          return at;
        }
        const Index variables = x.cols() + inputs.cols() + parameters.size();
        bool fits = static_cast<Index>(slopes->size()) == states;
        for (const Matrix& slope : *slopes) {
          fits = fits && slope.rows() == N && slope.cols() == variables;
        }
        if (!fits) {
          throw InputError(
              fmt::format("physics: the function's derivatives are not {} arrays of {} x {} values: points, "
                          "variables",
                          states, N, variables));
        }
        return at;
      };
}

PhysicsMean::PhysicsMean(const ModelSpec& spec, const Scaling& scaling)
    : physics_(spec.physics),
      states_(static_cast<Index>(spec.states.size())),
      controls_(static_cast<Index>(spec.inputs.size())),
      dt_(spec.dt),
      offset_(states_ + controls_),
      scale_(states_ + controls_),
      velocity_(spec.states.size(), -1) {
  offset_ << scaling.state_offset, scaling.control_offset;
  scale_ << scaling.state_scale, scaling.control_scale;
  for (const DerivativeOf& k : spec.derivatives) {
    velocity_[static_cast<std::size_t>(k.position)] = k.velocity;
  }
  const std::vector<std::string> names = formula_names(spec);
  const auto state_of = [&](const std::string& name) {
    return std::ranges::find(spec.states, name) - spec.states.begin();
  };
  if (physics_.function) {
    function_ = checked_function(physics_);
    for (const std::string& state : physics_.function_states) {
      rows_.push_back(state_of(state));
    }
  }
  std::vector<physics::Expression> formulas;
  for (const Formula& formula : physics_.formulas) {
    rows_.push_back(state_of(formula.state));
    formulas.emplace_back(formula.text, names);
  }
  formulas_ = physics::Program(formulas);
  for (std::size_t k = 0; k < physics_.parameters.size(); ++k) {
    if (!physics_.parameters[k].known) {
      learned_.push_back(static_cast<Index>(k));
    }
  }
}

const PhysicsParameter& PhysicsMean::parameter(Index k) const {
  return physics_.parameters[static_cast<std::size_t>(learned_[static_cast<std::size_t>(k)])];
}

Vector PhysicsMean::start() const {
  Vector eta = Vector::Zero(parameters());
  for (Index k = 0; k < eta.size(); ++k) {
    if (const PhysicsParameter& p = parameter(k); !std::isnan(p.low)) {
      eta(k) = normal_quantile((p.start - p.low) / (p.high - p.low));
    }
  }
  return eta;
}

double PhysicsMean::natural(Index k, double eta) const {
  const PhysicsParameter& p = parameter(k);
  if (!std::isnan(p.sd)) {
    return p.start + p.sd * eta;
  }
  if (!std::isnan(p.factor)) {
    return p.start * std::exp(log_sd(p.factor) * eta);
  }
  return p.low + (p.high - p.low) * normal_cdf(eta);
}

double PhysicsMean::natural_slope(Index k, double eta) const {
  const PhysicsParameter& p = parameter(k);
  if (!std::isnan(p.sd)) {
    return p.sd;
  }
  if (!std::isnan(p.factor)) {
    return natural(k, eta) * log_sd(p.factor);
  }
  return (p.high - p.low) * normal_density(eta);
}

Matrix PhysicsMean::evaluate(MatrixRef X, VectorRef eta) const {
  return evaluate(X, eta, nullptr, nullptr, false);
}

Matrix PhysicsMean::evaluate(MatrixRef X, VectorRef eta, std::vector<Matrix>& slopes,
                             std::vector<Matrix>& parameter_slopes, bool of_controls) const {
  return evaluate(X, eta, &slopes, &parameter_slopes, of_controls);
}

Matrix PhysicsMean::evaluate(MatrixRef X, VectorRef eta, std::vector<Matrix>* in_inputs, std::vector<Matrix>* in_eta,
                             bool of_controls) const {
  const Index N = X.rows();
  const Index I = states_ + controls_;
  const Index K = I + parameters();
  const bool slopes = in_inputs != nullptr;
  // Values in user units; derivatives in the scaled inputs and in eta.
  Duals values;
  const auto add = [&](Vector value, bool varies, Index variable, double slope) {
    Dual dual{std::move(value), {}};
    if (varies) {
      dual.d = Matrix::Zero(dual.v.size(), K);
      dual.d.col(variable).setConstant(slope);
    }
    values.push_back(std::move(dual));
  };
  for (Index i = 0; i < I; ++i) {
    add(offset_(i) + scale_(i) * X.col(i).array(), slopes && (i < states_ || of_controls), i, scale_(i));
  }
  Index next = 0;
  for (const PhysicsParameter& p : physics_.parameters) {
    if (p.known) {
      values.push_back(Dual::number(p.start));
    } else {
      const double value = natural(next, eta(next));
      add(Vector::Constant(1, value), slopes, I + next, natural_slope(next, eta(next)));
      ++next;
    }
  }
  const Duals after = step(values);
  Matrix m(N, static_cast<Index>(rows_.size()));
  if (slopes) {
    in_inputs->resize(rows_.size());
    in_eta->resize(rows_.size());
  }
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const Index d = rows_[k];
    const Dual change = after[static_cast<std::size_t>(d)] - values[static_cast<std::size_t>(d)];
    m.col(static_cast<Index>(k)) = physics::spread(change.v, N) / scale_(d);
    if (slopes) {
      (*in_inputs)[k] = change.d.leftCols(I) / scale_(d);
      (*in_eta)[k] = change.d.rightCols(parameters()) / scale_(d);
    }
  }
  return m;
}

PhysicsMean::Duals PhysicsMean::function_rates(const Duals& values) const {
  const Index N = values.front().v.size();
  const Index I = states_ + controls_;
  const auto count = static_cast<Index>(values.size());
  const bool wants_slopes = !values.front().constant();
  Matrix x(N, I);
  Vector parameters(count - I);
  for (Index i = 0; i < count; ++i) {
    const Vector& v = values[static_cast<std::size_t>(i)].v;
    if (i < I) {
      x.col(i) = physics::spread(v, N);
    } else {
      parameters(i - I) = v(0);
    }
  }
  std::vector<Matrix> slopes;
  const Matrix rates =
      function_(x.leftCols(states_), x.rightCols(controls_), parameters, wants_slopes ? &slopes : nullptr);
  Duals result;
  for (Index k = 0; k < rates.cols(); ++k) {
    result.push_back({rates.col(k), wants_slopes ? Matrix::Zero(N, values.front().d.cols()) : Matrix()});
  }
  for (Index i = 0; wants_slopes && i < count; ++i) {
    const Dual& value = values[static_cast<std::size_t>(i)];
    if (value.constant()) {
      continue;
    }
    const Matrix differences = slopes.empty() ? function_differences(x, parameters, i) : Matrix();
    for (std::size_t k = 0; k < result.size(); ++k) {
      const Vector slope = slopes.empty() ? Vector(differences.col(static_cast<Index>(k))) : Vector(slopes[k].col(i));
      if (value.d.rows() == 1) {
        result[k].d.noalias() += slope * value.d;
      } else {
        result[k].d.noalias() += slope.asDiagonal() * value.d;
      }
    }
  }
  return result;
}

Matrix PhysicsMean::function_differences(Matrix x, Vector parameters, Index i) const {
  const auto rates = [&] { return function_(x.leftCols(states_), x.rightCols(controls_), parameters, nullptr); };
  const auto step = [](double value) { return 1e-6 * std::max(1.0, std::abs(value)); };  // errs by h^2, rounding by 1/h
  if (i >= x.cols()) {
    double& parameter = parameters(i - x.cols());
    const double middle = parameter;
    const double h = step(middle);
    parameter = middle + h;
    const Matrix above = rates();
    parameter = middle - h;
    return (above - rates()) / (2.0 * h);
  }
  const Vector middle = x.col(i);
  const Vector h = middle.unaryExpr(step);
  x.col(i) = middle + h;
  const Matrix above = rates();
  x.col(i) = middle - h;
  return (above - rates()).array().colwise() / (2.0 * h.array());
}

PhysicsMean::Duals PhysicsMean::rates(const Duals& values) const {
  Duals all;
  for (Index d = 0; d < states_; ++d) {
    const Index velocity = velocity_[static_cast<std::size_t>(d)];
    const bool moves = velocity >= 0 && physics_.integration != Integration::kNext;
    all.push_back(moves ? values[static_cast<std::size_t>(velocity)] : Dual::number(0.0));
  }
  Duals own = function_ ? function_rates(values) : formulas_.evaluate(values);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    all[static_cast<std::size_t>(rows_[k])] = std::move(own[k]);
  }
  return all;
}

PhysicsMean::Duals PhysicsMean::step(const Duals& values) const {
  if (physics_.integration == Integration::kNext) {
    return rates(values);
  }
  const auto D = static_cast<std::size_t>(states_);
  const auto moved = [&](const Duals& rate, double by) {
    Duals result = values;
    for (std::size_t d = 0; d < D; ++d) {
      result[d] = values[d] + scaled_by(by, rate[d]);
    }
    return result;
  };
  const Duals k1 = rates(values);
  Duals sum(D);
  if (physics_.integration == Integration::kTrapezoid) {
    const Duals k2 = rates(moved(k1, dt_));
    for (std::size_t d = 0; d < D; ++d) {
      sum[d] = values[d] + scaled_by(0.5 * dt_, k1[d] + k2[d]);
    }
    return sum;
  }
  const Duals k2 = rates(moved(k1, 0.5 * dt_));
  const Duals k3 = rates(moved(k2, 0.5 * dt_));
  const Duals k4 = rates(moved(k3, dt_));
  for (std::size_t d = 0; d < D; ++d) {
    sum[d] = values[d] + scaled_by(dt_ / 6.0, k1[d] + scaled_by(2.0, k2[d] + k3[d]) + k4[d]);
  }
  return sum;
}

}  // namespace gpilot::ssm
