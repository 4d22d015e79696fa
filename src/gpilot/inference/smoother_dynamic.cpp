#include "gpilot/inference/smoother_rows.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

template void potentials_of_rows<Eigen::Dynamic>(const ssm::StatePosterior&, const ssm::Series&, ChainPotentials&, int);
template void targets_of_rows<Eigen::Dynamic>(const ssm::Elbo&, const ssm::Parameters&, const ssm::StatePosterior&,
                                              ChainPotentials&);
template bool posterior_of_rows<Eigen::Dynamic>(ChainPotentials&, const ssm::Series&, const Matrix&,
                                                ssm::StatePosterior&);

}  // namespace gpilot::inference
