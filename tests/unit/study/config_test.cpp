#include "gpilot/study/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "support/message_of.hpp"
#include "support/small_config.hpp"

namespace gpilot::study {
namespace {

using ::gpilot::test::expect_contains;
using ::gpilot::test::kSmall;
using ::gpilot::test::kStates;
using ::gpilot::test::message_of;
using ::gpilot::test::parsed;
using ::gpilot::test::replaced;

std::string refusal(const std::string& text) {
  return message_of<InputError>([&] { parsed(text); });
}

/// The small file with one text replaced is refused with a message that begins so and contains that.
void expect_refused(const std::string& from, const std::string& to, const std::string& begin,
                    const std::string& contains = "") {
  const std::string message = refusal(replaced(kSmall, from, to));
  EXPECT_EQ(message.substr(0, begin.size()), begin) << message;
  expect_contains(message, contains);
}

void expect_refused_after(const std::string& added, const std::string& begin, const std::string& contains = "") {
  const std::string message = refusal(kSmall + added);
  EXPECT_EQ(message.substr(0, begin.size()), begin) << message;
  expect_contains(message, contains);
}

TEST(Config, DefaultsOfASmallFile) {
  const StudyConfig c = parse_config(kSmall, "some/where/bench.toml");
  EXPECT_EQ(c.name, "bench");
  EXPECT_EQ(c.explore.seed, 0u);
  EXPECT_EQ(c.explore.strategy, "auto");
  EXPECT_EQ(c.explore.initial, 5);
  EXPECT_EQ(c.explore.steps, 30);
  EXPECT_EQ(c.model.dt, 0.1);
  EXPECT_EQ(c.model.inputs, std::vector<std::string>{"torque"});
  EXPECT_EQ(c.model.states, std::vector<std::string>{"angle"});
  EXPECT_EQ(c.model.C, (Matrix{{1.0}}));
  EXPECT_EQ(c.box.low, Vector{{-1.0}});
  EXPECT_EQ(c.box.high, Vector{{2.5}});
  EXPECT_EQ(c.explore.slew(0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(c.explore.safe, Vector{{0.0}});
  EXPECT_FALSE(c.explore.limits.any());
  EXPECT_EQ(c.explore.limits.delta, 0.05);
  EXPECT_EQ(c.explore.first_training(), 5);
  EXPECT_TRUE(std::isnan(c.explore.until_sd));
  EXPECT_EQ(c.model.x0_mean.size(), 0);
  EXPECT_EQ(c.model.output_sd.size(), 0);
  const std::vector<ssm::Range> ranges{{"torque", -1.0, 2.5}, {"angle", -3.0, 3.0}};
  EXPECT_EQ(c.model.ranges, ranges);
  EXPECT_EQ(c.input_units, std::vector<std::string>{""});
  EXPECT_EQ(c.rig.command, "");
  EXPECT_EQ(c.rig.failures, 3);
}

TEST(Config, EveryKeyArrives) {
  const StudyConfig c = parsed(
      "study = {name='n', seed=7, dt=2, strategy='latmi', initial=3, steps=4, retrain_every=2, delta=0.1, "
      "keep_models=9}\n"
      "[[input]]\nname='a'\nunit='V'\nlow=1\nhigh=2\nslew=0.25\nsafe=1.5\n"
      "[[output]]\nname='p'\nunit='m'\nstate='x'\nlow=0\nhigh=1\nnoise_sd=0.5\nlimit_low=-1\nlimit_high=2\n"
      "[[output]]\nname='z'\n"
      "[[state]]\nname='x'\nstart=0.1\nstart_sd=0.2\nprocess_sd=0.3\n"
      "[[state]]\nname='v'\nderivative_of='x'\nlow=-4\nhigh=5\n"
      "[[state]]\nname='z'\n"
      "[model]\nkernel='matern32'\nlinear=false\nmean='zero'\ninducing=11\nnodes='qmc'\nnode_points=40\n"
      "[training]\nmethod='adam'\nrounds=1\ne_steps=2\nm_iterations=3\npolish=4\nrestarts=5\nnoise_path=6\nprocess_"
      "noise='small'\n"
      "horizon=7\n"
      "epochs=8\nsamples=9\nlearning_rate=0.5\ntied=true\nthreads=2\n"
      "[rig]\ncommand='run it'\nstart_s=1\ndeadline_s=2.5\nreset_s=3\nclose_s=4\nfailures=5\n");
  EXPECT_EQ(c.name, "n");
  EXPECT_EQ(c.explore.seed, 7u);
  EXPECT_EQ(c.explore.fit.seed, 7u);
  EXPECT_EQ(c.model.dt, 2.0);
  EXPECT_EQ(c.explore.strategy, "latmi");
  EXPECT_EQ(c.explore.initial, 3);
  EXPECT_EQ(c.explore.steps, 4);
  EXPECT_EQ(c.explore.retrain_every, 2);
  EXPECT_EQ(c.keep_models, 9);
  EXPECT_EQ(c.input_units.front(), "V");
  EXPECT_EQ(c.explore.slew, Vector{{0.25}});
  EXPECT_EQ(c.explore.safe, Vector{{1.5}});
  EXPECT_EQ(c.output_units, (std::vector<std::string>{"m", ""}));
  EXPECT_EQ(c.model.C, (Matrix{{1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}));
  EXPECT_EQ(c.model.output_sd(0), 0.5);
  EXPECT_EQ(c.explore.limits.low, (Vector{{-1.0, -std::numeric_limits<double>::infinity()}}));
  EXPECT_EQ(c.explore.limits.high, (Vector{{2.0, std::numeric_limits<double>::infinity()}}));
  EXPECT_EQ(c.explore.limits.delta, 0.1);
  EXPECT_EQ(c.explore.first_training(), 2);
  EXPECT_TRUE(std::isnan(c.model.output_sd(1)));
  EXPECT_EQ(c.model.x0_mean(0), 0.1);
  EXPECT_TRUE(std::isnan(c.model.x0_mean(2)));
  EXPECT_EQ(c.model.x0_sd(0), 0.2);
  EXPECT_EQ(c.model.process_sd(0), 0.3);
  EXPECT_EQ(c.model.derivatives, (std::vector<ssm::DerivativeOf>{{1, 0}}));
  EXPECT_EQ(c.model.ranges.back(), (ssm::Range{"v", -4.0, 5.0}));
  EXPECT_EQ(c.model.kernel, kernels::Kind::kMatern32);
  EXPECT_FALSE(c.model.linear_kernel);
  EXPECT_EQ(c.model.mean, ssm::MeanKind::kZero);
  EXPECT_EQ(c.model.inducing, 11);
  EXPECT_EQ(c.model.nodes, gp::NodeRule::kQuasiMonteCarlo);
  EXPECT_EQ(c.model.node_points, 40);
  EXPECT_EQ(c.explore.fit.method, inference::Method::kAdam);
  EXPECT_EQ(c.explore.fit.rounds, 1);
  EXPECT_EQ(c.explore.fit.e_steps, 2);
  EXPECT_EQ(c.explore.fit.m_iterations, 3);
  EXPECT_EQ(c.explore.fit.polish, 4);
  EXPECT_EQ(c.explore.fit.restarts, 5);
  EXPECT_EQ(c.explore.fit.noise_path, 6);
  EXPECT_EQ(c.explore.fit.process_noise, inference::ProcessNoise::kSmall);
  EXPECT_EQ(c.explore.fit.horizon, 7);
  EXPECT_EQ(c.explore.fit.epochs, 8);
  EXPECT_EQ(c.explore.fit.samples, 9);
  EXPECT_EQ(c.explore.fit.learning_rate, 0.5);
  EXPECT_TRUE(c.explore.fit.tied);
  EXPECT_EQ(c.explore.fit.threads, 2);
  EXPECT_EQ(c.rig.command, "run it");
  EXPECT_EQ(c.rig.start_s, 1.0);
  EXPECT_EQ(c.rig.deadline_s, 2.5);
  EXPECT_EQ(c.rig.reset_s, 3.0);
  EXPECT_EQ(c.rig.close_s, 4.0);
  EXPECT_EQ(c.rig.failures, 5);
}

TEST(Config, AnglesArrive) {
  EXPECT_TRUE(parsed(kSmall + kStates).model.angles.empty());
  const std::string angle = replaced(kStates, "name = \"angle\"", "name = \"angle\"\nangle = true");
  const StudyConfig c = parsed(kSmall + angle);
  EXPECT_EQ(c.model.angles, std::vector<std::string>{"angle"});
  EXPECT_EQ(differences(c, parsed(kSmall + kStates)), std::vector<std::string>{"state.angle.angle: true, was none"});
  expect_refused_after(kStates + "angle = true\n",
                       "f.toml:18: state.velocity.angle: 'velocity' is the derivative of 'angle', which has no turns");
  expect_refused_after(angle + "[model]\nmean = 'linear'\n",
                       "f.toml:20: model.mean: \"linear\", but the state 'angle' is an angle");
}

TEST(Config, OutputsFindTheirStates) {
  EXPECT_EQ(parsed(kSmall + kStates).model.C, (Matrix{{1.0, 0.0}}));
  const std::string y_angle = replaced(kSmall, "\"angle\"", "\"y_velocity\"");
  EXPECT_EQ(parsed(y_angle + kStates).model.C, (Matrix{{0.0, 1.0}}));
  const std::string other = replaced(kSmall, "\"angle\"", "\"phi\"");
  EXPECT_EQ(parsed(other + kStates).model.C, (Matrix{{1.0, 0.0}}));  // by position
  const std::string said = replaced(other, "\"phi\"", "\"phi\"\nstate = \"velocity\"");
  EXPECT_EQ(parsed(said + kStates).model.C, (Matrix{{0.0, 1.0}}));
}

TEST(Config, UnknownKeysAndSectionsNameTheNearest) {
  expect_refused("dt = 0.1", "dt = 0.1\nstartegy = 'random'", "f.toml:3: study.startegy: unknown key 'startegy'",
                 "did you mean 'strategy'?");
  expect_refused("high = 2.5", "hihg = 2.5", "f.toml:7: input.torque.hihg: unknown key", "did you mean 'high'?");
  expect_refused("[[output]]", "[[ouput]]", "f.toml:9: ouput: unknown section 'ouput'", "did you mean 'output'?");
  expect_refused_after("[model]\nkernl = 'se'\n", "f.toml:14: model.kernl: unknown key", "did you mean 'kernel'?");
  expect_refused("[study]", "speed = 3\n[study]", "f.toml:1: speed: unknown section 'speed'");
}

TEST(Config, WhatIsRequiredIsNamed) {
  expect_refused("dt = 0.1", "", "f.toml:1: study.dt: missing; expected a number");
  EXPECT_EQ(refusal("").substr(0, 26), "f.toml: study.dt: missing;");
  expect_refused("low = -1\n", "", "f.toml:4: input.torque.low: missing");
  expect_refused("name = \"torque\"\n", "", "f.toml:4: input[1].name: missing");
  expect_refused("\"torque\"", "\"\"", "f.toml:5: input[1].name: expected a name, not an empty text");
  const std::string no_input = refusal("[study]\ndt = 1\n[[output]]\nname = 'y'\n");
  expect_contains(no_input, "f.toml: input: missing; expected a section [[input]]");
  const std::string no_output = refusal("[study]\ndt = 1\n[[input]]\nname = 'u'\nlow = 0\nhigh = 1\n");
  expect_contains(no_output, "f.toml: output: missing; expected a section [[output]]");
  expect_refused("low = -1\n", "low = 1\n", "f.toml:4: input.torque.safe: missing; expected a value from 1 to 2.5");
}

TEST(Config, WrongTypesSayWhatStandsThere) {
  expect_refused("dt = 0.1", "dt = '0.1'", "f.toml:2: study.dt: expected a number", "not the text \"0.1\"");
  expect_refused("dt = 0.1", "dt = true", "f.toml:2: study.dt: expected a number", "not true");
  expect_refused("dt = 0.1", "dt = [1, 2]", "f.toml:2: study.dt: expected a number", "not an array of 2");
  expect_refused("dt = 0.1", "dt = {a = 1}", "f.toml:2: study.dt: expected a number", "not a table");
  expect_refused("dt = 0.1", "dt = 2020-01-01", "f.toml:2: study.dt: expected a number", "not a date or time");
  expect_refused("\"torque\"", "3", "f.toml:5: input[1].name: expected a text in quotes, not 3");
  expect_refused("dt = 0.1", "dt = 0.1\nsteps = 3.0", "f.toml:3: study.steps: expected a whole number from 1 to");
  expect_refused_after("[model]\nlinear = 1\n", "f.toml:14: model.linear: expected true or false, not 1");
  expect_refused("[[input]]", "[input]", "f.toml:4: input: expected [[input]] with two brackets");
  expect_refused_after("[[rig]]\n", "f.toml:13: rig: expected one section [rig], not several");
  EXPECT_EQ(refusal("study = 3\n"), "f.toml:1: study: expected one section [study], not 3");
  EXPECT_EQ(refusal("input = [1]\n[study]\ndt = 1").substr(0, 28), "f.toml:1: input: expected [[");
}

TEST(Config, ValuesOutOfRange) {
  expect_refused("dt = 0.1", "dt = 0", "f.toml:2: study.dt: expected a number between 1e-12 and 1e12, not 0");
  expect_refused("dt = 0.1", "dt = nan", "f.toml:2: study.dt: expected", "not nan");
  expect_refused("dt = 0.1", "dt = inf", "f.toml:2: study.dt: expected", "not inf");
  expect_refused("low = -1\n", "low = -inf\n", "f.toml:6: input.torque.low: expected", "not -inf");
  expect_refused("high = 2.5", "high = 1e300", "f.toml:7: input.torque.high: expected");
  expect_refused("high = 2.5", "high = -1",
                 "f.toml:7: input.torque.high: expected more than 'low', which is -1, not -1");
  expect_refused("high = 2.5", "high = 2.5\nslew = 0", "f.toml:8: input.torque.slew: expected");
  expect_refused("high = 2.5", "high = 2.5\nslew = nan", "f.toml:8: input.torque.slew: expected", "not nan");
  expect_refused("high = 2.5", "high = 2.5\nsafe = 3",
                 "f.toml:8: input.torque.safe: expected a value from -1 to 2.5, not 3");
  expect_refused("low = -3\n", "", "f.toml:11: output.angle.high: given without 'low'");
  expect_refused("low = -3\n", "low = -3\nlimit_low = 2\nlimit_high = 1\n",
                 "f.toml:13: output.angle.limit_high: expected more than 'limit_low', which is 2", "not 1");
  expect_refused("dt = 0.1\n", "dt = 0.1\ndelta = 1\n", "f.toml:3: study.delta: expected a probability", "not 1");
  expect_refused("dt = 0.1\n", "dt = 0.1\nuntil_sd = 0\n", "f.toml:3: study.until_sd: expected", "not 0");
  expect_refused("dt = 0.1\n", "dt = 0.1\ndelta = 0\n", "f.toml:3: study.delta: expected", "not 0");
  expect_refused("low = -3\n", "low = -3\nnoise_sd = -1\n", "f.toml:12: output.angle.noise_sd: expected", "not -1");
  for (const char* setting : {"initial = 1", "initial = 100000000", "steps = 0", "retrain_every = 0", "seed = -1",
                              "keep_models = 0", "steps = 9223372036854775807"}) {
    const std::string key(setting, std::string(setting).find(' '));
    expect_refused("dt = 0.1", std::string("dt = 0.1\n") + setting,
                   "f.toml:3: study." + key + ": expected a whole number from ");
  }
  for (const char* setting : {"rounds = -1", "restarts = 101", "epochs = 99999999999", "threads = 0", "samples = 0"}) {
    const std::string key(setting, std::string(setting).find(' '));
    expect_refused_after(std::string("[training]\n") + setting,
                         "f.toml:14: training." + key + ": expected a whole number from ");
  }
  expect_refused_after("[model]\ninducing = 100000",
                       "f.toml:14: model.inducing: expected a whole number from 0 to 500");
  expect_refused_after("[rig]\ndeadline_s = 0", "f.toml:14: rig.deadline_s: expected a number of seconds");
  expect_refused_after("[rig]\ncommand = '''a\nb'''", "f.toml:14: rig.command: expected a text of one line", "a?b");
  expect_refused_after("[rig]\ncommand = '" + std::string(5000, 'x') + "'",
                       "f.toml:14: rig.command: 5000 bytes, expected at most 4000");
}

TEST(Config, UnknownNamesOfThings) {
  expect_refused("dt = 0.1", "dt = 0.1\nstrategy = 'totmy'", "f.toml:3: study.strategy: unknown strategy 'totmy'",
                 "did you mean 'totmi'?");
  expect_refused_after("[model]\nkernel = 'matern33'", "f.toml:14: model.kernel: unknown kernel 'matern33'",
                       "did you mean 'matern32'?");
  expect_refused_after("[model]\nmean = 'identiti'", "f.toml:14: model.mean: unknown mean", "'identity'");
  expect_refused_after("[model]\nnodes = 'qcm'", "f.toml:14: model.nodes: unknown nodes", "'qmc'");
  expect_refused_after("[training]\nmethod = 'admam'", "f.toml:14: training.method: unknown method", "'adam'");
}

TEST(Config, NamesClash) {
  const std::string input = "[[input]]\nname = 'torque'\nlow = 0\nhigh = 1\n";
  expect_refused_after(input, "f.toml:14: input.torque.name: 'torque' is named twice");
  expect_refused_after("[[output]]\nname = 'torque'\n", "f.toml:14: output.torque.name: 'torque' is an input already");
  expect_refused_after("[[output]]\nname = 't'\n", "f.toml:14: output.t.name: 't' is the column of time");
  expect_refused_after("[[output]]\nname = ' y'\n", "f.toml:14: output. y.name: expected a name without spaces");
  std::string many;
  for (int i = 0; i < 20; ++i) {
    many += "[[output]]\nname = 'y" + std::to_string(i) + "'\n";
  }
  expect_refused_after(many, "f.toml:44: output.y15.name: expected at most 16 sections [[output]]");
}

TEST(Config, StatesThatMakeNoSense) {
  expect_refused_after("[[state]]\nname = 'v'\nderivative_of = 'angel'\n[[state]]\nname = 'angle'\n",
                       "f.toml:15: state.v.derivative_of: unknown state 'angel', did you mean 'angle'?");
  expect_refused_after(kStates + "[[state]]\nname = 'w'\nderivative_of = 'angle'\n",
                       "f.toml:20: state.w.derivative_of: 'angle' is given two derivatives");
  expect_refused_after("[[state]]\nname = 'angle'\nderivative_of = 'angle'\n",
                       "f.toml:15: state.angle.derivative_of: 'angle' would be a derivative of itself");
  expect_refused_after(replaced(kStates, "name = \"angle\"", "name = \"angle\"\nderivative_of = \"velocity\""),
                       "f.toml:18: state.velocity.derivative_of: 'velocity' would be a derivative of itself");
  expect_refused_after(replaced(kStates, "name = \"angle\"", "name = \"angle\"\nlow = 0\nhigh = 1"),
                       "f.toml:15: state.angle.low: the output 'angle' measures this state");
  expect_refused_after(kStates + "[[state]]\nname = 'h'\nlow = 1\nhigh = 0\n",
                       "f.toml:21: state.h.high: expected more than 'low'");
  expect_refused_after(kStates + "low = 0\n", "f.toml:18: state.velocity.low: given without 'high'");
  expect_refused("name = \"angle\"", "name = \"angle\"\nstate = \"x\"",
                 "f.toml:11: output.angle.state: there is no state 'x'");
  const std::string wrong = replaced(kSmall, "name = \"angle\"", "name = \"angle\"\nstate = \"velocty\"");
  expect_contains(refusal(wrong + kStates), "f.toml:11: output.angle.state: unknown state 'velocty', did you mean");
  const std::string twisted = replaced(kSmall, "name = \"angle\"", "name = \"angle\"\nstate = \"velocity\"");
  expect_contains(refusal(twisted + kStates),
                  "f.toml:11: output.angle.state: 'velocity', but there is a state 'angle'");
  expect_refused_after("[[output]]\nname = 'a'\n[[output]]\nname = 'b'\n" + kStates,
                       "f.toml:15: output.b.state: missing; expected the state that it measures");
  expect_refused_after("[[output]]\nname = 'a'\n[[output]]\nname = 'b'\nstate = 'angle'\n" + kStates,
                       "f.toml:13: output.a.state: missing; expected the state that it measures");
}

TEST(Config, ModelAndTrainingThatCannotBe) {
  expect_refused_after("[model]\ninducing = 0\nlinear = false\n", "f.toml:14: model.inducing: 0, with neither");
  EXPECT_NO_THROW(parsed(kSmall + "[model]\ninducing = 0\n"));
  std::string five;
  for (int i = 0; i < 5; ++i) {
    five += "[[state]]\nname = 'x" + std::to_string(i) + "'\n";
  }
  expect_refused_after(five + "[model]\nnodes = 'cubature5'\n",
                       "f.toml:24: model.nodes: cubature5 has negative weights");
  expect_refused_after("[model]\nnodes = 'gauss-hermite'\nnode_points = 1001\n",
                       "f.toml:15: model.node_points: expected");
  expect_refused_after("[training]\ntied = true\n", "f.toml:13: training: tied q(x) goes with method adam only");
}

TEST(Config, SyntaxErrorsNameLineAndColumn) {
  EXPECT_EQ(refusal("[study]\ndt = \n").substr(0, 29), "f.toml:2:6: not valid TOML: e");
  expect_contains(refusal("[study]\ndt = 1\ndt = 2\n"), "f.toml:3:");
  expect_contains(refusal("[study\n"), "f.toml:1:");
  expect_contains(refusal("[=\n"), "f.toml:1:2: not valid TOML");
  expect_contains(refusal("\xc3\xa9 = 1\n"), "f.toml:1:1: not valid TOML");  // a letter beyond ASCII
  expect_contains(refusal("a = \"\xff\xfe\"\n"), "not valid TOML");
  expect_contains(refusal(std::string("a = \"x\0y\"\n", 10)), "not valid TOML");
  expect_contains(refusal("[study]\nseed = 18446744073709551615\n"), "f.toml:2:");
}

TEST(Config, HostileTextsAreRefused) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) {
    deep += "a.";
  }
  expect_contains(refusal("[study]\n" + deep + "a = 1\n"), "f.toml:2: more than 64 dots in a line");
  expect_contains(refusal("[" + deep + "a]\n"), "f.toml:1: more than 64 dots in a line");
  expect_contains(refusal("a = " + std::string(100000, '[')), "f.toml:1:");
  expect_contains(refusal(std::string((1 << 20) + 1, '\n')), "bytes, expected a configuration of at most");
  std::string steps = "x = ";  // 15 arrays of tables in one another, each 60 tables deep
  for (int i = 0; i < 15; ++i) {
    steps += "[\n{" + deep.substr(0, 120) + "a = ";
  }
  expect_contains(refusal(steps), "not valid TOML");
  const std::string long_key = refusal(std::string(5000, 'k') + " = 1\n");
  EXPECT_LT(long_key.size(), 1000u);
  const std::string control = refusal("\"a\\nb\" = 1\n");
  EXPECT_EQ(control.find('\n'), std::string::npos);
  EXPECT_NO_THROW(parsed("# " + std::string(200, '.') + "\n" + kSmall));  // an ornament
}

/// Random damage ends in a configuration or in an InputError that names the file, never in anything else.
TEST(Config, DamagedFilesAreRefusedOrRead) {
  const std::string example = example_config("cart-pole");
  RandomStream random(1, Purpose::kNodes);
  int refused = 0;
  for (int k = 0; k < 3000; ++k) {
    std::string text = example;
    const auto pick = [&](std::size_t count) {
      return std::min(static_cast<std::size_t>(random.uniform() * static_cast<double>(count)), count - 1);
    };
    for (std::size_t n = 1 + pick(4); n > 0; --n) {
      const std::size_t at = pick(text.size());
      const std::string pieces[] = {"",  "\n",  "=",  "\"",    "[[",   "]", ".",
                                    "{", "nan", "-1", "1e400", "\xff", "#", "''' "};
      text.replace(at, pick(6), pieces[pick(std::size(pieces))]);
    }
    try {
      parsed(text).validate();
    } catch (const InputError& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).substr(0, 7), "f.toml:") << error.what();
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Config, LoadReadsFilesAndRefusesOthers) {
  const auto folder = std::filesystem::temp_directory_path() / ("gpilot-config-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string file = (folder / "a.toml").string();
  std::ofstream(file) << kSmall;
  EXPECT_EQ(load_config(file).name, "a");
  expect_contains(message_of<InputError>([&] { load_config(folder.string()); }),
                  "is a directory, expected a configuration");
  expect_contains(message_of<InputError>([&] { load_config(file + "x"); }), "cannot read the file");
  expect_contains(message_of<InputError>([&] { load_config("/dev/zero"); }), "more than 1048576 bytes");
  std::filesystem::remove_all(folder);
}

TEST(Config, PlausibleValuesFollowFromTheRange) {
  const auto plausible = [](const std::string& text) { return parsed(text).explore.plausible; };
  EXPECT_EQ(plausible(kSmall).low(0), -30.0);  // ten times -3 to 3
  EXPECT_EQ(plausible(kSmall).high(0), 30.0);
  EXPECT_EQ(plausible(replaced(kSmall, "low = -3\n", "low = 1\n")).low(0), -8.0);  // around its middle
  const Box given = plausible(kSmall + "plausible_low = -4\nplausible_high = 50\n");
  EXPECT_EQ(given.low(0), -4.0);
  EXPECT_EQ(given.high(0), 50.0);
  EXPECT_TRUE(std::isinf(plausible(replaced(kSmall, "low = -3\nhigh = 3\n", "")).high(0)));
  EXPECT_TRUE(std::isinf(plausible(kSmall + "[[state]]\nname = \"angle\"\nangle = true\n").low(0)));
  expect_contains(message_of<InputError>([&] { parsed(kSmall + "plausible_low = -2\n"); }),
                  "f.toml:13: output.angle.plausible_low: expected at most 'low', which is -3, not -2");
  expect_contains(message_of<InputError>([&] { parsed(kSmall + "plausible_high = 2.5\n"); }),
                  "output.angle.plausible_high: expected at least 'high'");
  // They may change while a study goes on.
  EXPECT_EQ(differences(parsed(kSmall + "plausible_high = 9\n"), parsed(kSmall)), std::vector<std::string>());
}

}  // namespace
}  // namespace gpilot::study
