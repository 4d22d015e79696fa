/// Which candidate a fit should take: test errors of every candidate, and of rules that choose among them.
///
///   choice POINTS SEEDS SYSTEM..      SYSTEM: pendulum, cart-pole, .. or RIG.toml=DIR
///
/// Training rows of simulators are an exploration's initial rows: random controls held 1 to 3 steps, extremes for odd
/// seeds, declared ranges. Those of a rig are DIR/train/*.csv, the first POINTS rows of each, and its tests
/// DIR/tests/*.csv (benchmarks/third_party/record.py writes them). Errors are those of the evaluation protocol
/// (docs/results/protocol.md). Columns are geometric means over seeds; the last lines over systems. A second line per
/// system counts how often the model that a fit takes is worse than its baselines: the linear model of the same rows,
/// and holding the last value; "without a word" are those whose status is neither "not yet useful" nor "motion as
/// noise".

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gpilot/inference/candidate_search.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/trials/evaluation.hpp"
#include "gpilot/trials/rig_tests.hpp"
#include "gpilot/trials/statistics.hpp"
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

std::size_t named(const std::vector<TrainedCandidate>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &TrainedCandidate::name);
  return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin());
}

std::vector<Rule> rules() {
  return {
      {"linear", [](const auto&) { return std::size_t{0}; }},
      {"gp", [](const auto& all) { return named(all, "gp"); }},
      {"product", [](const auto& all) { return inference::CandidateSearch::choose(all); }},
      {"rolling", [](const auto& all) { return best_by(all, [](const auto& t) { return t.rolling.rmse(); }); }},
  };
}

/// What is learned, from what, and what it is tested by.
struct Subject {
  std::string name;
  ssm::ModelSpec spec;
  std::unique_ptr<trials::Evaluation> evaluation;
  std::function<ssm::Dataset(int seed)> rows;
  double held = std::numeric_limits<double>::infinity();  ///< the error of holding the last value; a map has none
};

Subject rig_subject(const std::string& argument, Index points) {
  const std::size_t split = argument.find('=');
  const std::string directory = argument.substr(split + 1);
  Subject subject;
  subject.spec = study::load_config(argument.substr(0, split)).model;
  subject.name = directory.substr(directory.rfind('/') + 1);
  subject.evaluation = std::make_unique<trials::Evaluation>(
      trials::cut_tests(trials::read_test_directory(directory + "/tests", subject.spec), subject.spec).tests);
  subject.held = subject.evaluation->held_rmse();
  const ssm::Dataset all = trials::read_test_directory(directory + "/train", subject.spec);
  subject.rows = [all, points](int seed) {
    ssm::Sequence sequence = all.at(static_cast<std::size_t>(seed));
    sequence.controls.conservativeResize(points, Eigen::NoChange);
    sequence.outputs.conservativeResize(points, Eigen::NoChange);
    sequence.broad_start = false;  // every recording begins with a reset
    return ssm::Dataset{sequence};
  };
  return subject;
}

Subject simulated_subject(const std::string& name, Index points) {
  const std::shared_ptr<systems::System> system = systems::make_system(name);
  Subject subject{name, trials::model_spec(*system), std::make_unique<trials::Evaluation>(*system), {}};
  if (!system->is_map()) {
    subject.held = subject.evaluation->held_rmse();
  }
  subject.rows = [system, points](int seed) {
    const systems::Hold hold{1, 3};
    const std::uint64_t stream = kSeed + static_cast<std::uint64_t>(seed);
    const Matrix controls = seed % 2 == 1 ? systems::extreme_controls(*system, points, hold, stream)
                                          : systems::random_controls(*system, points, hold, stream);
    const systems::Trajectory run = systems::simulate(*system, controls, {.seed = stream});
    return ssm::Dataset{{run.controls, run.outputs}};
  };
  return subject;
}

struct Row {
  std::vector<double> error, coverage, gp;    ///< per rule
  double best = 0.0;                          ///< the least error of all candidates
  double over_linear = 1.0, over_hold = 1.0;  ///< the error of what a fit takes, as a multiple of its baselines'
  bool warned = false;                        ///< the status says that it is not to be trusted
};

/// How many runs of a system are worse than a baseline, and how many of them do not say so.
struct BaselineCount {
  double median = 0.0;  ///< of the ratios
  int by_a_twentieth = 0, by_half = 0, by_half_unsaid = 0;
};

Row judge(const Subject& subject, int seed, const std::vector<Rule>& all_rules) {
  const inference::FitOptions options;
  const ssm::Dataset data = subject.rows(seed);
  inference::CandidateSearch search(data, subject.spec, options, nullptr);
  const std::vector<TrainedCandidate> all = search.train_all();
  std::vector<double> errors;
  std::vector<double> coverage;
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (const trials::Metric& m : subject.evaluation->evaluate(search.model_of(all, c))) {
      if (m.name == "rmse") {
        errors.push_back(m.value);
      } else if (m.name == "coverage90") {
        coverage.push_back(m.value);
      }
    }
  }
  Row row;
  for (const Rule& rule : all_rules) {
    const std::size_t c = rule.choose(all);
    row.error.push_back(errors[c]);
    row.coverage.push_back(coverage[c]);
    row.gp.push_back(all[c].dynamics.structure.inducing > 0 ? 1.0 : 0.0);
  }
  row.best = *std::min_element(errors.begin(), errors.end());
  const std::size_t taken = inference::CandidateSearch::choose(all);
  const ssm::FitStatus status = search.model_of(all, taken).report.status;
  row.over_linear = errors[taken] / errors[0];
  row.over_hold = errors[taken] / subject.held;
  row.warned = status == ssm::FitStatus::kNotUseful || status == ssm::FitStatus::kMotionAsNoise;
  return row;
}

BaselineCount count_worse(const std::vector<Row>& rows, double Row::*ratio) {
  BaselineCount count;
  std::vector<double> ratios;
  for (const Row& row : rows) {
    ratios.push_back(row.*ratio);
    count.by_a_twentieth += row.*ratio > 1.05 ? 1 : 0;
    count.by_half += row.*ratio > 1.5 ? 1 : 0;
    count.by_half_unsaid += row.*ratio > 1.5 && !row.warned ? 1 : 0;
  }
  count.median = trials::median(ratios);
  return count;
}

void print_worse(const char* baseline, const BaselineCount& count, int seeds) {
  fmt::print("  over {}: median {:.3f}, above 1.05 {} of {}, above 1.5 {} ({} without a word);", baseline, count.median,
             count.by_a_twentieth, seeds, count.by_half, count.by_half_unsaid);
}

}  // namespace

int main(int argc, char** argv) {
  const Index points = std::atoi(argv[1]);
  const int seeds = std::atoi(argv[2]);
  const std::vector<Rule> all_rules = rules();
  std::vector<double> pooled(all_rules.size() + 1, 0.0);
  for (int n = 3; n < argc; ++n) {
    const std::string argument = argv[n];
    const Subject subject =
        argument.find('=') == std::string::npos ? simulated_subject(argument, points) : rig_subject(argument, points);
    std::vector<Row> rows(static_cast<std::size_t>(seeds));
    oneapi::tbb::parallel_for(
        0, seeds, [&](int seed) { rows[static_cast<std::size_t>(seed)] = judge(subject, seed, all_rules); });
    fmt::print("{:12} {:3}:", subject.name, points);
    const auto mean = [&](auto&& value) {
      double sum = 0.0;
      for (const Row& row : rows) {
        sum += value(row);
      }
      return sum / seeds;
    };
    for (std::size_t r = 0; r < all_rules.size(); ++r) {
      const double error = mean([r](const Row& row) { return std::log(row.error[r]); });
      pooled[r] += error / (argc - 3);
      fmt::print("  {} {:.3f} ({:.0f} % covered, {:.0f} % gp)", all_rules[r].name, std::exp(error),
                 100.0 * mean([r](const Row& row) { return row.coverage[r]; }),
                 100.0 * mean([r](const Row& row) { return row.gp[r]; }));
    }
    const double best = mean([](const Row& row) { return std::log(row.best); });
    pooled.back() += best / (argc - 3);
    fmt::print("  best {:.3f}  hold {:.3f}\n{:16} ", std::exp(best), subject.held, "");
    print_worse("linear", count_worse(rows, &Row::over_linear), seeds);
    print_worse("hold", count_worse(rows, &Row::over_hold), seeds);
    fmt::print("\n");
    std::fflush(stdout);
  }
  fmt::print("{:12} {:3}:", "all", points);
  for (std::size_t r = 0; r < all_rules.size(); ++r) {
    fmt::print("  {} {:.3f}", all_rules[r].name, std::exp(pooled[r]));
  }
  fmt::print("  best {:.3f}\n", std::exp(pooled.back()));
}
