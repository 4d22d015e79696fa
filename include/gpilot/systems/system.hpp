#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"

/// Simulated systems with a known truth.
///
/// Time runs in steps of dt; the control c_t holds from t to t + 1 (zero-order hold):
///   x_{t+1} = f(x_t, c_t) + N(0, diag(process_sd^2)),   y_t = C x_t + N(0, diag(output_sd^2)).
namespace gpilot::systems {

/// Which equations a system obeys: the corrected ones, or those that the paper prints (docs list the differences).
enum class Variant { kCorrected, kPaper };

/// "corrected" or "paper"; throws InputError for any other name.
Variant variant_from_name(std::string_view name);
std::string_view variant_name(Variant variant);

/// A state, control or output: its column name in data files, and its unit ("" if it has none).
struct Channel {
  std::string name;
  std::string unit;
};

std::vector<std::string> channel_names(const std::vector<Channel>& channels);

/// The velocity state is the time derivative of the position state (both are indices of states).
struct DerivativeRelation {
  Index velocity = 0;
  Index position = 0;
};

/// The settings with which the paper learns a system.
struct PaperSettings {
  std::string kernel;
  double initial_variance = 1.0;
  double initial_length_scale = 1.0;
  int epochs = 100;
};

/// Everything about a system but its equations. D states, P controls, E outputs.
struct SystemSpec {
  std::string name;
  std::string summary;  ///< one line
  std::vector<Channel> states;
  std::vector<Channel> controls;
  std::vector<Channel> outputs;
  double dt = 1.0;   ///< seconds between two measurements; 1 step for a map
  int substeps = 1;  ///< integrator steps per dt
  Box control_box;
  Vector x0_mean;     ///< [D]
  Vector x0_sd;       ///< [D]
  Vector process_sd;  ///< [D], per step of dt
  Vector output_sd;   ///< [E]
  Matrix emission;    ///< C [E x D]
  Box region;         ///< states in which a learned transition is tested
  std::vector<DerivativeRelation> derivatives;
  std::vector<Index> angles{};  ///< states that are the same after a full turn of 2 pi rad
  PaperSettings paper;
  std::vector<Index> added_outputs{};  ///< outputs that only observe_states() gave it: measured, but not judged

  /// The other outputs: the system's own, by which models are judged.
  std::vector<Index> own_outputs() const;
};

/// A physical constant of a system that the user may change.
struct Parameter {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  double value = 0.0;
};

/// A system whose true transition f is known.
class System {
 public:
  virtual ~System() = default;

  const SystemSpec& spec() const { return spec_; }
  Variant variant() const { return variant_; }
  Index state_dim() const { return spec_.x0_mean.size(); }
  Index control_dim() const { return spec_.control_box.low.size(); }
  Index output_dim() const { return spec_.emission.rows(); }

  /// The true transition f(x, c) over one dt, without noise.
  virtual Vector next(const VectorRef& x, const VectorRef& c) const = 0;
  /// A map has a transition but no differential equation.
  virtual bool is_map() const = 0;
  /// dx/dt at constant control; throws std::logic_error for a map.
  virtual Vector derivative(const VectorRef& x, const VectorRef& c) const = 0;
  virtual std::unique_ptr<System> clone() const = 0;

  virtual std::vector<Parameter> parameters() const = 0;
  /// Throws InputError if the name is unknown (the message lists the names) or the value makes no sense.
  void set_parameter(std::string_view name, double value);
  /// Changes the time between measurements; the integrator's step does not grow. Throws InputError for a map.
  void set_dt(double dt);
  /// Throws InputError unless there is one finite interval, low <= high, per control.
  void set_control_box(Box box);
  /// Makes every state an output: C = I. A state that was measured keeps its output's name and noise; another's output
  /// is called "y_" and the state's name, and its noise has the same share of the width of the state's region as the
  /// system's own outputs have on average. The motion is the same. Throws std::logic_error if an output is no state.
  void observe_states();

 protected:
  System(SystemSpec spec, Variant variant);
  System(const System&) = default;
  System& operator=(const System&) = default;

  /// Assigns a value that is known to be finite; false if no parameter has this name.
  virtual bool assign_parameter(std::string_view name, double value) = 0;
  /// Throws std::invalid_argument unless x and c have the system's dimensions.
  void check_sizes(const VectorRef& x, const VectorRef& c) const;

 private:
  SystemSpec spec_;
  Variant variant_;
};

/// Throws InputError, with the box in its message, unless every row of controls [T x P] is finite and in the box.
void check_in_control_box(const System& system, const Eigen::Ref<const Matrix>& controls);

/// "c in [-0.5, 0.5]", one such term per control.
std::string describe_control_box(const System& system);

/// The names that make_system knows: kink, pendulum, cart-pole, tras.
const std::vector<std::string>& system_names();

/// Throws InputError for an unknown name, with the nearest known one in its message.
std::unique_ptr<System> make_system(std::string_view name, Variant variant = Variant::kCorrected);

}  // namespace gpilot::systems
