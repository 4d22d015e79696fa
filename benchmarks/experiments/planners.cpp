/// How good a plan is against what its search cost: random shooting with elites (the planner), random shooting alone,
/// elites of which stretches are drawn anew, and gradient refinement from many starts.
///
///   planners [trials] [seed]     CSV, a line a model, method and budget, for docs/results/planning.md
///
/// Models of explorations by `auto` after 10, 20 and 30 rows, criterion imse, no previous plan. `value` is the best
/// found so far, `share` that of the best that any method finds in 20,000 evaluations, `ms` the time of one processor
/// (not that of the clock: other programs do not count). An evaluation is the roll-out and the value of one plan; those
/// of differences count. At the end, as comments, the median shares by budget and by milliseconds.

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/explore/online_model.hpp"
#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/plan/planner.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/statistics.hpp"
#include "gpilot/trials/trial.hpp"

namespace {

using namespace gpilot;
using plan::DecisionContext;
using plan::PlanCriterion;
using plan::RollOut;

constexpr int kMost = 20'000;
constexpr Index kGeneration = 32;
constexpr Index kStarts = 6;    ///< of a generation that are varied or refined
constexpr double kStep = 1e-4;  ///< of the box, for differences
constexpr std::array kBudgets{32, 100, 320, 1000, 2000, kMost};
constexpr std::array kMilliseconds{5.0, 20.0, 50.0, 200.0};
constexpr std::array<Index, 3> kRows{10, 20, 30};

double processor_ms() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// Where a search stood after some evaluations.
struct Mark {
  int evaluations = 0;
  double ms = 0.0;
  double value = 0.0;
};

/// Passes a criterion on, and writes down how the best value grows with every set of plans.
class Recorder : public PlanCriterion {
 public:
  explicit Recorder(PlanCriterion& criterion) : criterion_(criterion), begin_(processor_ms()) {}

  void prepare(const RollOut& paths) override {
    mark();
    evaluations_ += static_cast<int>(paths.paths());
    criterion_.prepare(paths);
  }
  double value(const RollOut& paths, Index n, const plan::PlannedOutputs& outputs) override {
    const double value = criterion_.value(paths, n, outputs);
    best_ = std::isfinite(value) ? std::max(best_, value) : best_;
    return value;
  }
  int evaluations() const { return evaluations_; }
  /// All marks, the last one at the end of the search.
  std::vector<Mark> finish() {
    mark();
    return std::move(marks_);
  }

 private:
  void mark() {
    if (evaluations_ > 0) {
      marks_.push_back({evaluations_, processor_ms() - begin_, best_});
    }
  }

  PlanCriterion& criterion_;
  double begin_;
  int evaluations_ = 0;
  double best_ = -std::numeric_limits<double>::infinity();
  std::vector<Mark> marks_;
};

/// Values of plans without hold, slew or limits, given in the unit box.
class Plans {
 public:
  Plans(const DecisionContext& context, const std::vector<gp::PackedPosterior>& uncertainty, Recorder& recorder)
      : box_(context.box),
        recorder_(recorder),
        P_(box_.low.size()),
        H_(context.planning.horizon),
        paths_(context, uncertainty, H_),
        random_(context.seed, Purpose::kTest, context.trial, context.step) {}

  Index size() const { return P_ * H_; }
  int left() const { return kMost - recorder_.evaluations(); }

  /// NaN for a plan whose path leaves the model.
  Vector values(const Matrix& unit) {
    Matrix plans = box_.low.replicate(H_, 1).replicate(1, unit.cols());
    plans += (box_.high - box_.low).replicate(H_, 1).asDiagonal() * unit;
    paths_.run(plans);
    recorder_.prepare(paths_);
    Vector result = Vector::Constant(unit.cols(), std::numeric_limits<double>::quiet_NaN());
    for (Index n = 0; n < unit.cols(); ++n) {
      try {
        if (paths_.sensible_rows(n) == H_) {
          result(n) = recorder_.value(paths_, n, paths_.outputs(n));
        }
      } catch (const NumericalError&) {  // as good as none
      }
    }
    return result;
  }

  /// Drawn as the planner draws its first generation: values or corners, held for a while.
  Matrix draw() {
    Matrix unit(size(), kGeneration);
    for (Index n = 0; n < kGeneration; ++n) {
      const Index longest = 1 + random_.index(H_);
      for (Index t = 0, held = 0; t < H_; t += held) {
        held = std::min(1 + random_.index(longest), H_ - t);
        hold(unit, n, t, held);
      }
    }
    return unit;
  }

  /// Plans with a stretch of one of some others drawn anew, every fourth one drawn altogether.
  Matrix vary(const Matrix& others) {
    Matrix unit = draw();
    for (Index n = 0; n < kGeneration; ++n) {
      if (n % 4 != 3) {
        unit.col(n) = others.col(random_.index(others.cols()));
        const Index t = random_.index(H_);
        hold(unit, n, t, 1 + random_.index(H_ - t));
      }
    }
    return unit;
  }

 private:
  /// A value, or a corner for every other plan, in `count` rows from t on.
  void hold(Matrix& unit, Index n, Index t, Index count) {
    for (Index p = 0; p < P_; ++p) {
      const double u = random_.uniform();
      for (Index k = t; k < t + count; ++k) {
        unit(k * P_ + p, n) = n % 2 == 0 ? std::round(u) : u;
      }
    }
  }

  const Box& box_;
  Recorder& recorder_;
  Index P_, H_;
  RollOut paths_;
  RandomStream random_;
};

void shoot(Plans& plans) {
  while (plans.left() > 0) {
    plans.values(plans.draw());
  }
}

/// The best few columns of some plans, best first.
Matrix best_columns(const Matrix& unit, Vector values, Index count, Vector& kept) {
  values = values.array().isFinite().select(values, -1.0);
  std::vector<Index> order(static_cast<std::size_t>(unit.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) { return values(a) > values(b); });
  order.resize(static_cast<std::size_t>(std::min(count, unit.cols())));
  kept = values(order);
  return unit(Eigen::all, order);
}

void vary(Plans& plans) {
  Matrix elites = plans.draw();
  Vector values = plans.values(elites);
  while (plans.left() > 0) {
    Vector kept;
    elites = best_columns(elites, values, kStarts, kept);
    const Matrix unit = plans.vary(elites);
    Matrix all(unit.rows(), elites.cols() + unit.cols());
    all << elites, unit;
    values.resize(all.cols());
    values << kept, plans.values(unit);
    elites = all;
  }
}

/// The value and, by differences towards the middle of the box, its gradient: all plans in lock step.
double value_with_gradient(unsigned size, const double* x, double* gradient, void* data) {
  Plans& plans = *static_cast<Plans*>(data);
  const auto n = static_cast<Index>(size);
  const Eigen::Map<const Vector> at(x, n);
  Matrix unit = at.replicate(1, gradient != nullptr ? n + 1 : 1);
  Vector step(n);
  for (Index i = 0; i < n; ++i) {
    step(i) = at(i) > 0.5 ? -kStep : kStep;
    if (gradient != nullptr) {
      unit(i, i + 1) += step(i);
    }
  }
  Vector values = plans.values(unit);
  values = values.array().isFinite().select(values, -1.0);
  for (Index i = 0; gradient != nullptr && i < n; ++i) {
    gradient[i] = (values(i + 1) - values(0)) / step(i);
  }
  return values(0);
}

/// Sequential quadratic programming from the best of every generation drawn.
void refine(Plans& plans) {
  const auto n = static_cast<unsigned>(plans.size());
  while (plans.left() > 0) {
    const Matrix drawn = plans.draw();
    Vector unused;
    const Matrix starts = best_columns(drawn, plans.values(drawn), kStarts, unused);
    for (Index k = 0; k < kStarts && plans.left() > 0; ++k) {
      const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> search(nlopt_create(NLOPT_LD_SLSQP, n),
                                                                          nlopt_destroy);
      nlopt_set_lower_bounds1(search.get(), 0.0);
      nlopt_set_upper_bounds1(search.get(), 1.0);
      nlopt_set_max_objective(search.get(), value_with_gradient, &plans);
      nlopt_set_maxeval(search.get(), std::max(1, plans.left() / static_cast<int>(n + 1)));
      nlopt_set_xtol_rel(search.get(), 1e-3);
      nlopt_set_ftol_rel(search.get(), 1e-4);
      Vector x = starts.col(k);
      double value = 0.0;
      nlopt_optimize(search.get(), x.data(), &value);  // whatever it says: the recorder knows the best
    }
  }
}

using Method = std::pair<const char*, void (*)(Plans&)>;
constexpr std::array<Method, 3> kRivals{Method{"shooting", shoot}, Method{"stretches", vary},
                                        Method{"gradient", refine}};
using Marks = std::vector<std::pair<std::string, std::vector<Mark>>>;

Marks all_searches(const DecisionContext& context) {
  const std::vector<gp::PackedPosterior> uncertainty = plan::function_uncertainty(context);
  const plan::Reference reference = plan::make_reference(context, uncertainty);
  plan::ReferenceVariance criterion(reference);
  Marks result;
  {
    Recorder recorder(criterion);
    plan::search_plan({.context = context, .uncertainty = uncertainty, .criterion = recorder});
    result.emplace_back("elites", recorder.finish());
  }
  for (const auto& [name, search] : kRivals) {
    Recorder recorder(criterion);
    Plans plans(context, uncertainty, recorder);
    search(plans);
    result.emplace_back(name, recorder.finish());
  }
  return result;
}

/// The last mark within a budget, which `within` knows; none (nothing found) before the first.
template <typename Within>
Mark last_mark(const std::vector<Mark>& marks, const Within& within) {
  Mark last;
  for (const Mark& mark : marks) {
    last = within(mark) ? mark : last;
  }
  return last;
}

/// Shares by method and budget, over all models of a system.
using Shares = std::map<std::pair<std::string, std::string>, std::vector<double>>;

void report(const std::string& system, std::uint32_t trial, Index rows, const Marks& all, Shares& shares) {
  double best = 0.0;
  for (const auto& [method, marks] : all) {
    best = std::max(best, marks.back().value);
  }
  for (const auto& [method, marks] : all) {
    for (const int budget : kBudgets) {
      const Mark mark = last_mark(marks, [&](const Mark& m) { return m.evaluations <= budget; });
      fmt::print("{},{},{},{},{},{:.3f},{:.6g},{:.4f}\n", system, trial, rows, method, budget, mark.ms, mark.value,
                 mark.value / best);
      shares[{method, fmt::format("{:>6} evaluations", budget)}].push_back(mark.value / best);
    }
    for (const double ms : kMilliseconds) {
      const Mark mark = last_mark(marks, [&](const Mark& m) { return m.ms <= ms; });
      shares[{method, fmt::format("{:>6} ms", ms)}].push_back(mark.value / best);
    }
  }
  std::fflush(stdout);
}

void measure(const std::string& name, std::uint32_t trials, std::uint64_t seed) {
  const auto system = systems::make_system(name);
  const trials::Evaluation evaluation(*system);
  Shares shares;
  for (std::uint32_t number = 0; number < trials; ++number) {
    trials::TrialOptions options;
    options.explore.strategy = "auto";
    options.explore.seed = seed;
    options.explore.trial = number;
    options.explore.steps = kRows.back() - options.explore.initial;
    trials::Trial trial;
    const auto on_step = [&](const trials::TrialStep& step) {
      const Index rows = step.step + options.explore.initial;
      if (std::ranges::find(kRows, rows) != kRows.end()) {
        explore::OnlineModel online(trial.model, system->spec().control_box, options.explore);
        const Box box = online.scaled(system->spec().control_box);
        const ssm::Series history = online.scaled(ssm::Dataset{trial.data});
        DecisionContext context = online.context(box, &history, rows);
        context.planning.evaluations = kMost;
        context.planning = context.planning.with_horizon(box.low.size());
        report(name, number, rows, all_searches(context), shares);
      }
      return true;
    };
    trials::run_trial(*system, evaluation, options, on_step, trial);
  }
  for (auto& [key, values] : shares) {
    std::ranges::sort(values);
    fmt::print("# {}, {}, {}: median {:.3f}, lowest {:.3f} of {} models\n", name, key.first, key.second,
               trials::median(values), values.front(), values.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) {
    fmt::print(stderr, "usage: planners [TRIALS] [SEED]\n");
    return 2;
  }
  const auto trials = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 5);
  const auto seed = static_cast<std::uint64_t>(argc > 2 ? std::atoll(argv[2]) : 77);
  fmt::print("system,trial,rows,method,evaluations,ms,value,share\n");
  for (const char* name : {"cart-pole", "pendulum"}) {
    measure(name, trials, seed);
  }
  return 0;
}
