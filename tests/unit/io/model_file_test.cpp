#include "gpilot/io/model_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/next_state.hpp"
#include "support/message_of.hpp"
#include "support/random_model.hpp"

namespace gpilot::io {
namespace {

using ::gpilot::test::message_of;
using ::gpilot::test::random_model;
using nlohmann::ordered_json;
using Pointer = ordered_json::json_pointer;

bool same_bits(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    return false;
  }
  for (Index i = 0; i < a.size(); ++i) {
    const double x = a.data()[i];
    const double y = b.data()[i];
    if (std::bit_cast<std::uint64_t>(x) != std::bit_cast<std::uint64_t>(y) && !(std::isnan(x) && std::isnan(y))) {
      return false;
    }
  }
  return true;
}

void expect_same(const ssm::Dynamics& a, const ssm::Dynamics& b) {
  EXPECT_EQ(a.structure.inducing, b.structure.inducing);
  EXPECT_EQ(a.structure.kinematics, b.structure.kinematics);
  EXPECT_EQ(a.structure.angles, b.structure.angles);
  EXPECT_TRUE(same_bits(a.structure.x0_mean, b.structure.x0_mean));
  EXPECT_TRUE(same_bits(a.structure.x0_sd, b.structure.x0_sd));
  EXPECT_TRUE(same_bits(a.parameters.log_variance, b.parameters.log_variance));
  EXPECT_TRUE(same_bits(a.parameters.log_length_scales, b.parameters.log_length_scales));
  EXPECT_TRUE(same_bits(a.parameters.log_linear_sd, b.parameters.log_linear_sd));
  EXPECT_TRUE(same_bits(a.parameters.mean_weights, b.parameters.mean_weights));
  EXPECT_TRUE(same_bits(a.parameters.Z, b.parameters.Z));
  EXPECT_TRUE(same_bits(a.parameters.log_q, b.parameters.log_q));
  EXPECT_TRUE(same_bits(a.parameters.log_r, b.parameters.log_r));
  EXPECT_TRUE(same_bits(a.parameters.C, b.parameters.C));
  EXPECT_TRUE(same_bits(a.parameters.d, b.parameters.d));
  ASSERT_EQ(a.weights.size(), b.weights.size());
  for (std::size_t g = 0; g < a.weights.size(); ++g) {
    EXPECT_TRUE(same_bits(a.weights[g].mu, b.weights[g].mu));
    EXPECT_TRUE(same_bits(a.weights[g].Sigma, b.weights[g].Sigma));
  }
}

std::string refusal(const std::string& text) {
  return message_of<InputError>([&] { parse_model(text, "m.json"); });
}

/// The refusal of a model's file after `damage` was done to its JSON.
template <class Damage>
std::string refusal_of(Damage damage) {
  ordered_json json = ordered_json::parse(format_model(random_model()));
  damage(json);
  return refusal(json.dump());
}

void expect_contains(const std::string& message, const std::string& text) {
  EXPECT_NE(message.find(text), std::string::npos) << message << "\n  lacks: " << text;
}

TEST(ModelFile, EveryBitComesBack) {
  for (const bool kinematics : {false, true}) {
    ssm::Model model = random_model(kinematics, kinematics);
    model.gp.support = Vector::LinSpaced(static_cast<Index>(model.gp.structure.gp_rows().size()), 0.1, 0.3);
    model.report.held_out = {.model = {0.1, 0.2}, .linear = {0.3, 0.4}, .hold = {0.5, 1.0 / 3.0}, .runs = 7};
    model.gp.parameters.Z(0, 0) = -0.0;
    model.gp.parameters.Z(1, 0) = std::numeric_limits<double>::denorm_min();
    model.gp.parameters.Z(2, 0) = 0.1 + 0.2;
    model.gp.parameters.Z(3, 0) = std::numeric_limits<double>::max();
    const ssm::Model read = parse_model(format_model(model), "m.json");
    expect_same(model.gp, read.gp);
    expect_same(model.linear, read.linear);
    EXPECT_EQ(model.spec.derivatives, read.spec.derivatives);
    EXPECT_EQ(model.spec.angles, read.spec.angles);
    EXPECT_EQ(model.spec.ranges, read.spec.ranges);
    EXPECT_EQ(model.spec.states, read.spec.states);
    EXPECT_TRUE(same_bits(model.spec.x0_mean, read.spec.x0_mean));
    EXPECT_EQ(read.spec.x0_sd.size(), 0);
    EXPECT_TRUE(same_bits(model.scaling.state_scale, read.scaling.state_scale));
    EXPECT_TRUE(same_bits(model.states.m, read.states.m));
    EXPECT_TRUE(same_bits(model.states.A, read.states.A));
    EXPECT_TRUE(same_bits(model.states.S_chol, read.states.S_chol));
    EXPECT_TRUE(same_bits(model.output_mean, read.output_mean));
    EXPECT_EQ(model.starts, read.starts);
    EXPECT_EQ(model.seed, read.seed);
    EXPECT_EQ(model.version, read.version);
    EXPECT_EQ(model.report.trace, read.report.trace);
    EXPECT_TRUE(same_bits(model.gp.support, read.gp.support));
    EXPECT_EQ(model.report.held_out.model, read.report.held_out.model);
    EXPECT_EQ(model.report.held_out.hold, read.report.held_out.hold);
    EXPECT_EQ(model.report.held_out.runs, 7);
    EXPECT_EQ(model.report.candidates.size(), read.report.candidates.size());
    EXPECT_EQ(model.report.evaluations, read.report.evaluations);
    EXPECT_EQ(format_model(model), format_model(read));
  }
}

TEST(ModelFile, LoadedModelPredictsTheSameBits) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("gpilot_model" + std::to_string(::getpid()) + ".json")).string();
  const ssm::Model model = random_model();
  save_model(path, model);
  const ssm::Model read = load_model(path);
  std::filesystem::remove(path);
  const Matrix x = Matrix::Random(50, 2);
  const Matrix c = Matrix::Random(50, 1);
  const ssm::NextState a = ssm::next_state(model, x, c);
  const ssm::NextState b = ssm::next_state(read, x, c);
  EXPECT_TRUE(same_bits(a.mean, b.mean));
  EXPECT_TRUE(same_bits(a.sd, b.sd));
}

TEST(ModelFile, WallClockTimesAreLeftOut) {
  ssm::Model model = random_model();
  const std::string text = format_model(model);
  model.report.seconds = 17.0;
  EXPECT_EQ(text, format_model(model));
}

TEST(ModelFile, NotFiniteReportNumbersReadAsNaN) {
  ssm::Model model = random_model();
  model.report.candidates[0].bound = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(parse_model(format_model(model), "m.json").report.candidates[0].bound));
}

TEST(ModelFile, NamesThatAreNotUtf8AreRefused) {
  ssm::Model model = random_model();
  model.spec.outputs[0] =
      "gr\xF6\xDF"
      "e";
  expect_contains(message_of<InputError>([&] { format_model(model); }), "UTF-8");
}

TEST(ModelFile, TruncatedFilesAreRefused) {
  const std::string text = format_model(random_model());
  ASSERT_GT(text.size(), 5000U);
  for (std::size_t size = 0; size + 2 < text.size(); size += 97) {
    expect_contains(refusal(text.substr(0, size)), "m.json: ");
  }
  expect_contains(refusal(text.substr(0, 1000)), "it ends at byte 1000");
}

/// Any byte may be anything: the file is read or refused, nothing else.
TEST(ModelFile, OverwrittenBytesNeverCrash) {
  const std::string text = format_model(random_model());
  const std::string bytes("\0\"{}[],:-9.e\xFFn", 14);
  for (std::size_t at = 0; at < text.size(); at += 41) {
    std::string damaged = text;
    damaged[at] = bytes[at % bytes.size()];
    try {
      parse_model(damaged, "m.json");
    } catch (const InputError&) {
    }
  }
}

/// Of a file's numbers any digit may change: none is taken for what was stored.
TEST(ModelFile, ChangedDigitsAreTold) {
  const std::string text = format_model(random_model());
  int digits = 0;
  for (std::size_t at = text.find("\"spec\""); at < text.size(); at += 7) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) {
      continue;
    }
    std::string damaged = text;
    damaged[at] = text[at] == '4' ? '5' : '4';
    try {
      // The last of very many digits may mean nothing.
      EXPECT_EQ(format_model(parse_model(damaged, "m.json")), text) << "byte " << at;
    } catch (const InputError& error) {
      expect_contains(error.what(), "m.json: ");
    }
    ++digits;
  }
  EXPECT_GT(digits, 200);
  ordered_json json = ordered_json::parse(text);
  json["spec"]["dt"] = json["spec"]["dt"].get<double>() + 1.0;
  expect_contains(refusal(json.dump()), "a value in the file is not what was stored");
}

TEST(ModelFile, LayoutDoesNotCount) {
  const std::string text = format_model(random_model());
  EXPECT_EQ(format_model(parse_model(ordered_json::parse(text).dump(), "m.json")), text);
  EXPECT_EQ(format_model(parse_model(nlohmann::json::parse(text).dump(1), "m.json")), text);  // keys in another order
}

TEST(ModelFile, FilesFromBeforeChecksumsOpen) {
  const std::string text = format_model(random_model());
  ordered_json json = ordered_json::parse(text);
  json.erase("checksum");
  expect_contains(refusal(json.dump()), "checksum");
  json["checksum"] = nullptr;  // changed on purpose
  EXPECT_NO_THROW(parse_model(json.dump(), "model.json"));
  json["version"] = 3;
  EXPECT_EQ(format_model(parse_model(json.dump(), "m.json")), text);
}

TEST(ModelFile, OtherFilesAreRefused) {
  expect_contains(refusal(""), "empty");
  expect_contains(refusal(" \n\n"), "blank");
  expect_contains(refusal("t,c,y\n0,1,2\n"), "looks like a CSV file (it begins 't,c,y')");
  expect_contains(refusal("\x89PNG\r\n"), "not a gpilot model");
  expect_contains(refusal("[1, 2]"), "not a gpilot model");
  expect_contains(refusal("{\"a\": 1}"), "no \"format\": \"gpilot-model\"");
  expect_contains(refusal("{\"a\": 1, }"), "not valid JSON at byte 10 of 10");
  expect_contains(message_of<InputError>([] { load_model("nowhere/m.json"); }), "cannot read the file");
  expect_contains(message_of<InputError>([] { load_model("."); }), "is a directory");
}

TEST(ModelFile, NewerVersionsAreRefused) {
  expect_contains(refusal_of([](auto& json) { json["version"] = 7; }),
                  "written by a newer gpilot (format version 7, this program reads up to 4)");
  expect_contains(refusal_of([](auto& json) { json["version"] = "1"; }), "version: expected a whole number");
  expect_contains(refusal_of([](auto& json) { json.erase("version"); }), "version");
}

/// Calls visit(pointer) for every value of the file, of an array for its first two entries.
template <class Visit>
void for_each_pointer(const ordered_json& value, const Pointer& at, const Visit& visit) {
  if (!at.empty()) {
    visit(at);
  }
  if (!value.is_structured()) {
    return;
  }
  std::size_t i = 0;
  for (const auto& [key, child] : value.items()) {
    if (value.is_array() && i > 1) {
      break;  // further entries are like the first ones
    }
    for_each_pointer(child, value.is_array() ? at / i : at / key, visit);
    ++i;
  }
}

/// Keys that came with versions 2 to 4.
bool is_newer_than_version_1(const Pointer& at) {
  const std::set<std::string> keys{"dead_time",   "input_lags",     "spread",       "support",    "held_out",
                                   "state_names", "shifts",         "linear_rows",  "validation", "reason",
                                   "calibration", "angles",         "cyclic",       "depends_on", "odd",
                                   "centres",     "control_affine", "coefficients", "physics",    "warnings"};
  return keys.contains(at.back()) || at.to_string() == "/report/structure" || at.to_string() == "/report/parameters";
}

TEST(ModelFile, EveryMissingKeyIsNamed) {
  const ordered_json whole = ordered_json::parse(format_model(random_model()));
  int keys = 0;
  for_each_pointer(whole, Pointer(), [&](const Pointer& at) {
    ordered_json damaged = whole;
    ordered_json& parent = damaged.at(at.parent_pointer());
    if (parent.is_object()) {
      parent.erase(at.back());
      if (is_newer_than_version_1(at)) {
        damaged.erase("checksum");
        damaged["version"] = 3;
        parse_model(damaged.dump(), "m.json");  // files of version 1 lack it
        return;
      }
      expect_contains(refusal(damaged.dump()), at.back());
      ++keys;
    }
  });
  EXPECT_GT(keys, 80);
}

TEST(ModelFile, EveryWrongTypeIsNamed) {
  const ordered_json whole = ordered_json::parse(format_model(random_model()));
  for_each_pointer(whole, Pointer(), [&](const Pointer& at) {
    for (const ordered_json& wrong : {ordered_json(true), ordered_json("text"), ordered_json::object(),
                                      ordered_json(-1.5e300), ordered_json::array({ordered_json::array()})}) {
      ordered_json damaged = whole;
      if (damaged.at(at).type() == wrong.type() || (damaged.at(at).is_null() && wrong.is_number())) {
        continue;  // may be right
      }
      damaged.at(at) = wrong;
      expect_contains(refusal(damaged.dump()), "m.json: ");
    }
  });
}

TEST(ModelFile, WrongShapesAreNamed) {
  expect_contains(refusal_of([](auto& j) { j["gp"]["parameters"]["Z"].erase(0); }),
                  "gp.parameters.Z: expected an array of 4 rows, found an array of 3");
  expect_contains(refusal_of([](auto& j) { j["gp"]["parameters"]["Z"][3].push_back(1.0); }),
                  "gp.parameters.Z[3]: expected an array of 3 numbers, found an array of 4");
  expect_contains(refusal_of([](auto& j) { j["gp"]["weights"][0]["mu"].erase(0); }), "gp.weights[0].mu");
  expect_contains(refusal_of([](auto& j) { j["gp"]["weights"].push_back(1); }), "gp.weights: expected an array of 1");
  expect_contains(refusal_of([](auto& j) { j["states"]["A"][1].erase(0); }), "states.A[1]");
  expect_contains(refusal_of([](auto& j) { j["starts"] = {0, 1, 11}; }), "starts: expected 0, then");
  expect_contains(refusal_of([](auto& j) { j["starts"] = ordered_json::array(); }), "starts: expected 0, then");
  expect_contains(refusal_of([](auto& j) { j["starts"] = {0, std::numeric_limits<std::int64_t>::max()}; }), "states.m");
  expect_contains(refusal_of([](auto& j) { j["gp"]["structure"]["states"] = 3; }), "whole number from 2 to 2, found 3");
  expect_contains(refusal_of([](auto& j) { j["gp"]["structure"]["inducing"] = 5; }), "parameters.Z");
  expect_contains(refusal_of([](auto& j) { j["gp"]["structure"]["inducing"] = 1000000; }), "structure.inducing");
  expect_contains(refusal_of([](auto& j) { j["spec"]["states"].push_back("w"); }), "m.json: ");
}

TEST(ModelFile, WrongValuesAreNamed) {
  expect_contains(refusal_of([](auto& j) { j["gp"]["parameters"]["log_q"][1] = nullptr; }),
                  "gp.parameters.log_q[1]: expected a logarithm between -230 and 230, found null");
  expect_contains(refusal_of([](auto& j) { j["gp"]["parameters"]["log_q"][1] = 1e9; }), "log_q[1]");
  expect_contains(refusal_of([](auto& j) { j["scaling"]["state_scale"][0] = 0.0; }), "state_scale[0]: expected a pos");
  expect_contains(refusal_of([](auto& j) { j["states"]["S_chol"][0][0] = -1.0; }), "positive diagonal in block 0");
  expect_contains(refusal_of([](auto& j) { j["gp"]["weights"][0]["Sigma"][0][0] = -1.0; }), "weights[0].Sigma");
  expect_contains(refusal_of([](auto& j) { j["spec"]["kernel"] = "sse"; }), "spec.kernel: unknown kernel 'sse'");
  expect_contains(refusal_of([](auto& j) { j["spec"]["mean"] = "\x1b[2J" + std::string(1000, 'x'); }),
                  "spec.mean: unknown mean function '?[2Jxxx");
  expect_contains(refusal_of([](auto& j) { j["report"]["status"] = "convergd"; }),
                  "report.status: unknown status of a training 'convergd', did you mean 'converged'?");
  expect_contains(refusal_of([](auto& j) { j["seed"] = -1; }), "seed: expected");
  expect_contains(refusal_of([](auto& j) { j["spec"]["derivatives"][0]["position"] = 1; }), "in a circle");
  expect_contains(refusal_of([](auto& j) { j["spec"]["derivatives"][0]["position"] = 2; }),
                  "spec.derivatives[0].position: expected a whole number from 0 to 1, found 2");
  expect_contains(refusal_of([](auto& j) { j["gp"]["structure"]["kinematics"][0]["position"] = 1; }), "kinematics");
  const auto angle_refusal = [](auto damage) {
    ordered_json json = ordered_json::parse(format_model(random_model(true, true)));
    damage(json);
    return refusal(json.dump());
  };
  expect_contains(angle_refusal([](auto& j) { j["spec"]["angles"][0] = "tth"; }), "angles: unknown state 'tth'");
  expect_contains(angle_refusal([](auto& j) { j["gp"]["structure"]["angles"][0]["state"] = 2; }),
                  "gp.structure.angles[0].state: expected a whole number from 0 to 1, found 2");
  expect_contains(angle_refusal([](auto& j) { j["gp"]["structure"]["angles"][0]["omega"] = 0.0; }),
                  "gp.structure.angles[0].omega: expected a pos");
  expect_contains(angle_refusal([](auto& j) { j["gp"]["structure"]["mean"] = "linear"; }), "is an angle");
  std::string huge = format_model(random_model());
  huge.replace(huge.find("\"dt\": 0.1"), 9, "\"dt\": 1e999");
  expect_contains(refusal(huge), "out of a double's range");
}

}  // namespace
}  // namespace gpilot::io
