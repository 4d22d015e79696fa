#include "support/flat_states.hpp"

#include <algorithm>
#include <vector>

#include "gpilot/ssm/series.hpp"

namespace gpilot::test {

namespace {

/// Calls visit(entry) for every free entry of A and S_chol, in one fixed order.
template <typename States, typename Visitor>
void for_each_entry(States& q, const ssm::Series& series, Visitor&& visit) {
  const Index D = q.states();
  for (Index t = 0; t < q.rows(); ++t) {
    for (Index j = 0; j < D; ++j) {
      for (Index i = 0; i < D; ++i) {
        if (!series.first[static_cast<std::size_t>(t)]) {
          visit(q.A(i, D * t + j));
        }
        if (i >= j) {
          visit(q.S_chol(i, D * t + j));
        }
      }
    }
  }
}

}  // namespace

Vector flatten(const ssm::StatePosterior& q, const ssm::Series& series) {
  std::vector<double> flat(q.m.data(), q.m.data() + q.m.size());
  for_each_entry(q, series, [&](double entry) { flat.push_back(entry); });
  return Eigen::Map<Vector>(flat.data(), static_cast<Index>(flat.size()));
}

ssm::StatePosterior unflatten(const Vector& flat, const ssm::StatePosterior& shape, const ssm::Series& series) {
  ssm::StatePosterior q = shape;
  std::copy_n(flat.data(), q.m.size(), q.m.data());
  Index k = q.m.size();
  for_each_entry(q, series, [&](double& entry) { entry = flat(k++); });
  return q;
}

}  // namespace gpilot::test
