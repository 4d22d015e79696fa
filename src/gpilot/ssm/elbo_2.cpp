#include "gpilot/ssm/elbo_rows.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

template void Elbo::forward<2>(const Parameters&, const StatePosterior&);
template void Elbo::backward<2>(const Parameters&, const StatePosterior&, Parameters&, StatePosterior&);

}  // namespace gpilot::ssm
