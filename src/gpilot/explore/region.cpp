#include "gpilot/explore/region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/ssm/declared.hpp"
#include "gpilot/ssm/scaling.hpp"

namespace gpilot::explore {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool to_number(std::string_view text, double& value) {
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

/// The state or control of a name as an index of (x, c), or -1.
Index input_of(const ssm::ModelSpec& spec, const std::string& name) {
  const auto place = [&name](const std::vector<std::string>& names) -> Index {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? -1 : found - names.begin();
  };
  const auto D = static_cast<Index>(spec.states.size());
  if (const Index d = place(spec.states); d >= 0) {
    return d;
  }
  if (const Index p = place(spec.inputs); p >= 0) {
    return D + p;
  }
  const Index e = place(spec.outputs);
  if (e < 0) {
    return -1;
  }
  if (spec.C.size() == 0) {
    return e;
  }
  Index d = -1;
  const bool measures_one = (spec.C.row(e).array() != 0.0).count() == 1 && spec.C.row(e).maxCoeff(&d) == 1.0;
  return measures_one ? d : -1;
}

/// Where a state or output is meant to be: as the region says, by its name or by another of the same `input` (-1: of
/// none); otherwise as the model's spec does; or null.
const ssm::Range* declared_range(const ssm::ModelSpec& spec, const std::vector<ssm::Range>& region,
                                 const std::string& name, Index input) {
  for (const ssm::Range& range : region) {
    if (range.name == name || (input >= 0 && input_of(spec, range.name) == input)) {
      return &range;
    }
  }
  return ssm::range_of(spec, name);
}

}  // namespace

std::vector<ssm::Range> parse_region(std::string_view text) {
  std::vector<ssm::Range> region;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = trimmed(text.substr(begin, end - begin));
    const std::size_t equals = part.find('=');
    const std::size_t colon = part.find(':', equals == std::string_view::npos ? 0 : equals);
    ssm::Range range;
    if (equals == std::string_view::npos || colon == std::string_view::npos ||
        !to_number(part.substr(equals + 1, colon - equals - 1), range.low) ||
        !to_number(part.substr(colon + 1), range.high)) {
      throw InputError(fmt::format("region: '{}', expected NAME=LOW:HIGH, several with commas between", part));
    }
    range.name = trimmed(part.substr(0, equals));
    region.push_back(std::move(range));
    begin = end + 1;
  }
  return region;
}

std::string format_region(const std::vector<ssm::Range>& region) {
  std::vector<std::string> parts;
  for (const ssm::Range& range : region) {
    parts.push_back(fmt::format("{}={}:{}", range.name, range.low, range.high));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void check_region(const ssm::ModelSpec& spec, const std::vector<ssm::Range>& region) {
  std::vector<std::string> known = spec.states;
  known.insert(known.end(), spec.outputs.begin(), spec.outputs.end());
  known.insert(known.end(), spec.inputs.begin(), spec.inputs.end());
  std::vector<Index> seen;
  for (const ssm::Range& range : region) {
    const Index i = input_of(spec, range.name);
    if (i < 0) {
      throw InputError("region: " + unknown_name_message("state, output or input", range.name, known));
    }
    if (!(range.low < range.high)) {
      throw InputError(
          fmt::format("region: [{}, {}] of '{}' is empty, expected low < high", range.low, range.high, range.name));
    }
    if (std::ranges::find(seen, i) != seen.end()) {
      throw InputError(fmt::format("region: '{}' is named twice", range.name));
    }
    seen.push_back(i);
  }
}

Box scaled_region(const ssm::Model& model, const std::vector<ssm::Range>& region, const Box& box) {
  const ssm::Scaling& s = model.scaling;
  const Index D = s.state_scale.size();
  // Of a state that has the spread 1: where a range is declared, these are its ends.
  const double end = std::numbers::sqrt3;
  Box result{Vector::Constant(D + box.low.size(), -end), Vector::Constant(D + box.low.size(), end)};
  result.low.tail(box.low.size()) = box.low;
  result.high.tail(box.low.size()) = box.high;
  for (const ssm::Range& range : region) {
    const Index i = input_of(model.spec, range.name);
    const double offset = i < D ? s.state_offset(i) : s.control_offset(i - D);
    const double scale = i < D ? s.state_scale(i) : s.control_scale(i - D);
    result.low(i) = (range.low - offset) / scale;
    result.high(i) = (range.high - offset) / scale;
  }
  return result;
}

Box scaled_range(const ssm::Model& model, const std::vector<ssm::Range>& region) {
  const ssm::ModelSpec& spec = model.spec;
  const ssm::Scaling& s = model.scaling;
  const auto E = static_cast<Index>(spec.outputs.size());
  const auto D = static_cast<Index>(spec.states.size());
  constexpr double kAnywhere = std::numeric_limits<double>::infinity();
  Box result{Vector::Constant(E + D, -kAnywhere), Vector::Constant(E + D, kAnywhere)};
  const auto set = [&result](Index k, const ssm::Range* range, double offset, double scale) {
    if (range != nullptr) {
      result.low(k) = (range->low - offset) / scale;
      result.high(k) = (range->high - offset) / scale;
    }
  };
  const Vector turns = spec.turns();
  for (Index e = 0; e < E; ++e) {
    if (turns(e) == 0.0) {
      const std::string& output = spec.outputs[static_cast<std::size_t>(e)];
      set(e, declared_range(spec, region, output, input_of(spec, output)), s.output_offset(e), s.output_scale(e));
    }
  }
  for (Index d = 0; d < D; ++d) {
    const std::string& state = spec.states[static_cast<std::size_t>(d)];
    if (std::ranges::find(spec.angles, state) == spec.angles.end()) {
      // What is declared of an output that measures it counts there already.
      set(E + d, declared_range(spec, region, state, -1), s.state_offset(d), s.state_scale(d));
    }
  }
  return result;
}

}  // namespace gpilot::explore
