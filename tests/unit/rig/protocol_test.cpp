#include "gpilot/rig/protocol.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "support/message_of.hpp"

namespace gpilot::rig {
namespace {

using test::message_of;
using Kind = RigError::Kind;

const RigHello kHello{.dt = 0.05, .inputs = {"torque"}, .outputs = {"angle", "rate"}};

RigAnswer parse(const std::string& line) {
  return parse_rig_answer(line, 12, kHello, true);
}

/// The kind and the message of the error that the answer to step 12 gives.
std::pair<Kind, std::string> error_of(const std::string& line) {
  try {
    parse(line);
  } catch (const RigError& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "accepted: " << line.substr(0, 200);
  return {};
}

void expect_error(const std::string& line, Kind kind, const std::string& message) {
  const auto [got_kind, got_message] = error_of(line);
  EXPECT_EQ(got_kind, kind) << line;
  EXPECT_EQ(got_message.substr(0, message.size()), message);
}

TEST(RigProtocol, RequestsAreThoseOfTheSpecification) {
  EXPECT_EQ(
      rig_hello_request({.dt = 0.05, .inputs = {"torque"}, .outputs = {"angle", "\xc3\xa4"}}),
      "{\"v\":1,\"id\":0,\"op\":\"hello\",\"dt\":0.05,\"inputs\":[\"torque\"],\"outputs\":[\"angle\",\"\xc3\xa4\"]}\n");
  EXPECT_EQ(rig_reset_request(-1, 10.0), "{\"v\":1,\"id\":-1,\"op\":\"reset\",\"deadline_s\":10.0}\n");
  EXPECT_EQ(rig_step_request(12, Vector{{0.5, -0.0}}, 2.0),
            "{\"v\":1,\"id\":12,\"op\":\"step\",\"u\":[0.5,-0.0],\"deadline_s\":2.0}\n");
  EXPECT_EQ(rig_safe_request(-2, Vector{{0.0}}, 0.5),
            "{\"v\":1,\"id\":-2,\"op\":\"safe\",\"u\":[0.0],\"deadline_s\":0.5}\n");
  EXPECT_EQ(rig_close_request(-3, Vector{{0.0}}), "{\"v\":1,\"id\":-3,\"op\":\"close\",\"u\":[0.0]}\n");
}

TEST(RigProtocol, NothingSenselessIsSent) {
  const double nan = std::nan("");
  EXPECT_EQ(message_of<InputError>([&] {
              rig_step_request(1, Vector{{0.0, nan}}, 1.0);
            }),
            "the control u[1] for the rig must be finite, not nan");
  EXPECT_EQ(message_of<InputError>([&] { rig_close_request(-1, Vector{{HUGE_VAL}}); }),
            "the control u[0] for the rig must be finite, not inf");
  EXPECT_EQ(message_of<InputError>([&] { rig_safe_request(1, Vector{{0.0}}, 0.0); }),
            "a rig's deadline must be positive and finite, not 0 s");
  EXPECT_EQ(message_of<InputError>([&] { rig_reset_request(1, nan); }),
            "a rig's deadline must be positive and finite, not nan s");
  EXPECT_EQ(message_of<InputError>([] { rig_hello_request({.dt = -1.0, .inputs = {"u"}, .outputs = {"y"}}); }),
            "the time of a step of the rig must be positive and finite, not -1 s");
  EXPECT_EQ(message_of<InputError>([] { rig_hello_request({.dt = 1.0, .outputs = {"y"}}); }),
            "a rig needs at least one input");
  EXPECT_EQ(message_of<InputError>([] { rig_hello_request({.dt = 1.0, .inputs = {"u"}}); }),
            "a rig needs at least one output");
  EXPECT_EQ(message_of<InputError>([] { rig_hello_request({.dt = 1.0, .inputs = {"u\xff"}, .outputs = {"y"}}); }),
            "the name of an input of the rig is not UTF-8: u?");
}

TEST(RigProtocol, HelloTellsWhatTheRigCanDo) {
  const RigTraits both = parse_rig_hello(R"({"v":1,"id":0,"ok":true,"can_reset":true,"idempotent":true})");
  EXPECT_TRUE(both.can_reset);
  EXPECT_TRUE(both.idempotent);
  const RigTraits none = parse_rig_hello(R"( {"id":0,"model":{"a":[1,{"b":[]}]},"ok":true,"v":1} )"
                                         "\r");
  EXPECT_FALSE(none.can_reset);
  EXPECT_FALSE(none.idempotent);
  EXPECT_EQ(message_of<RigError>([] { parse_rig_hello(R"({"v":1,"id":0,"ok":false,"msg":"stop is\npressed"})"); }),
            "the rig refuses: stop is pressed");
  EXPECT_EQ(message_of<RigError>([] { parse_rig_hello(R"({"v":1,"id":0,"ok":false})"); }),
            "the rig refuses, without a reason");
  EXPECT_EQ(message_of<RigError>([] { parse_rig_hello(R"({"v":1,"id":0,"ok":true,"can_reset":1})"); }),
            R"("can_reset" is a number, expected true or false: {"v":1,"id":0,"ok":true,"can_reset":1})");
}

TEST(RigProtocol, AsksForADeclaration) {
  EXPECT_EQ(rig_describe_request(), "{\"v\":1,\"id\":0,\"op\":\"hello\",\"dt\":null,\"inputs\":[],\"outputs\":[]}\n");
}

TEST(RigProtocol, ResetCarriesASeed) {
  EXPECT_EQ(rig_reset_request(-1, 10.0, 7), "{\"v\":1,\"id\":-1,\"op\":\"reset\",\"deadline_s\":10.0,\"seed\":7}\n");
  EXPECT_EQ(reset_seed(3, 1), reset_seed(3, 1));
  EXPECT_NE(reset_seed(3, 1), reset_seed(3, 2));
  EXPECT_NE(reset_seed(3, 1), reset_seed(4, 1));
  for (Index sequence = 1; sequence <= 1000; ++sequence) {
    ASSERT_GE(reset_seed(0, sequence), 0);
    ASSERT_LE(reset_seed(0, sequence), 0x7fffffff);
  }
}

TEST(RigProtocol, HelloMayDeclareTheChannels) {
  const RigTraits traits = parse_rig_hello(R"({"v":1,"id":0,"ok":true,"dt":0.05,"inputs":[
      {"name":"torque","unit":"N m","low":-0.5,"high":0.5,"safe":0,"slew":0.1,"color":"red"}],
      "outputs":[{"name":"angle","low":null},{"name":"rate","unit":"rad/s","low":-1,"high":1e3}]})");
  EXPECT_EQ(traits.dt, 0.05);
  EXPECT_EQ(traits.inputs, (std::vector<DeclaredChannel>{
                               {.name = "torque", .unit = "N m", .low = -0.5, .high = 0.5, .safe = 0.0, .slew = 0.1}}));
  EXPECT_EQ(traits.outputs, (std::vector<DeclaredChannel>{
                                {.name = "angle"}, {.name = "rate", .unit = "rad/s", .low = -1.0, .high = 1000.0}}));
  EXPECT_TRUE(parse_rig_hello(R"({"v":1,"id":0,"ok":true,"dt":null,"inputs":null})").inputs.empty());
}

TEST(RigProtocol, DeclarationsThatMakeNoSense) {
  const auto refused = [](const std::string& more) {
    try {
      parse_rig_hello(R"({"v":1,"id":0,"ok":true,)" + more + "}");
    } catch (const RigError& error) {
      EXPECT_EQ(error.kind(), Kind::kWrongShape);
      return std::string(error.what()).substr(0, std::string(error.what()).find(": {"));
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused(R"("dt":0)"), R"("dt" is 0, expected a positive number of seconds)");
  EXPECT_EQ(refused(R"("dt":"fast")"), R"("dt" is a text, expected a number)");
  EXPECT_EQ(refused(R"("inputs":"torque")"), R"("inputs" is not a list)");
  EXPECT_EQ(refused(R"("inputs":["torque"])"), R"("inputs[0]" is not an object with a name)");
  EXPECT_EQ(refused(R"("outputs":[{"name":"y"},{}])"), R"("outputs[1]" has no name)");
  EXPECT_EQ(refused(R"("inputs":[{"name":3}])"), R"("inputs[0].name" is not a text)");
  EXPECT_EQ(refused(R"("inputs":[{"name":"u\n"}])"), R"("inputs[0]" has a control character in its name or unit)");
  EXPECT_EQ(refused(R"("inputs":[{"name":"u","low":"0"}])"), R"("inputs[0].low" is not a number)");
  EXPECT_EQ(refused(R"("inputs":[{"name":"u","low":0}])"), R"("inputs[0]" has only one of low and high)");
  EXPECT_EQ(refused(R"("inputs":[{"name":"u","low":1,"high":1}])"), R"("inputs[0]": low 1 is not below high 1)");
  EXPECT_EQ(refused(R"("inputs":[{"name":"u","low":0,"high":1,"safe":2}])"),
            R"("inputs[0]": safe 2 is not from low 0 to high 1)");
  EXPECT_EQ(refused(R"("inputs":[{"name":"u","slew":0}])"), R"("inputs[0]": slew 0 is not positive)");
  EXPECT_EQ(refused(R"("inputs":[{"name":"u"}],"outputs":[{"name":"u"}])"),
            R"("outputs[0]" has a name that another has: u)");
}

TEST(RigProtocol, WhatARigDeclaresMustFitTheStudy) {
  const Box box{Vector{{-1.0}}, Vector{{1.0}}};
  RigTraits traits;
  EXPECT_EQ(misfit(traits, kHello, box), "");
  traits.dt = 0.05 * (1.0 + 1e-12);
  traits.inputs = {{.name = "torque", .low = -1.0, .high = 1.0}};
  traits.outputs = {{.name = "angle"}, {.name = "rate", .low = 5.0, .high = 6.0}};
  EXPECT_EQ(misfit(traits, kHello, box), "");
  traits.inputs[0].high = 0.5;
  EXPECT_EQ(misfit(traits, kHello, box), "the rig accepts torque from -1 to 0.5, the study would send -1 to 1");
  std::swap(traits.outputs[0], traits.outputs[1]);
  EXPECT_EQ(misfit(traits, kHello, box), "the rig declares the outputs rate, angle, the study has angle, rate");
  traits.inputs.push_back({.name = "brake"});
  EXPECT_EQ(misfit(traits, kHello, box), "the rig declares the inputs torque, brake, the study has torque");
  traits.dt = 0.1;
  EXPECT_EQ(misfit(traits, kHello, box), "the rig declares a step of 0.1 s, the study has 0.05 s");
}

TEST(RigProtocol, AnAnswerMayEndTheEpisode) {
  EXPECT_TRUE(parse(R"({"v":1,"id":12,"ok":true,"y":[1,2],"done":true})").done);
  EXPECT_FALSE(parse(R"({"v":1,"id":12,"ok":true,"y":[1,2],"done":false})").done);
  EXPECT_FALSE(parse(R"({"v":1,"id":12,"ok":true,"y":[1,2],"done":null})").done);
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[1,2],"done":"yes"})", Kind::kGarbage,
               R"("done" is a text, expected true or false: )");
  expect_error(R"({"v":1,"id":12,"ok":true,"done":true})", Kind::kWrongShape, R"("y" is missing: )");
}

TEST(RigProtocol, AnswerOfAStep) {
  const RigAnswer full = parse(R"({"v":1,"id":12,"ok":true,"y":[0.31,null],"u_applied":[0.48],"t":0.60})");
  EXPECT_EQ(full.status, RigStatus::kOk);
  ASSERT_TRUE(full.outputs && full.applied && full.time);
  EXPECT_EQ((*full.outputs)(0), 0.31);
  EXPECT_TRUE(std::isnan((*full.outputs)(1)));
  EXPECT_EQ(*full.applied, Vector{{0.48}});
  EXPECT_EQ(*full.time, 0.6);

  // Integers are numbers, and an id of 12.0 is 12; null stands for an optional field that is not given.
  const RigAnswer bare =
      parse(R"({"v":1.0,"id":12.0,"ok":true,"y":[1,18446744073709551615],"u_applied":null,"t":null})");
  ASSERT_TRUE(bare.outputs);
  EXPECT_EQ(*bare.outputs, (Vector{{1.0, 18446744073709551615.0}}));
  EXPECT_FALSE(bare.applied || bare.time);
}

TEST(RigProtocol, AnswerThatSaysNo) {
  const RigAnswer failed = parse(R"({"v":1,"id":12,"ok":false,"status":"failed","msg":"over\ttemperature"})");
  EXPECT_EQ(failed.status, RigStatus::kFailed);
  EXPECT_EQ(failed.message, "over temperature");
  EXPECT_FALSE(failed.outputs);
  const RigAnswer unsafe = parse(R"({"v":1,"id":12,"ok":false,"status":"unsafe","y":[1,2]})");
  EXPECT_EQ(unsafe.status, RigStatus::kUnsafe);
  EXPECT_EQ(*unsafe.outputs, (Vector{{1.0, 2.0}}));
  EXPECT_EQ(parse(R"({"v":1,"id":12,"ok":false})").status, RigStatus::kFailed);
  expect_error(R"({"v":1,"id":12,"ok":false,"status":"tired"})", Kind::kGarbage,
               R"("status" is neither "failed" nor "unsafe": {"v":1,)");
}

TEST(RigProtocol, LongMessageIsCutBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 3000) {
    text += "\xc3\xa4";
  }
  const RigAnswer answer = parse(R"({"v":1,"id":12,"ok":false,"msg":")" + text + "\"}");
  EXPECT_EQ(answer.message, text.substr(0, 999));
}

TEST(RigProtocol, OutputsAreOptionalForOtherRequests) {
  EXPECT_FALSE(parse_rig_answer(R"({"v":1,"id":-1,"ok":true})", -1, kHello, false).outputs);
  EXPECT_TRUE(parse_rig_answer(R"({"v":1,"id":-1,"ok":true,"y":[0,1]})", -1, kHello, false).outputs);
}

TEST(RigProtocol, EveryDoubleComesBackBitForBit) {
  RandomStream stream(1, Purpose::kTest);
  const RigHello hello{.dt = 1.0, .inputs = {"u"}, .outputs = {"y"}};
  for (int i = 0; i < 20000; ++i) {
    // Any bits: subnormal numbers, the largest ones, both zeros among the special cases.
    std::uint64_t bits = (std::uint64_t{stream.bits()} << 32U) | stream.bits();
    if (i < 8) {
      constexpr std::uint64_t kSpecial[] = {0,
                                            1ULL << 63U,
                                            1,
                                            (1ULL << 63U) + 1,
                                            (1ULL << 52U) - 1,
                                            1ULL << 52U,
                                            0x7fefffffffffffffULL,
                                            0xffefffffffffffffULL};
      bits = kSpecial[i];
    }
    const auto value = std::bit_cast<double>(bits);
    if (!std::isfinite(value)) {
      continue;
    }
    const auto request = nlohmann::json::parse(rig_step_request(3, Vector{{value}}, 1.0));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(request["u"][0].get<double>()), bits);
    const nlohmann::json reply{{"v", 1}, {"id", 3}, {"ok", true}, {"y", {value}}, {"u_applied", {value}}, {"t", value}};
    const RigAnswer answer = parse_rig_answer(reply.dump(), 3, hello, true);
    ASSERT_EQ(std::bit_cast<std::uint64_t>((*answer.outputs)(0)), bits);
    ASSERT_EQ(std::bit_cast<std::uint64_t>((*answer.applied)(0)), bits);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(*answer.time), bits);
  }
}

TEST(RigProtocol, NotAnAnswer) {
  expect_error("", Kind::kGarbage, "an empty line");
  expect_error(" \t\r", Kind::kGarbage, "an empty line");
  expect_error("Rig ready.", Kind::kGarbage, "not JSON (byte 1): Rig ready.");
  expect_error(R"({"v":1,"id":12,"ok":tr)", Kind::kGarbage, R"(not JSON (byte 23): {"v":1,"id":12,"ok":tr)");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[0,1]} extra)", Kind::kGarbage, "not JSON (byte 37): {");
  expect_error(R"([1, 2])", Kind::kGarbage, "not a JSON object: [1, 2]");
  expect_error("12", Kind::kGarbage, "not a JSON object: 12");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[0,1],"y":[0,1]})", Kind::kGarbage, R"(the key "y" twice: )");
  expect_error(R"({"v":1,"id":12,"ok":true,"t":null,"t":1})", Kind::kGarbage, R"(the key "t" twice: )");
  expect_error("{\"v\":1,\"id\":12,\"ok\":true,\"msg\":\"\xff\xfe\"}", Kind::kGarbage, "not JSON (byte 33): ");
  expect_error(std::string("{\"v\":1}\0x", 9), Kind::kGarbage, "a line with a zero byte: {\"v\":1}?x");
  expect_error(R"({"id":12,"ok":true,"y":[0,1]})", Kind::kGarbage, R"("v" is missing, expected a number: )");
  expect_error(R"({"v":1,"ok":true,"y":[0,1]})", Kind::kGarbage, R"("id" is missing, expected a number: )");
  expect_error(R"({"v":1,"id":"12","ok":true})", Kind::kGarbage, R"("id" is a text, expected a number: )");
  expect_error(R"({"v":1,"id":12,"ok":{},"y":[0,1]})", Kind::kGarbage,
               R"("ok" is an object, expected true or false: )");
  expect_error(R"({"v":1,"id":12,"ok":false,"msg":3})", Kind::kGarbage, R"("msg" is a number, expected a text: )");
}

TEST(RigProtocol, WrongVersionOrId) {
  expect_error(R"({"v":2,"id":12,"ok":true,"y":[0,1]})", Kind::kVersion,
               "the rig speaks version 2 of the protocol, expected 1: {");
  expect_error(R"({"v":1,"id":11,"ok":true,"y":[0,1]})", Kind::kWrongId, "an answer with the id 11, expected 12: {");
  expect_error(R"({"v":1,"id":12.5,"ok":true,"y":[0,1]})", Kind::kWrongId,
               "an answer with the id 12.5, expected 12: {");
  expect_error(R"({"v":1,"id":1e300,"ok":true,"y":[0,1]})", Kind::kWrongId,
               "an answer with the id 1e+300, expected 12");
  expect_error(R"({"v":1,"id":18446744073709551615,"ok":true})", Kind::kWrongId,
               "an answer with the id 1.8446744073709552e+19, expected 12");
}

TEST(RigProtocol, NonNumbersAskForNull) {
  const std::string hint = "; send null for a missing output: ";
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[NaN,0]})", Kind::kGarbage, "not JSON (byte 31)" + hint);
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[0,-Infinity]})", Kind::kGarbage, "not JSON (byte 34)" + hint);
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[0,inf]})", Kind::kGarbage, "not JSON (byte 33)" + hint);
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[0,1e400]})", Kind::kGarbage,
               "not JSON (byte 37, a number that no double holds)" + hint);
}

TEST(RigProtocol, WrongShape) {
  expect_error(R"({"v":1,"id":12,"ok":true})", Kind::kWrongShape, R"("y" is missing: {"v":1,)");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":0.3})", Kind::kWrongShape, R"("y" is a number, expected a list: )");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[1,2,3]})", Kind::kWrongShape,
               R"("y" has 3 value(s), expected 2 (angle, rate): )");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[1,"2"]})", Kind::kWrongShape,
               R"("y"[1] is a text, expected a number or null: )");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[[1,2],[3]]})", Kind::kWrongShape,
               R"("y"[0] is a list, expected a number or null: )");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[1,2],"u_applied":[null]})", Kind::kWrongShape,
               R"("u_applied" has a null, expected numbers: )");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[1,2],"u_applied":[true]})", Kind::kWrongShape,
               R"("u_applied"[0] is true or false, expected a number: )");
  expect_error(R"({"v":1,"id":12,"ok":true,"y":[1,2],"t":"now"})", Kind::kWrongShape,
               R"("t" is a text, expected a number: )");
}

TEST(RigProtocol, DepthAndLengthAreBounded) {
  const std::string start = R"({"v":1,"id":12,"ok":true,"y":[1,2],"more":)";
  EXPECT_NO_THROW(parse(start + std::string(15, '[') + std::string(15, ']') + "}"));
  expect_error(start + std::string(16, '[') + std::string(16, ']') + "}", Kind::kGarbage,
               "JSON of more than 16 levels: {");
  expect_error(start + std::string(1'000'000, '['), Kind::kGarbage, "JSON of more than 16 levels: {");
  std::string wide = start + "[{}";
  while (wide.size() < kLongestRigLine - 10) {
    wide += ",{}";
  }
  EXPECT_NO_THROW(parse(wide + "]}"));
  expect_error(wide + std::string(10, ' ') + "]}", Kind::kTooLong, "a line of more than 1048576 bytes: {");
}

TEST(RigProtocol, QuotesLittleAndOnlyWhatCanBePrinted) {
  EXPECT_EQ(quote_rig_line("a\x01\x7f\xc3\xa4\x1b[31mb"), "a?????[31mb");
  EXPECT_EQ(quote_rig_line(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(quote_rig_line(std::string(81, 'x')), std::string(80, 'x') + "..");
}

/// Random edits of a good answer: an answer or a RigError with a short message that can be printed, nothing else.
TEST(RigProtocol, SurvivesDamage) {
  RandomStream stream(2, Purpose::kTest);
  const std::string good = R"({"v":1,"id":12,"ok":true,"y":[0.31,null],"u_applied":[0.48],"t":0.60,"msg":"\u00e4"})";
  const std::string letters = "{}[]\",:0123456789.eE+-truefalsnv\\ \x01\xc3\xff";
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string line = good;
    for (Index edits = 1 + stream.index(4); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(stream.index(static_cast<Index>(line.size())));
      const char letter = letters[static_cast<std::size_t>(stream.index(static_cast<Index>(letters.size())))];
      switch (stream.index(3)) {
        case 0:
          line[at] = letter;
          break;
        case 1:
          line.insert(at, 1, letter);
          break;
        default:
          line.erase(at, 1 + static_cast<std::size_t>(stream.index(3)));
      }
    }
    try {
      const RigAnswer answer = parse(line);
      if (answer.outputs) {
        ASSERT_EQ(answer.outputs->size(), 2);
      }
    } catch (const RigError& error) {
      ++refused;
      const std::string message = error.what();
      ASSERT_LT(message.size(), 250U);
      for (const char letter : message) {
        ASSERT_TRUE(letter >= 0x20 && letter < 0x7f) << message;
      }
    }
  }
  EXPECT_GT(refused, 15000);
}

}  // namespace
}  // namespace gpilot::rig
