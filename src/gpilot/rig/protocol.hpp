#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/types.hpp"

/// The rig protocol, version 1: one JSON object a line, a request and its answer in turn. docs/rig-protocol.md is the
/// specification. These functions write the requests and read the answers; they do no input or output of their own.
namespace gpilot::systems {

inline constexpr Index kRigProtocolVersion = 1;
/// A line has at most this many bytes, its line break not counted.
inline constexpr std::size_t kLongestRigLine = std::size_t{1} << 20;

/// A rig did not keep to the protocol, or is no longer there. The message says what happened, to which request; it
/// quotes at most 80 printable characters of what the rig sent.
class RigError : public std::runtime_error {
 public:
  enum class Kind {
    kStart,        ///< the process could not be started
    kRefused,      ///< the rig answered hello with "ok": false
    kTimeout,      ///< no answer within the deadline, or the request was not read within it
    kDied,         ///< the process ended, or closed its output
    kGarbage,      ///< an answer that is not JSON, or not what the protocol calls an answer
    kVersion,      ///< another version of the protocol
    kWrongId,      ///< an answer to another request
    kTooLong,      ///< a line of more than kLongestRigLine bytes
    kWrongShape,   ///< y, u_applied or t of the wrong type, or with the wrong number of values
    kUnsolicited,  ///< a line that nobody asked for
    kGivenUp,      ///< a request to a rig that has failed before, or was closed
  };

  RigError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// What the rig is told first: the time of a step in seconds and the names of its inputs (controls) and outputs.
struct RigHello {
  double dt = 0.0;
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};

  /// Throws InputError unless dt is positive and finite and there is an input and an output, all with UTF-8 names.
  void validate() const;
};

/// What the rig says of itself in return.
struct RigTraits {
  bool can_reset = false;
  bool idempotent = false;  ///< answers a step that it has answered before again, without applying it again
};

enum class RigStatus { kOk, kFailed, kUnsafe };

struct RigAnswer {
  RigStatus status = RigStatus::kOk;
  std::string message = {};            ///< what the rig says of a failure; at most 1000 bytes, printable
  std::optional<Vector> outputs = {};  ///< y [E], NaN = missing
  std::optional<Vector> applied = {};  ///< u_applied [P], finite
  std::optional<double> time = {};     ///< t in seconds, on the rig's clock
};

/// Requests, one line each with its line break. Numbers have the digits that read back to the same bits. Each throws
/// InputError if a number is not finite, a deadline is not positive, or the names are not UTF-8.
std::string rig_hello_request(const RigHello& hello);
std::string rig_reset_request(Index id, double deadline_s);
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

}  // namespace gpilot::systems
