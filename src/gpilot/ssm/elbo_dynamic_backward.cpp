#include "gpilot/ssm/elbo_rows.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

template void Elbo::backward<Eigen::Dynamic>(const Parameters&, const StatePosterior&, Parameters&, StatePosterior&);

}  // namespace gpilot::ssm
