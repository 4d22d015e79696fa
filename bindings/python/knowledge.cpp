#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <tuple>

#include "arrays.hpp"
#include "gpilot/ssm/rates_function.hpp"
#include "modules.hpp"

namespace gpilot::python {

namespace {

using Name = std::string;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RatesOut = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using SlopesOut = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// A Python object that threads without the GIL may copy and let go of.
std::shared_ptr<nb::object> shared(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* kept) {
            if (Py_IsInitialized() == 0) {
              return;  // the interpreter is gone, and its objects with it
            }
            const nb::gil_scoped_acquire acquire;
            delete kept;
          }};
}

/// A callable of states (D, N), inputs (P, N), parameters (K,) and whether derivatives are wanted. It gives rates
/// (states, N) and derivatives (states, D + P + K, N) or None; gpilot/_knowledge.py checks their shapes.
ssm::RatesFunction rates_function(nb::object callable) {
  return {[callable = shared(std::move(callable))](MatrixRef states, MatrixRef inputs, VectorRef parameters,
                                                   std::vector<Matrix>* slopes) {
    const nb::gil_scoped_acquire acquire;
    const nb::object result =
        (*callable)(RowMajor(states.transpose()), RowMajor(inputs.transpose()), Vector(parameters), slopes != nullptr);
    const auto rates = nb::cast<RatesOut>(result[0]);
    const auto N = static_cast<Index>(rates.shape(1));
    if (nb::object derivatives = result[1]; slopes != nullptr && !derivatives.is_none()) {
      const auto all = nb::cast<SlopesOut>(derivatives);
      const auto variables = static_cast<Index>(all.shape(1));
      for (std::size_t k = 0; k < all.shape(0); ++k) {
        slopes->emplace_back(
            Eigen::Map<const Matrix>(all.data() + static_cast<Index>(k) * variables * N, N, variables));
      }
    }
    return Matrix(Eigen::Map<const Matrix>(rates.data(), N, static_cast<Index>(rates.shape(0))));
  }};
}

void take_physics(const Dict& values, ssm::Physics& physics) {
  std::vector<std::pair<Name, std::string>> formulas;
  take(values, "formulas", formulas);
  for (auto& [state, text] : formulas) {
    physics.formulas.push_back({state, text});
  }
  std::vector<Dict> parameters;
  take(values, "parameters", parameters);
  for (const Dict& entry : parameters) {
    ssm::PhysicsParameter p;
    take(entry, "name", p.name);
    take(entry, "start", p.start);
    take(entry, "known", p.known);
    take(entry, "sd", p.sd);
    take(entry, "factor", p.factor);
    take(entry, "low", p.low);
    take(entry, "high", p.high);
    take(entry, "unit", p.unit);
    physics.parameters.push_back(p);
  }
  std::string integration;
  take(values, "integration", integration);
  if (!integration.empty()) {
    physics.integration = ssm::integration_from_name(integration);
  }
  take(values, "units", physics.units);
  take(values, "function_states", physics.function_states);
  nb::object rates = nb::none();
  take(values, "rates", rates);
  if (!rates.is_none()) {
    physics.function = rates_function(rates);
  }
}

/// As GPSSM takes it: a number is known, a mapping is learned.
nb::object parameter_object(const ssm::PhysicsParameter& p) {
  if (p.known && p.unit.empty()) {
    return nb::cast(p.start);
  }
  nb::dict entry;
  const auto put = [&](const char* key, double value) {
    if (!std::isnan(value)) {
      entry[key] = value;
    }
  };
  put("start", p.start);
  put("sd", p.sd);
  put("factor", p.factor);
  put("low", p.low);
  put("high", p.high);
  if (p.known) {
    entry["known"] = true;
  }
  if (!p.unit.empty()) {
    entry["unit"] = p.unit;
  }
  return entry;
}

template <class Items, class Key, class Value>
nb::dict dict_of(const Items& items, Key key, Value value) {
  nb::dict result;
  for (const auto& item : items) {
    result[std::invoke(key, item).c_str()] = nb::cast(std::invoke(value, item));
  }
  return result;
}

}  // namespace

void take_knowledge(const Dict& values, ssm::ModelSpec& spec) {
  take(values, "cyclic", spec.cyclic);
  take(values, "odd", spec.odd);
  take(values, "control_affine", spec.control_affine);
  std::vector<std::pair<Name, std::vector<Name>>> depends_on;
  take(values, "depends_on", depends_on);
  for (auto& [state, names] : depends_on) {
    spec.depends_on.push_back({state, names});
  }
  std::vector<std::pair<Name, double>> centres;
  take(values, "centres", centres);
  for (auto& [name, value] : centres) {
    spec.centres.push_back({name, value});
  }
  std::vector<std::tuple<Name, Name, double>> coefficients;
  take(values, "coefficients", coefficients);
  for (auto& [state, name, value] : coefficients) {
    spec.coefficients.push_back({state, name, value});
  }
  take_physics(values, spec.physics);
}

void put_knowledge(const ssm::ModelSpec& spec, nb::dict& values) {
  values["cyclic"] = spec.cyclic;
  values["control_affine"] = spec.control_affine;
  values["depends_on"] = dict_of(spec.depends_on, &ssm::DependsOn::state, &ssm::DependsOn::names);
  nb::dict symmetry;
  for (const Name& state : spec.odd) {
    symmetry[state.c_str()] = "odd";
  }
  values["symmetry"] = symmetry;
  values["centre"] = dict_of(spec.centres, &ssm::Centre::name, &ssm::Centre::value);
  nb::dict coefficients;
  for (const ssm::Coefficient& c : spec.coefficients) {
    if (!coefficients.contains(c.state.c_str())) {
      coefficients[c.state.c_str()] = nb::dict();
    }
    coefficients[c.state.c_str()][c.name.c_str()] = c.value;
  }
  values["coefficients"] = coefficients;
  values["physics"] = dict_of(spec.physics.formulas, &ssm::Formula::state, &ssm::Formula::text);
  nb::dict parameters;
  for (const ssm::PhysicsParameter& p : spec.physics.parameters) {
    parameters[p.name.c_str()] = parameter_object(p);
  }
  values["parameters"] = parameters;
  values["integration"] = std::string(ssm::name(spec.physics.integration));
  nb::dict units;
  for (const auto& [name, unit] : spec.physics.units) {
    units[name.c_str()] = unit;
  }
  values["units"] = units;
}

}  // namespace gpilot::python
