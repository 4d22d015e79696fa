#include "gpilot/rig/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/rig/declaration.hpp"

namespace gpilot::rig {
namespace {

using Json = nlohmann::ordered_json;
using Kind = RigError::Kind;

// ---------------------------------------------------------------------------------------------------- requests

Json numbers(VectorRef control) {
  Json list = Json::array();
  for (Index i = 0; i < control.size(); ++i) {
    if (!std::isfinite(control(i))) {
      throw InputError(fmt::format("the control u[{}] for the rig must be finite, not {}", i, control(i)));
    }
    list.push_back(control(i));
  }
  return list;
}

double checked_deadline(double deadline_s) {
  if (!(deadline_s > 0.0) || !std::isfinite(deadline_s)) {
    throw InputError(fmt::format("a rig's deadline must be positive and finite, not {} s", deadline_s));
  }
  return deadline_s;
}

Json request(Index id, const char* op) {
  return Json{{"v", kRigProtocolVersion}, {"id", id}, {"op", op}};
}

std::string line_of(const Json& json) {
  return json.dump() + '\n';
}

void check_names(const std::vector<std::string>& names, const char* what) {
  if (names.empty()) {
    throw InputError(fmt::format("a rig needs at least one {}", what));
  }
  for (const std::string& name : names) {
    try {
      static_cast<void>(Json(name).dump());
    } catch (const Json::exception&) {
      throw InputError(fmt::format("the name of an {} of the rig is not UTF-8: {}", what, quote_rig_line(name)));
    }
  }
}

// ----------------------------------------------------------------------------------------------------- answers

enum class Type { kMissing, kNull, kBoolean, kNumber, kText, kList, kObject };

const char* describe(Type type) {
  constexpr std::array kNames{"missing", "null", "true or false", "a number", "a text", "a list", "an object"};
  return kNames[static_cast<std::size_t>(type)];
}

struct Field {
  Type type = Type::kMissing;
  bool flag = false;
  double number = 0.0;
  std::optional<std::int64_t> integer = {};  ///< the number, if it is one without a fraction
  std::string text = {};
  std::vector<double> entries = {};  ///< of a list; NaN for null
  std::size_t wrong_entry = 0;
  Type wrong_type = Type::kMissing;  ///< of the list's first entry that is neither a number nor null
};

/// The keys of an answer that have a meaning; others are passed over, so that a later version may add some.
enum class Key {
  kV,
  kId,
  kOk,
  kCanReset,
  kIdempotent,
  kStatus,
  kMsg,
  kY,
  kUApplied,
  kT,
  kDone,
  kDt,
  kInputs,
  kOutputs
};
constexpr std::array<std::string_view, 14> kKeys{"v",      "id",  "ok",     "can_reset", "idempotent",
                                                 "status", "msg", "y",      "u_applied", "t",
                                                 "done",   "dt",  "inputs", "outputs"};
constexpr int kDeepest = 16;

[[noreturn]] void fail(Kind kind, const std::string& message, std::string_view line) {
  throw RigError(kind, fmt::format("{}: {}", message, quote_rig_line(line)));
}

/// Is NaN or Infinity, as many programs print them, at this place of the line?
bool names_a_non_number(std::string_view line, std::size_t position) {
  constexpr std::size_t kAround = 12;
  const std::size_t first = position > kAround ? position - kAround : 0;
  std::string near(line.substr(std::min(first, line.size()), 2 * kAround));
  std::ranges::transform(near, near.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return near.find("nan") != std::string::npos || near.find("inf") != std::string::npos;
}

/// Keeps the fields of one object as the parser meets them. Nothing grows with the depth or the number of keys.
class AnswerReader final : public nlohmann::json_sax<Json> {
 public:
  explicit AnswerReader(std::string_view line) : line_(line) {}

  std::array<Field, kKeys.size()> fields;
  std::string problem;

  bool null() override { return scalar({.type = Type::kNull, .number = kNaN}); }
  bool boolean(bool value) override { return scalar({.type = Type::kBoolean, .flag = value}); }
  bool number_integer(std::int64_t value) override {
    return scalar({.type = Type::kNumber, .number = static_cast<double>(value), .integer = value});
  }
  bool number_unsigned(std::uint64_t value) override {
    Field field{.type = Type::kNumber, .number = static_cast<double>(value)};
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      field.integer = static_cast<std::int64_t>(value);
    }
    return scalar(std::move(field));
  }
  bool number_float(double value, const std::string& /*digits*/) override {
    Field field{.type = Type::kNumber, .number = value};
    if (constexpr double kExact = 9007199254740992.0; std::abs(value) <= kExact && value == std::trunc(value)) {
      field.integer = static_cast<std::int64_t>(value);  // some languages write the integer 12 as 12.0
    }
    return scalar(std::move(field));
  }
  bool string(std::string& value) override { return scalar({.type = Type::kText, .text = std::move(value)}); }
  bool binary(Json::binary_t& /*value*/) override { return stop("not JSON"); }

  bool start_object(std::size_t /*size*/) override { return depth_ == 0 ? deeper() : enter(Type::kObject); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t /*size*/) override { return enter(Type::kList); }
  bool end_array() override { return leave(); }

  bool key(std::string& name) override {
    if (depth_ != 1) {
      return true;
    }
    const auto known = std::ranges::find(kKeys, name);
    field_ = known == kKeys.end() ? nullptr : &fields[static_cast<std::size_t>(known - kKeys.begin())];
    return field_ == nullptr || field_->type == Type::kMissing || stop(fmt::format("the key \"{}\" twice", name));
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& error) override {
    constexpr int kNumberOverflow = 406;
    const bool overflow = error.id == kNumberOverflow;
    const bool hint = overflow || names_a_non_number(line_, position);
    return stop(fmt::format("not JSON (byte {}{}){}", position, overflow ? ", a number that no double holds" : "",
                            hint ? "; send null for a missing output" : ""));
  }

 private:
  bool stop(std::string message) {
    problem = std::move(message);
    return false;
  }

  bool scalar(Field value) {
    if (depth_ == 0) {
      return stop("not a JSON object");
    }
    if (field_ != nullptr && depth_ == 1) {
      *field_ = std::move(value);
    } else if (field_ != nullptr && depth_ == 2 && field_->type == Type::kList) {
      add_entry(value.type, value.number);
    }
    return true;
  }

  void add_entry(Type type, double number) {
    if (type != Type::kNumber && type != Type::kNull && field_->wrong_type == Type::kMissing) {
      field_->wrong_entry = field_->entries.size();
      field_->wrong_type = type;
    }
    field_->entries.push_back(number);
  }

  bool enter(Type type) {
    if (depth_ == 0) {
      return stop("not a JSON object");
    }
    if (field_ != nullptr && depth_ == 1) {
      field_->type = type;
    } else if (field_ != nullptr && depth_ == 2 && field_->type == Type::kList) {
      add_entry(type, 0.0);
    }
    return deeper();
  }

  bool deeper() { return ++depth_ <= kDeepest || stop(fmt::format("JSON of more than {} levels", kDeepest)); }
  bool leave() {
    --depth_;
    return true;
  }

  std::string_view line_;
  int depth_ = 0;
  Field* field_ = nullptr;  ///< of the key that was read last; null if it has no meaning
};

/// One answer: typed access to its fields, with an error that quotes the line.
class Answer {
 public:
  explicit Answer(std::string_view line) : line_(line), reader_(line) {
    if (line.size() > kLongestRigLine) {
      fail(Kind::kTooLong, fmt::format("a line of more than {} bytes", kLongestRigLine), line);
    }
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      throw RigError(Kind::kGarbage, "an empty line");
    }
    if (line.find('\0') != std::string_view::npos) {  // which the parser would take for the end
      fail(Kind::kGarbage, "a line with a zero byte", line);
    }
    if (!Json::sax_parse(line, &reader_)) {
      fail(Kind::kGarbage, reader_.problem, line);
    }
  }

  const Field& operator[](Key key) const { return reader_.fields[static_cast<std::size_t>(key)]; }

  /// Absent, or null in place of a value.
  bool lacks(Key key) const { return (*this)[key].type == Type::kMissing || (*this)[key].type == Type::kNull; }

  const Field& expect(Key key, Type type, Kind kind = Kind::kGarbage) const {
    const Field& field = (*this)[key];
    if (field.type != type) {
      refuse(kind, fmt::format("\"{}\" is {}, expected {}", name(key), describe(field.type), describe(type)));
    }
    return field;
  }

  bool flag_or(Key key, bool otherwise) const { return lacks(key) ? otherwise : expect(key, Type::kBoolean).flag; }

  void check_version() const {
    const Field& version = expect(Key::kV, Type::kNumber);
    if (version.integer != kRigProtocolVersion) {
      refuse(Kind::kVersion, fmt::format("the rig speaks version {} of the protocol, expected {}", version.number,
                                         kRigProtocolVersion));
    }
  }

  void check_id(Index id) const {
    const Field& got = expect(Key::kId, Type::kNumber);
    if (got.integer != id) {
      const std::string text = got.integer ? fmt::format("{}", *got.integer) : fmt::format("{}", got.number);
      refuse(Kind::kWrongId, fmt::format("an answer with the id {}, expected {}", text, id));
    }
  }

  std::optional<Vector> vector(Key key, const std::vector<std::string>& names, bool may_miss) const {
    if (lacks(key)) {
      return std::nullopt;
    }
    const Field& field = expect(key, Type::kList, Kind::kWrongShape);
    if (field.entries.size() != names.size()) {
      refuse(Kind::kWrongShape, fmt::format("\"{}\" has {} value(s), expected {} ({})", name(key), field.entries.size(),
                                            names.size(), fmt::join(names, ", ")));
    }
    if (field.wrong_type != Type::kMissing) {
      refuse(Kind::kWrongShape, fmt::format("\"{}\"[{}] is {}, expected a number{}", name(key), field.wrong_entry,
                                            describe(field.wrong_type), may_miss ? " or null" : ""));
    }
    Vector values = Eigen::Map<const Vector>(field.entries.data(), static_cast<Index>(field.entries.size()));
    if (!may_miss && !values.allFinite()) {
      refuse(Kind::kWrongShape, fmt::format("\"{}\" has a null, expected numbers", name(key)));
    }
    return values;
  }

  [[noreturn]] void refuse(Kind kind, const std::string& message) const { fail(kind, message, line_); }

 private:
  static std::string_view name(Key key) { return kKeys[static_cast<std::size_t>(key)]; }

  std::string_view line_;
  AnswerReader reader_;
};

/// What the rig says: UTF-8 by now, but of any length and with any control characters.
std::string message_of(const Answer& answer) {
  constexpr std::size_t kLongest = 1000;
  if (answer.lacks(Key::kMsg)) {
    return "";
  }
  std::string text = answer.expect(Key::kMsg, Type::kText).text;
  if (text.size() > kLongest) {
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
      --end;  // not amid a character
    }
    text.resize(end);
  }
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

RigStatus status_of(const Answer& answer) {
  if (answer.expect(Key::kOk, Type::kBoolean).flag) {
    return RigStatus::kOk;
  }
  if (answer.lacks(Key::kStatus)) {
    return RigStatus::kFailed;
  }
  const std::string& status = answer.expect(Key::kStatus, Type::kText).text;
  if (status != "failed" && status != "unsafe") {
    answer.refuse(Kind::kGarbage, R"("status" is neither "failed" nor "unsafe")");
  }
  return status == "unsafe" ? RigStatus::kUnsafe : RigStatus::kFailed;
}

}  // namespace

void RigHello::validate() const {
  if (!(dt > 0.0) || !std::isfinite(dt)) {
    throw InputError(fmt::format("the time of a step of the rig must be positive and finite, not {} s", dt));
  }
  check_names(inputs, "input");
  check_names(outputs, "output");
}

std::string rig_hello_request(const RigHello& hello) {
  hello.validate();
  Json json = request(0, "hello");
  json["dt"] = hello.dt;
  json["inputs"] = hello.inputs;
  json["outputs"] = hello.outputs;
  return line_of(json);
}

std::string rig_describe_request() {
  Json json = request(0, "hello");
  json["dt"] = nullptr;
  json["inputs"] = Json::array();
  json["outputs"] = Json::array();
  return line_of(json);
}

std::string rig_reset_request(Index id, double deadline_s, std::optional<Index> seed) {
  Json json = request(id, "reset");
  json["deadline_s"] = checked_deadline(deadline_s);
  if (seed) {
    json["seed"] = *seed;
  }
  return line_of(json);
}

std::string rig_step_request(Index id, VectorRef control, double deadline_s) {
  Json json = request(id, "step");
  json["u"] = numbers(control);
  json["deadline_s"] = checked_deadline(deadline_s);
  return line_of(json);
}

std::string rig_safe_request(Index id, VectorRef control, double deadline_s) {
  Json json = request(id, "safe");
  json["u"] = numbers(control);
  json["deadline_s"] = checked_deadline(deadline_s);
  return line_of(json);
}

std::string rig_close_request(Index id, VectorRef control) {
  Json json = request(id, "close");
  json["u"] = numbers(control);
  return line_of(json);
}

RigTraits parse_rig_hello(std::string_view line) {
  const Answer answer(line);
  answer.check_version();
  answer.check_id(0);
  if (status_of(answer) != RigStatus::kOk) {
    const std::string reason = message_of(answer);
    throw RigError(Kind::kRefused, reason.empty() ? "the rig refuses, without a reason" : "the rig refuses: " + reason);
  }
  RigTraits traits{.can_reset = answer.flag_or(Key::kCanReset, false),
                   .idempotent = answer.flag_or(Key::kIdempotent, false)};
  if (!answer.lacks(Key::kDt)) {
    traits.dt = answer.expect(Key::kDt, Type::kNumber, Kind::kWrongShape).number;
  }
  if (!answer.lacks(Key::kInputs) || !answer.lacks(Key::kOutputs)) {
    read_channels(line, traits);
  }
  if (const std::string wrong = nonsense_in(traits); !wrong.empty()) {
    answer.refuse(Kind::kWrongShape, wrong);
  }
  return traits;
}

RigAnswer parse_rig_answer(std::string_view line, Index id, const RigHello& hello, bool needs_outputs) {
  const Answer answer(line);
  answer.check_version();
  answer.check_id(id);
  RigAnswer result{.status = status_of(answer), .message = message_of(answer)};
  result.outputs = answer.vector(Key::kY, hello.outputs, true);
  if (needs_outputs && result.status == RigStatus::kOk && !result.outputs) {
    answer.refuse(Kind::kWrongShape, "\"y\" is missing");
  }
  result.applied = answer.vector(Key::kUApplied, hello.inputs, false);
  if (!answer.lacks(Key::kT)) {
    result.time = answer.expect(Key::kT, Type::kNumber, Kind::kWrongShape).number;
  }
  result.done = answer.flag_or(Key::kDone, false);
  return result;
}

std::string quote_rig_line(std::string_view line) {
  constexpr std::size_t kLongest = 80;
  std::string result(line.substr(0, kLongest));
  std::ranges::replace_if(
      result, [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return line.size() > kLongest ? result + ".." : result;
}

}  // namespace gpilot::rig
