#include "gpilot/ssm/elbo_rows.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

template void Elbo::forward<Eigen::Dynamic>(const Parameters&, const StatePosterior&);

}  // namespace gpilot::ssm
