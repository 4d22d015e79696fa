/// Which candidate a fit should take: test errors of every candidate, and of rules that choose among them.
///
///   choice SYSTEM POINTS SEEDS [CONTROLS]     CONTROLS: random (default) or extremes
///
/// Training rows as an exploration's initial rows: under random controls held 1 to 3 steps, declared ranges. Errors are
/// those of the evaluation protocol (docs/results/protocol.md). Columns are geometric means over seeds.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "gpilot/inference/candidate_search.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/trials/evaluation.hpp"
#include "gpilot/trials/system_model.hpp"

namespace {

using namespace gpilot;
using inference::TrainedCandidate;

constexpr std::uint64_t kSeed = 880000;  ///< apart from every published run

struct Rule {
  std::string name;
  std::function<std::size_t(const std::vector<TrainedCandidate>&)> choose;
};

std::size_t best_by(const std::vector<TrainedCandidate>& all,
                    const std::function<double(const TrainedCandidate&)>& loss) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < all.size(); ++k) {
    if (loss(all[k]) < loss(all[best])) {
      best = k;
    }
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const auto system = systems::make_system(argv[1]);
  const Index points = std::atoi(argv[2]);
  const int seeds = std::atoi(argv[3]);
  const bool extremes = argc > 4 && std::string(argv[4]) == "extremes";
  const trials::Evaluation evaluation(*system);
  const ssm::ModelSpec spec = trials::model_spec(*system);
  const auto value = [](double x) { return std::isnan(x) ? 1e9 : x; };
  const std::vector<Rule> rules{
      {"linear", [](const auto&) { return std::size_t{0}; }},
      {"gp",
       [](const auto& all) {
         std::size_t k = 0;
         while (k + 1 < all.size() && all[k].name != "gp") {
           ++k;
         }
         return k;
       }},
      {"the product's", [](const auto& all) { return inference::CandidateSearch::choose(all); }},
      {"rolling",
       [&](const auto& all) { return best_by(all, [&](const auto& t) { return value(t.rolling.rmse()); }); }},
  };
  std::vector<std::vector<double>> errors(rules.size(), std::vector<double>(static_cast<std::size_t>(seeds)));
  std::vector<std::vector<double>> share = errors;
  std::vector<std::vector<double>> coverage = errors;
  std::vector<double> oracle(static_cast<std::size_t>(seeds));
  std::vector<double> held(oracle.size());
  std::vector<double> held_hold(oracle.size());
  oneapi::tbb::parallel_for(0, seeds, [&](int seed) {
    const auto k = static_cast<std::size_t>(seed);
    const systems::Hold hold{1, 3};
    const std::uint64_t stream = kSeed + static_cast<std::uint64_t>(seed);
    const Matrix controls = extremes ? systems::extreme_controls(*system, points, hold, stream)
                                     : systems::random_controls(*system, points, hold, stream);
    const systems::Trajectory run = systems::simulate(*system, controls, {.seed = stream});
    const inference::FitOptions options;
    inference::CandidateSearch search({{run.controls, run.outputs}}, spec, options, nullptr);
    const std::vector<TrainedCandidate> all = search.train_all();
    inference::CandidateSearch again({{run.controls, run.outputs}}, spec, options, nullptr);
    ssm::Model model = again.run();
    std::vector<double> test(all.size());
    std::vector<double> cover(all.size());
    for (std::size_t c = 0; c < all.size(); ++c) {
      model.gp = all[c].dynamics;
      for (const trials::Metric& m : evaluation.evaluate(model)) {
        if (m.name == "rmse")
          test[c] = m.value;
        if (m.name == "coverage90")
          cover[c] = m.value;
      }
    }
    for (std::size_t r = 0; r < rules.size(); ++r) {
      const std::size_t c = rules[r].choose(all);
      errors[r][k] = test[c];
      share[r][k] = all[c].dynamics.structure.inducing > 0 ? 1.0 : 0.0;
      coverage[r][k] = cover[c];
    }
    oracle[k] = *std::min_element(test.begin(), test.end());
    held[k] = all[0].rolling.rmse();
    held_hold[k] = all[0].rolling.hold_rmse();
  });
  const auto geometric = [&](const std::vector<double>& v) {
    double sum = 0.0;
    for (const double x : v)
      sum += std::log(x);
    return std::exp(sum / static_cast<double>(v.size()));
  };
  const auto mean = [&](const std::vector<double>& v) {
    double sum = 0.0;
    for (const double x : v)
      sum += x;
    return sum / static_cast<double>(v.size());
  };
  for (std::size_t r = 0; r < rules.size(); ++r) {
    fmt::print("{:10} {:3} {:28} rmse {:.3f}  gp {:3.0f} %  coverage {:.0f} %\n", argv[1], points, rules[r].name,
               geometric(errors[r]), 100 * mean(share[r]), 100 * mean(coverage[r]));
  }
  fmt::print("{:10} {:3} oracle {:.3f}; linear's rolling {:.3f}, hold {:.3f}\n", argv[1], points, geometric(oracle),
             geometric(held), geometric(held_hold));
}
