#pragma once

#include <array>

#include "gpilot/explore/options.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/identify/identify.hpp"
#include "gpilot/inference/batches.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/options/field.hpp"
#include "gpilot/plan/planning.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/model.hpp"

/// The options of the library, each described once. An archive knows text, word, choice, seed, count, number, flag and
/// region, and optional_count and optional, which may be not given. Defaults are those of the struct.
namespace gpilot::options {

inline constexpr Field kSeed{
    .key = "seed",
    .meaning = "of all randomness",
    .more = "The same seed and measurements give the same controls, bit for bit",
};

inline constexpr std::array kMethods{inference::Method::kEm, inference::Method::kLbfgs, inference::Method::kAdam};
inline constexpr std::array kProcessNoises{inference::ProcessNoise::kAny, inference::ProcessNoise::kSmall};
inline constexpr std::array kMeans{ssm::MeanKind::kZero, ssm::MeanKind::kIdentity, ssm::MeanKind::kLinear};
inline constexpr std::array kNodeRules{
    gp::NodeRule::kAuto,      gp::NodeRule::kGaussHermite,    gp::NodeRule::kCubature3,
    gp::NodeRule::kCubature5, gp::NodeRule::kQuasiMonteCarlo, gp::NodeRule::kSamples};
inline constexpr std::array kStateKinds{identify::StateKind::kAuto, identify::StateKind::kLinear,
                                        identify::StateKind::kDelay, identify::StateKind::kSubspace};

/// How a system is explored; planning, region and training apart.
template <class Archive, class Explore>
void describe_exploring(Archive& a, Explore& e) {
  using Kind = Field::Kind;
  a.seed(kSeed, e.seed);
  a.word({.key = "strategy",
          .meaning = "how controls are chosen; we recommend auto",
          .more = "`auto`, `imse`, `local`, `infogain` and `entropy-plan` plan ahead ([planning](planning.md)), the "
                  "others do not ([criteria](math/criteria.md))"},
         e.strategy, plan::strategy_names());
  a.count({.key = "initial",
           .meaning = "measurements under random controls before the first choice",
           .more = "Limits hold there, too"},
          e.initial, 2, 10000);
  a.count({.key = "steps", .meaning = "controls to choose after them", .kind = Kind::kAside}, e.steps, 1, kMostSteps);
  a.count({.key = "retrain_every",
           .meaning = "steps between two trainings",
           .more = "In between a filter follows the state"},
          e.retrain_every, 1, kMostSteps);
  a.number(
      {.key = "delta",
       .meaning = "probability with which a plan may leave the limits of outputs, under the model",
       .more = "A control is chosen only if the next four steps of its plan keep to that, and its mean all of them"},
      e.limits.delta, NumberRule::kProbability);
  a.optional({.key = "until_sd",
              .meaning = "a run ends when the model's sd where it will be used falls below this",
              .hint = "0.05",
              .kind = Kind::kAside,
              .otherwise = "never",
              .more = "Scaled units: 1 is the standard deviation of a value spread evenly over its range. Only `auto`, "
                      "`imse` and `local` look at it: `gpilot run` refuses it with others"},
             e.until_sd, NumberRule::kPositive);
}

/// What is learned; columns and declarations about states apart.
template <class Archive, class Model>
void describe_dynamics(Archive& a, Model& m) {
  a.choice({.key = "kernel",
            .meaning = "how smooth the dynamics are: se, matern52, matern32, matern12",
            .more = "`fit --kernel` takes `+linear` for the linear part, and `linear` for it alone"},
           m.kernel, kernels::kKinds);
  a.flag({.key = "linear", .meaning = "a linear part beside the kernel", .option = kNoOption}, m.linear_kernel);
  a.choice({.key = "mean", .meaning = "what the dynamics are without data: zero, identity (nothing moves), linear"},
           m.mean, kMeans);
  a.count({.key = "inducing", .meaning = "inducing points; more take longer; 0 leaves the linear part alone"},
          m.inducing, 0, 500);
  a.choice({.key = "nodes",
            .meaning = "expectations over states: auto, gauss-hermite, cubature3, cubature5, qmc, samples",
            .more = "`fit --nodes samples:100` gives their number, too"},
           m.nodes, kNodeRules);
  a.count({.key = "node_points", .meaning = "their number; 0 = the rule's own", .option = kNoOption}, m.node_points, 0,
          kMostNodePoints);
}

/// How strategies plan.
template <class Archive, class Planning>
void describe_planning(Archive& a, Planning& o) {
  a.count({.key = "horizon",
           .meaning = "controls planned ahead; 0 = ten values in all",
           .more = "So 10 steps of one control, 5 of two; at least 3"},
          o.horizon, 0, 200);
  a.count({.key = "hold", .meaning = "steps for which a planned control is held", .option = "plan-hold"}, o.hold, 1,
          200);
  a.count({.key = "commit", .meaning = "controls of a plan that are applied before the next is made"}, o.commit, 1,
          200);
  a.count({.key = "evaluations", .meaning = "plans tried for one decision", .option = "plan-evaluations"},
          o.evaluations, 1, 1000000);
  a.number({.key = "milliseconds",
            .meaning = "at most this long for one decision; 0 = no clock",
            .unit = "ms",
            .option = "plan-ms",
            .more = "With a clock the same study may choose otherwise on another machine; the number of plans tried is "
                    "recorded. In a file `evaluations` bounds a decision as well; `--plan-ms` without "
                    "`--plan-evaluations` leaves it to the clock alone, and must be above 0"},
           o.milliseconds, NumberRule::kNotNegative);
  a.count(
      {.key = "draws", .meaning = "functions drawn from the model to plan under; 0 = its mean", .option = "plan-draws"},
      o.draws, 0, 200);
}

/// Where the model will be used.
template <class Archive, class Ranges>
void describe_region(Archive& a, Ranges& region) {
  a.region({.key = "region",
            .meaning = "where the model will be used, for auto, imse and local, as y=-0.5:0.5,u=-1:1",
            .hint = "\"\"",
            .otherwise = "where its runs lead",
            .more = "Names of states, outputs or inputs, in their units; what is not named has its range"},
           region);
}

/// How a model with declared states is trained.
template <class Archive, class Fit>
void describe_training(Archive& a, Fit& o) {
  a.choice({.key = "method", .meaning = "em (smoothing with quasi-Newton steps), lbfgs, adam"}, o.method, kMethods);
  a.count({.key = "rounds", .meaning = "of em: rounds of smoothing and learning"}, o.rounds, 0, 1000);
  a.count({.key = "e_steps", .meaning = "of em: smoothing steps in a round"}, o.e_steps, 1, 1000);
  a.count({.key = "m_iterations", .meaning = "of em: learning steps in a round"}, o.m_iterations, 1, 1000);
  a.count({.key = "polish", .meaning = "joint steps at the end"}, o.polish, 1, 100000);
  a.count({.key = "restarts", .meaning = "of em and lbfgs: different starts"}, o.restarts, 1, 100);
  a.count({.key = "noise_path",
           .meaning = "of em and lbfgs: how often the process noise is cut in search of better predictions"},
          o.noise_path, 0, 100);
  a.choice({.key = "process_noise",
            .meaning = "what is known about it: any, small (the rig is nearly deterministic)",
            .more = "A prior: data may say otherwise. `process_sd` of a state gives its value instead"},
           o.process_noise, kProcessNoises);
  a.count({.key = "horizon", .meaning = "steps ahead at which candidates are compared"}, o.horizon, 1, 1000);
  a.count({.key = "epochs", .meaning = "of adam: passes over the data"}, o.epochs, 1, 1000000);
  a.count({.key = "samples", .meaning = "of adam: sampled states of a row"}, o.samples, 1, 100000);
  a.number({.key = "learning_rate", .meaning = "of adam"}, o.learning_rate, NumberRule::kPositive);
  a.flag({.key = "tied", .meaning = "of adam: tie q(x) to the transition as the paper writes it"}, o.tied);
  a.count({.key = "threads", .meaning = "results do not depend on it", .kind = Field::Kind::kAside}, o.threads, 1,
          kMostThreads);
}

/// How a model with declared states is trained on parts of long recordings.
template <class Archive, class Batches>
void describe_batches(Archive& a, Batches& b) {
  a.count({.key = "rows",
           .meaning = "learn parameters from batches of so many rows, the function from all: for long data, in little "
                      "memory",
           .unit = "rows",
           .option = "batch"},
          b.rows, 10, 1000000000);
  a.count({.key = "length", .meaning = "rows of a sub-sequence", .unit = "rows", .option = "batch-length"}, b.length,
          10, 1000000000);
  a.count({.key = "count", .meaning = "batches", .option = "batches"}, b.count, 1, 10000);
}

/// How states are identified.
template <class Archive, class Identify>
void describe_identifying(Archive& a, Identify& o) {
  a.choice({.key = "structure", .meaning = "what the states are made of: auto, linear, delay, subspace"}, o.structure,
           kStateKinds);
  a.count({.key = "states", .meaning = "so many at most; past outputs and past inputs count"}, o.states, 1,
          ssm::kMaxStates);
  a.optional_count({.key = "order", .meaning = "states of the linear model", .hint = "2", .otherwise = "chosen"},
                   o.order, 1, ssm::kMaxStates);
  a.optional_count({.key = "dead_time",
                    .meaning = "rows by which inputs act later than the next one",
                    .hint = "1",
                    .unit = "rows",
                    .otherwise = "chosen"},
                   o.dead_time, 0, 1000);
  a.optional_count({.key = "output_lags",
                    .meaning = "rows of outputs in a delay state",
                    .hint = "2",
                    .option = kNoOption,
                    .otherwise = "chosen"},
                   o.output_lags, 1, ssm::kMaxStates);
  a.optional_count({.key = "input_lags",
                    .meaning = "rows of past inputs in a delay state",
                    .hint = "1",
                    .option = kNoOption,
                    .otherwise = "chosen"},
                   o.input_lags, 0, 1000);
  a.flag({.key = "offset_per_sequence",
          .meaning = "the outputs of every recording have an offset of their own",
          .option = "offset-per-recording"},
         o.offset_per_sequence);
  a.count({.key = "iterations", .meaning = "joint steps at the end", .option = "polish"}, o.iterations, 1, 100000);
  a.count({.key = "threads", .meaning = "results do not depend on it", .kind = Field::Kind::kAside}, o.threads, 1,
          kMostThreads);
  a.seed(kSeed, o.seed);
}

}  // namespace gpilot::options
