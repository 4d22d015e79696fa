/// Bounds and slew limits over many asks of random studies, for docs/results/reliability.md.
///
///   asks DIRECTORY [ASKS] [SEED]     fails at the first control that breaks a limit, naming the configuration
///
/// A study has 1 to 3 inputs with boxes, slew limits (none, tiny, wider than the box) and safe controls, any strategy,
/// and a rig that does its worst: it applies other controls than those asked for, also far outside the box, fails,
/// begins new sequences, brings recordings, and stops in between. Studies are made in DIRECTORY (best one in memory)
/// and removed again.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpilot/core/random.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/study/study.hpp"

namespace {

using namespace gpilot;
using study::StepStatus;
using study::Study;

constexpr int kAsksOfAStudy = 40;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

enum class Event {
  kAsk,
  kRandom,
  kChosen,
  kSuggest,
  kSlewLimited,  ///< an input whose slew limit is narrower than its box
  kAtLimit,      ///< one whose control took all that its slew limit allows
  kOtherInside,
  kOutside,
  kFarOutside,  ///< by more than the slew: the nearest end of the box is asked
  kGivenUp,
  kWithdrawn,
  kSafe,
  kSequence,
  kImport,
  kReopened,
  kTraining,
  kCount
};
constexpr std::array<const char*, static_cast<std::size_t>(Event::kCount)> kEvents{
    "asks",
    "of them in the random phase",
    "of them chosen by a strategy",
    "suggestions that were checked, too",
    "inputs asked under a slew limit below the width of the box",
    "of them at the limit",
    "steps applied otherwise, inside the box",
    "steps applied outside the box",
    "inputs asked after that, with the box beyond the slew limit",
    "steps failed, unsafe or unknown",
    "steps withdrawn",
    "steps under the safe control",
    "sequences begun by a reset or after a pause",
    "recordings imported",
    "studies closed and opened again",
    "trainings",
};

std::array<std::atomic<long>, static_cast<std::size_t>(Event::kCount)> counts{};

void count(Event event, long by = 1) {
  counts[static_cast<std::size_t>(event)] += by;
}

class RandomStudy {
 public:
  RandomStudy(const std::string& directory, std::uint64_t seed, std::uint32_t number)
      : random_(seed, Purpose::kTest, 0, number), path_(fmt::format("{}/asks-{}.study", directory, number)) {
    text_ = random_configuration(number);
    study_ = std::make_unique<Study>(Study::create(path_, text_, fmt::format("configuration {}", number)));
    previous_ = study_->config().safe;
    state_ = Vector::Zero(outputs());
  }

  ~RandomStudy() {
    study_.reset();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  RandomStudy(const RandomStudy&) = delete;
  RandomStudy& operator=(const RandomStudy&) = delete;
  RandomStudy(RandomStudy&&) = delete;
  RandomStudy& operator=(RandomStudy&&) = delete;

  void explore() {
    for (int k = 0; k < kAsksOfAStudy; ++k) {
      disturb();
      if (chance(0.02)) {
        check(study_->suggest());
        count(Event::kSuggest);
      }
      const study::Step step = study_->ask();
      check(step);
      count(Event::kAsk);
      count(step.choice.phase == plan::Phase::kChosen ? Event::kChosen : Event::kRandom);
      answer(step);
    }
    count(Event::kTraining, static_cast<long>(study_->trainings().size()));
  }

 private:
  bool chance(double probability) { return random_.uniform() < probability; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.index(static_cast<Index>(n))); }
  Index outputs() const { return static_cast<Index>(study_->config().model.outputs.size()); }

  std::string random_input(std::size_t p) {
    const double width = std::pow(10.0, random_.uniform(-3.0, 3.0));
    const double low = chance(0.5) ? -0.5 * width : random_.uniform(-5.0, 5.0) * width;
    const double high = low + width;
    std::string text = fmt::format("[[input]]\nname = \"u{}\"\nlow = {}\nhigh = {}\n", p, low, high);
    if (!(low <= 0.0 && high >= 0.0) || chance(0.7)) {
      const std::array<double, 3> safe{low, high, low + random_.uniform() * (high - low)};
      text += fmt::format("safe = {}\n", safe[below(safe.size())]);
    }
    if (chance(0.75)) {
      const std::array<double, 4> slews{1e-12, width * random_.uniform(1e-9, 1e-3), width * random_.uniform(0.01, 0.6),
                                        width * random_.uniform(0.6, 3.0)};
      text += fmt::format("slew = {}\n", std::max(1e-12, slews[chance(0.2) ? below(2) : 2 + below(2)]));
    }
    return text;
  }

  std::string random_configuration(std::uint32_t number) {
    constexpr std::array kKernels{"se", "matern52", "matern32", "matern12"};
    const std::vector<std::string> strategies = plan::strategy_names();
    std::string text = fmt::format(
        "[study]\ndt = 0.1\nseed = {}\nstrategy = \"{}\"\ninitial = {}\nretrain_every = {}\nkeep_models = 1\n", number,
        strategies[below(strategies.size())], 2 + below(12), 5 + below(40));
    for (std::size_t p = 0, inputs = 1 + below(3); p < inputs; ++p) {
      text += random_input(p);
    }
    for (std::size_t e = 0, channels = 1 + (chance(0.2) ? 1 : 0); e < channels; ++e) {
      text += fmt::format("[[output]]\nname = \"y{}\"\n{}", e, chance(0.7) ? "low = -1\nhigh = 1\n" : "");
    }
    text += fmt::format("[model]\nkernel = \"{}\"\ninducing = {}\n", kKernels[below(kKernels.size())], 2 + below(4));
    text += "[training]\nrounds = 1\npolish = 2\nnoise_path = 0\n";
    return text;
  }

  /// What may happen between two steps.
  void disturb() {
    if (chance(0.04)) {
      const bool reset = chance(0.5);
      study_->new_sequence(reset ? study::SequenceOrigin::kReset : study::SequenceOrigin::kBroken, {}, "test");
      begin_anew();
      count(Event::kSequence);
    }
    if (chance(0.01)) {
      const Index rows = 3;
      ssm::Sequence recording{random_.normal_matrix(rows, previous_.size()), random_.normal_matrix(rows, outputs())};
      recording.broad_start = true;
      study_->import(recording);
      begin_anew();
      count(Event::kImport);
    }
    if (study_->current_sequence() != nullptr && chance(0.02)) {
      study_->add_safe_step(study_->config().safe, measured(study_->config().safe), "test");
      previous_ = study_->config().safe;
      count(Event::kSafe);
    }
    if (chance(0.01)) {
      study_.reset();
      study_ = std::make_unique<Study>(Study::open(path_));
      count(Event::kReopened);
    }
  }

  void begin_anew() {
    previous_ = study_->config().safe;
    state_.setZero();
  }

  void answer(const study::Step& step) {
    if (chance(0.04)) {
      constexpr std::array kStatus{StepStatus::kFailed, StepStatus::kUnsafe, StepStatus::kUnknown};
      study_->fail(step.id, kStatus[below(kStatus.size())], "test");
      begin_anew();
      count(Event::kGivenUp);
    } else if (chance(0.02)) {
      study_->withdraw(step.id, "test");
      count(Event::kWithdrawn);
    } else {
      const Vector applied = what_is_applied(step.choice.control);
      study_->tell(step.id, measured(applied), applied);
      previous_ = applied;
    }
  }

  Vector what_is_applied(const Vector& control) {
    const Box& box = study_->config().box;
    const Vector width = box.high - box.low;
    Vector applied = control;
    if (chance(0.08)) {
      for (Index p = 0; p < control.size(); ++p) {
        applied(p) = random_.uniform(box.low(p), box.high(p));
      }
      count(Event::kOtherInside);
    } else if (chance(0.06)) {
      const double how_far = chance(0.1) ? 1e3 : 1.0;
      for (Index p = 0; p < control.size(); ++p) {
        applied(p) += how_far * width(p) * random_.normal();
      }
      const bool outside = (applied.array() < box.low.array()).any() || (applied.array() > box.high.array()).any();
      count(outside ? Event::kOutside : Event::kOtherInside);
    }
    return applied;
  }

  /// The rig: a state for each output that all controls move.
  Vector measured(const Vector& control) {
    const Box& box = study_->config().box;
    const double push = (2.0 * (control - box.low).cwiseQuotient(box.high - box.low).array() - 1.0).mean();
    Vector y(state_.size());
    for (Index e = 0; e < state_.size(); ++e) {
      state_(e) = 0.8 * std::sin(state_(e) + static_cast<double>(e)) + 0.4 * std::tanh(push);
      y(e) = chance(0.05) ? kNaN : state_(e) + 0.01 * random_.normal();
    }
    return y;
  }

  void check(const study::Step& step) {
    const study::StudyConfig& config = study_->config();
    for (Index p = 0; p < step.choice.control.size(); ++p) {
      const double u = step.choice.control(p);
      const double low = config.box.low(p);
      const double high = config.box.high(p);
      const double before = previous_(p);
      const double slew = config.explore.slew(p);
      if (!(u >= low && u <= high)) {
        violated(step, p, "outside the box");
      }
      if (!std::isfinite(slew)) {
        continue;
      }
      // The box comes first: from farther outside than the slew limit, the way back is its nearest end.
      const double nearest = std::min(std::max(before, low), high);
      if (std::abs(before - nearest) > slew) {
        count(Event::kFarOutside);
        if (u != nearest) {
          violated(step, p, "not the end of the box nearest to what was applied");
        }
      } else if (std::abs(u - before) > slew) {
        violated(step, p, "farther than the slew limit from what was applied");
      }
      count(Event::kSlewLimited, slew < high - low ? 1 : 0);
      count(Event::kAtLimit, slew < high - low && std::abs(u - before) >= (1.0 - 1e-9) * slew ? 1 : 0);
    }
  }

  [[noreturn]] void violated(const study::Step& step, Index p, const char* how) const {
    throw std::runtime_error(fmt::format("step {}, input {}: {} is {} ({} before)\n{}", step.id, p,
                                         step.choice.control(p), how, previous_(p), text_));
  }

  RandomStream random_;
  std::string path_;
  std::string text_;
  std::unique_ptr<Study> study_;
  Vector previous_;  ///< where the control is: what was applied last in this sequence, or the safe one
  Vector state_;     ///< of the rig
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fmt::print(stderr, "usage: asks DIRECTORY [ASKS] [SEED]\n");
    return 2;
  }
  const long asks = argc > 2 ? std::atol(argv[2]) : 100'000;
  const auto seed = static_cast<std::uint64_t>(argc > 3 ? std::atol(argv[3]) : 0);
  const auto studies = static_cast<std::uint32_t>((asks + kAsksOfAStudy - 1) / kAsksOfAStudy);
  try {
    oneapi::tbb::parallel_for(std::uint32_t{0}, studies,
                              [&](std::uint32_t number) { RandomStudy(argv[1], seed, number).explore(); });
  } catch (const std::exception& error) {
    fmt::print("FAILED: {}\n", error.what());
    return 1;
  }
  fmt::print("| | number |\n|---|---:|\n| configurations, each a study | {} |\n", studies);
  for (std::size_t e = 0; e < kEvents.size(); ++e) {
    fmt::print("| {} | {} |\n", kEvents[e], counts[e].load());
  }
  fmt::print("| **controls that broke a limit** | **0** |\n");
  return 0;
}
