#pragma once

#include "gpilot/systems/ode_system.hpp"

namespace gpilot::systems {

struct TrasParameters {
  double g = 9.81;        ///< gravity, m/s^2
  double m_m = 0.029;     ///< mass of the main part of the beam, kg
  double m_mr = 0.199;    ///< mass of the main rotor, kg
  double m_ms = 0.083;    ///< mass of the main rotor's shield, kg
  double m_t = 0.031;     ///< mass of the tail part of the beam, kg
  double m_tr = 0.154;    ///< mass of the tail rotor, kg
  double m_ts = 0.061;    ///< mass of the tail rotor's shield, kg
  double m_b = 0.011;     ///< mass of the counter-weight's beam, kg
  double m_cb = 0.024;    ///< mass of the counter-weight, kg
  double l_m = 0.202;     ///< length of the main part of the beam, m
  double l_t = 0.216;     ///< length of the tail part of the beam, m
  double l_b = 0.15;      ///< length of the counter-weight's beam, m
  double l_cb = 0.15;     ///< distance of the counter-weight from the joint, m
  double r_ms = 0.145;    ///< radius of the main shield, m
  double r_ts = 0.1;      ///< radius of the tail shield, m
  double k_fv = 0.013;    ///< friction of pitch, N m s/rad
  double k_fh = 0.006;    ///< friction of azimuth, N m s/rad
  double k_hv = 0.004;    ///< moment of the tail rotor's control on pitch, N m
  double k_vh = -0.018;   ///< moment of the main rotor's control on azimuth, N m
  double a_1 = 9.28e-6;   ///< damping of pitch by the main rotor, N m s/rad per rpm
  double a_2 = 3.3e-6;    ///< damping of azimuth by the tail rotor, N m s/rad per rpm
  double thrust_v = 1.0;  ///< factor of the main rotor's thrust
  double thrust_h = 1.0;  ///< factor of the tail rotor's thrust
};

/// What a variant starts from: the paper prints a_1 = 0.001 and a_2 = 0.01.
TrasParameters tras_parameters(Variant variant);

/// The Twin-Rotor Aerodynamical System: a beam with a main rotor (pitch a_v) and a tail rotor (azimuth a_h) on a pivot,
/// with a counter-weight below it (Petkov et al., 2008). Both angles are observed; the controls c_v, c_h are the
/// voltages of the two motors. With the moments and inertias
///
///   A = (m_t/2 + m_tr + m_ts) l_t,  B = (m_m/2 + m_mr + m_ms) l_m,  C = m_b l_b / 2 + m_cb l_cb,
///   D = (m_m/3 + m_mr + m_ms) l_m^2 + (m_t/3 + m_tr + m_ts) l_t^2,  E = m_b l_b^2 / 3 + m_cb l_cb^2,
///   J_v = D + E + m_ms r_ms^2 / 2 + m_ts r_ts^2,  J_h = D cos^2 a_v + E sin^2 a_v + m_ms r_ms^2 + m_ts r_ts^2 / 2,
///
/// and F_v(w_v(c_v)), F_h(w_h(c_h)) the measured thrusts and speeds (rpm) of the rotors:
///
///   J_v a_v'' = g ((A - B) cos a_v - C sin a_v) + l_m F_v - (D - E) sin a_v cos a_v a_h'^2
///               - k_fv a_v' - k_hv c_h - a_1 |w_v| a_v'
///   J_h a_h'' = l_t F_h cos a_v + 2 (D - E) sin a_v cos a_v a_v' a_h' - k_fh a_h' + k_vh c_v - a_2 |w_h| a_h'
///
/// The term 2 (D - E) .. a_v' a_h' is there because J_h changes with pitch: with it, without friction and rotors,
/// energy is conserved. The paper prints A + B, another factor in place of D - E, no such term, three other
/// coefficients of the rotors' curves, and a_1, a_2 about 100 and 3000 times as large, which makes it stiff.
class Tras final : public OdeSystem<4> {
 public:
  explicit Tras(Variant variant = Variant::kCorrected);
  Tras(Variant variant, const TrasParameters& parameters);

  /// Kinetic plus potential energy in J of the corrected equations.
  double energy(const VectorRef& x) const;
  std::unique_ptr<System> clone() const override { return std::make_unique<Tras>(*this); }
  std::vector<Parameter> parameters() const override;

 private:
  State rate(const State& x, const VectorRef& c) const override;
  bool assign_parameter(std::string_view name, double value) override;

  TrasParameters parameters_;
};

}  // namespace gpilot::systems
