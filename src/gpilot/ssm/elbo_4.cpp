#include "gpilot/ssm/elbo_rows.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

template void Elbo::forward<4>(const Parameters&, const StatePosterior&);
template void Elbo::backward<4>(const Parameters&, const StatePosterior&, Parameters&, StatePosterior&);

}  // namespace gpilot::ssm
