#include "gpilot/systems/ode_system.hpp"

#include <algorithm>
#include <boost/numeric/odeint/stepper/runge_kutta4.hpp>

namespace gpilot::systems {
namespace {

template <int D>
std::array<double, D> to_array(const VectorRef& x) {
  std::array<double, D> a{};
  std::copy_n(x.data(), D, a.begin());
  return a;
}

template <int D>
Vector to_vector(const std::array<double, D>& a) {
  return Eigen::Map<const Eigen::Matrix<double, D, 1>>(a.data());
}

}  // namespace

template <int D>
Vector OdeSystem<D>::next(const VectorRef& x, const VectorRef& c) const {
  check_sizes(x, c);
  boost::numeric::odeint::runge_kutta4<State> stepper;
  const auto rate_at = [&](const State& state, State& dxdt, double /*time*/) { dxdt = rate(state, c); };
  State state = to_array<D>(x);
  const double h = spec().dt / spec().substeps;
  for (int i = 0; i < spec().substeps; ++i) {
    stepper.do_step(rate_at, state, i * h, h);
  }
  return to_vector<D>(state);
}

template <int D>
Vector OdeSystem<D>::derivative(const VectorRef& x, const VectorRef& c) const {
  check_sizes(x, c);
  return to_vector<D>(rate(to_array<D>(x), c));
}

template class OdeSystem<2>;
template class OdeSystem<4>;

}  // namespace gpilot::systems
