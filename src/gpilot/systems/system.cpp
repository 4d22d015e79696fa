#include "gpilot/systems/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"

namespace gpilot::systems {

namespace {

/// The output that measures state i and nothing else, or -1.
Index output_of(const Matrix& emission, Index i) {
  for (Index e = 0; e < emission.rows(); ++e) {
    if (emission(e, i) == 1.0 && emission.row(e).cwiseAbs().sum() == 1.0) {
      return e;
    }
  }
  return -1;
}

}  // namespace

Variant variant_from_name(std::string_view name) {
  if (name == "corrected") {
    return Variant::kCorrected;
  }
  if (name == "paper") {
    return Variant::kPaper;
  }
  const std::string known[] = {"corrected", "paper"};
  throw InputError(unknown_name_message("variant", name, known));
}

std::string_view variant_name(Variant variant) {
  return variant == Variant::kPaper ? "paper" : "corrected";
}

std::vector<std::string> channel_names(const std::vector<Channel>& channels) {
  std::vector<std::string> names;
  names.reserve(channels.size());
  for (const Channel& channel : channels) {
    names.push_back(channel.name);
  }
  return names;
}

std::vector<Index> SystemSpec::own_outputs() const {
  std::vector<Index> own;
  for (Index e = 0; e < emission.rows(); ++e) {
    if (std::ranges::find(added_outputs, e) == added_outputs.end()) {
      own.push_back(e);
    }
  }
  return own;
}

System::System(SystemSpec spec, Variant variant) : spec_(std::move(spec)), variant_(variant) {}

void System::set_parameter(std::string_view name, double value) {
  if (!std::isfinite(value)) {
    throw InputError(fmt::format("parameter '{}' of {} must be a finite number, not {}", name, spec_.name, value));
  }
  if (assign_parameter(name, value)) {
    return;
  }
  std::vector<std::string> known;
  for (const Parameter& parameter : parameters()) {
    known.emplace_back(parameter.name);
  }
  throw InputError(unknown_name_message(fmt::format("{} parameter", spec_.name), name, known));
}

void System::set_dt(double dt) {
  if (is_map()) {
    throw InputError(fmt::format("{} is a map from step to step: its dt cannot be changed", spec_.name));
  }
  if (!(dt > 0.0) || !std::isfinite(dt)) {
    throw InputError(fmt::format("dt must be a positive number of seconds, not {}", dt));
  }
  constexpr double kMaxSubsteps = 1e7;
  const double integrator_step = spec_.dt / spec_.substeps;
  // The tolerance keeps a rounding error in dt / step from costing a substep.
  const double substeps = std::max(1.0, std::ceil(dt / integrator_step - 1e-9));
  if (substeps > kMaxSubsteps) {
    throw InputError(
        fmt::format("dt = {} s needs {} integrator steps; at most {} are allowed", dt, substeps, kMaxSubsteps));
  }
  spec_.substeps = static_cast<int>(substeps);
  spec_.dt = dt;
}

void System::set_control_box(Box box) {
  if (box.low.size() != control_dim() || box.high.size() != control_dim()) {
    throw InputError(
        fmt::format("the control box of {} needs {} interval(s), not {}", spec_.name, control_dim(), box.low.size()));
  }
  for (Index i = 0; i < control_dim(); ++i) {
    if (!std::isfinite(box.low(i)) || !std::isfinite(box.high(i)) || box.low(i) > box.high(i)) {
      throw InputError(fmt::format("[{}, {}] is no interval for the control {}: expected finite low <= high",
                                   box.low(i), box.high(i), spec_.controls[static_cast<std::size_t>(i)].name));
    }
  }
  spec_.control_box = std::move(box);
}

void System::observe_states() {
  const Index D = state_dim();
  const Vector width = spec_.region.high - spec_.region.low;
  const double share = spec_.output_sd.cwiseQuotient(spec_.emission * width).mean();
  std::vector<Channel> outputs;
  std::vector<Index> added;
  Vector sd(D);
  Index kept = 0;
  for (Index i = 0; i < D; ++i) {
    const Channel& state = spec_.states[static_cast<std::size_t>(i)];
    if (const Index e = output_of(spec_.emission, i); e >= 0) {
      outputs.push_back(spec_.outputs[static_cast<std::size_t>(e)]);
      sd(i) = spec_.output_sd(e);
      ++kept;
    } else {
      outputs.push_back({"y_" + state.name, state.unit});
      sd(i) = share * width(i);
      added.push_back(i);
    }
  }
  if (kept != output_dim()) {
    throw std::logic_error(fmt::format("{}: an output is not a state", spec_.name));
  }
  if (added.empty()) {
    return;  // all states are outputs already, and which of them are judged is known
  }
  spec_.outputs = std::move(outputs);
  spec_.output_sd = std::move(sd);
  spec_.emission = Matrix::Identity(D, D);
  spec_.added_outputs = std::move(added);
}

void System::check_sizes(const VectorRef& x, const VectorRef& c) const {
  if (x.size() != state_dim() || c.size() != control_dim()) {
    throw std::invalid_argument(fmt::format("{}: expected x of size {} and c of size {}, got {} and {}", spec_.name,
                                            state_dim(), control_dim(), x.size(), c.size()));
  }
}

void check_in_control_box(const System& system, const Eigen::Ref<const Matrix>& controls) {
  if (controls.cols() != system.control_dim()) {
    throw InputError(fmt::format("{} has {} control(s), not {}: {}", system.spec().name, system.control_dim(),
                                 controls.cols(), describe_control_box(system)));
  }
  const Box& box = system.spec().control_box;
  for (Index t = 0; t < controls.rows(); ++t) {
    for (Index i = 0; i < controls.cols(); ++i) {
      if (!(controls(t, i) >= box.low(i) && controls(t, i) <= box.high(i))) {
        throw InputError(fmt::format("control {} = {} at step {} is outside the box of {}: {}",
                                     system.spec().controls[static_cast<std::size_t>(i)].name, controls(t, i), t,
                                     system.spec().name, describe_control_box(system)));
      }
    }
  }
}

std::string describe_control_box(const System& system) {
  const SystemSpec& spec = system.spec();
  std::vector<std::string> terms;
  for (Index i = 0; i < system.control_dim(); ++i) {
    terms.push_back(fmt::format("{} in [{}, {}]", spec.controls[static_cast<std::size_t>(i)].name,
                                spec.control_box.low(i), spec.control_box.high(i)));
  }
  return fmt::format("{}", fmt::join(terms, ", "));
}

}  // namespace gpilot::systems
