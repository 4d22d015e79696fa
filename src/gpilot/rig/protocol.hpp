#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "gpilot/core/types.hpp"
#include "gpilot/rig/rig.hpp"

/// The rig protocol, version 1: one JSON object a line, a request and its answer in turn. docs/rig-protocol.md is the
/// specification. These functions write the requests and read the answers; they do no input or output of their own.
namespace gpilot::rig {

inline constexpr Index kRigProtocolVersion = 1;
/// A line has at most this many bytes, its line break not counted.
inline constexpr std::size_t kLongestRigLine = std::size_t{1} << 20;

/// Requests, one line each with its line break. Numbers have the digits that read back to the same bits. Each throws
/// InputError if a number is not finite, a deadline is not positive, or the names are not UTF-8.
std::string rig_hello_request(const RigHello& hello);
/// The hello that knows neither dt nor names and asks for them.
std::string rig_describe_request();
std::string rig_reset_request(Index id, double deadline_s, std::optional<Index> seed = {});
std::string rig_step_request(Index id, VectorRef control, double deadline_s);
std::string rig_safe_request(Index id, VectorRef control, double deadline_s);
std::string rig_close_request(Index id, VectorRef control);

/// Reads the answer to hello (`line` without its line break). Throws RigError; of kind kRefused if the rig refuses.
RigTraits parse_rig_hello(std::string_view line);

/// Reads the answer to the request `id` of a rig with these inputs and outputs. An answer to a step must have outputs
/// unless it failed. Throws RigError.
RigAnswer parse_rig_answer(std::string_view line, Index id, const RigHello& hello, bool needs_outputs);

/// The first 80 characters, with '?' for every byte that is not printable ASCII; ".." if there are more.
std::string quote_rig_line(std::string_view line);

}  // namespace gpilot::rig
