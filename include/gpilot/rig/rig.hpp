#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"

namespace gpilot::rig {

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

/// What a rig declares about an input or an output; all but the name may be left out. Units of the rig.
struct DeclaredChannel {
  std::string name;
  std::string unit = {};
  std::optional<double> low = {}, high = {};  ///< what an input accepts; what an output is expected to be
  std::optional<double> safe = {},
                        slew = {};  ///< of an input: the control that does no harm, the largest change a step

  bool operator==(const DeclaredChannel&) const = default;
};

/// What the rig says of itself in return.
struct RigTraits {
  bool can_reset = false;
  bool idempotent = false;        ///< answers a step that it has answered before again, without applying it again
  std::optional<double> dt = {};  ///< seconds of a step, positive
  std::vector<DeclaredChannel> inputs{};  ///< empty: it does not say; all names differ, low < high, safe between them
  std::vector<DeclaredChannel> outputs{};
};

/// What a rig declares and a study wants otherwise: names, dt, controls that the rig does not accept; a sentence for
/// people, "" if nothing. What a rig does not declare fits everything. `box` [P] are the controls of the study.
std::string misfit(const RigTraits& traits, const RigHello& hello, const Box& box);

/// The seed that the reset before a sequence (from 1) carries: of the study's own, from 0 to 2^31 - 1.
Index reset_seed(std::uint64_t study_seed, Index sequence);

enum class RigStatus { kOk, kFailed, kUnsafe };

struct RigAnswer {
  RigStatus status = RigStatus::kOk;
  std::string message = {};            ///< what the rig says of a failure; at most 1000 bytes, printable
  std::optional<Vector> outputs = {};  ///< y [E], NaN = missing
  std::optional<Vector> applied = {};  ///< u_applied [P], finite
  std::optional<double> time = {};     ///< t in seconds, on the rig's clock
  bool done = false;                   ///< the sequence ends with this measurement: an episode is over
};

/// How a rig is started and how long it may take. Times in seconds of a clock that nobody sets.
struct RigOptions {
  std::string command = {};           ///< for /bin/sh -c
  double start_s = 10.0;              ///< from the start to the answer to hello
  double deadline_s = 2.0;            ///< of a step or of the safe control, from the request to its answer
  double reset_s = 10.0;              ///< of a reset
  double close_s = 2.0;               ///< from close (or the end of its input) to the end of the process
  std::string log = {};               ///< its stderr is appended to this file; empty: it is our own stderr
  std::int64_t log_bytes = 16 << 20;  ///< a log that would grow beyond this is renamed to LOG.1 and begun again

  /// Throws InputError.
  void validate() const;
};

/// A rig: a process that speaks the rig protocol on its stdin and stdout (docs/rig-protocol.md).
///
/// The process runs in a process group of its own, so that Ctrl-C at a terminal does not reach it before the safe
/// control has. It has our environment and working directory, no descriptor of ours but 0, 1 and 2, no signal blocked,
/// and every signal at its default but SIGPIPE, which is ignored: a rig must be able to apply its safe control when we
/// are gone. A thread reads its stderr into the log; however much it is, the rig never waits for the disk, and LOG and
/// LOG.1 together never exceed twice log_bytes. A disk that is full costs lines of the log, nothing else.
///
/// One request is outstanding at a time. A signal that arrives meanwhile does not cut the wait short. Requests throw
/// RigError when the rig does not keep to the protocol, with the cause, for a death the exit code or signal, and the
/// end of its log. Nothing is sent to a rig after that but close(): every other request throws
/// RigError::Kind::kGivenUp. An answer that the rig could not do it (kFailed, kUnsafe) is no such error. A line that
/// was not asked for is found when the next request is made, which then is not sent; the answer before it stands.
///
/// SIGPIPE does not reach the process and its disposition is not changed. SIGCHLD must not be ignored. Not for use by
/// two threads at once.
class Rig {
 public:
  /// Starts the process and says hello. Throws InputError for wrong options or a log that cannot be written, RigError
  /// if the process cannot be started or does not answer as it should; then it has been ended.
  Rig(RigOptions options, RigHello hello);
  /// Unless close() was called: closes the rig's input, by which it applies its own safe control, and ends it as
  /// close() does. No process of its group, no descriptor and no thread is left.
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  Rig(Rig&&) = delete;
  Rig& operator=(Rig&&) = delete;

  /// Starts a rig only to ask what it is: hello without names, to which it answers with its own. Its input is closed
  /// then. Throws as the constructor does.
  static RigTraits describe(RigOptions options);

  const RigTraits& traits() const;

  /// Brings the rig to its initial state; outputs, if it answers with some, are those of this state. A simulator draws
  /// this state from the seed, if there is one (reset_seed()).
  RigAnswer reset(std::optional<Index> seed = {});
  /// Applies the control [P] for one dt; the outputs are those at its end. `id` >= 1 is the study's number of the step.
  /// Throws InputError, without sending anything, for a control of the wrong size or not finite, or an id below 1.
  RigAnswer step(Index id, VectorRef control);
  RigAnswer step(Index id, VectorRef control, double deadline_s);
  /// Applies the safe control [P] until the next step.
  RigAnswer safe(VectorRef control);

  /// Sends close with the safe control [P], also to a rig that has failed (a rig that hangs finds it in its input),
  /// closes its input and waits close_s for the end of the process, then sends SIGTERM to its group and waits close_s
  /// again, then sends SIGKILL. What is left of the group when the process ends is killed. True if the rig has
  /// confirmed that the safe control is applied. A second call does nothing and returns the same.
  bool close(VectorRef safe_control) noexcept;

  /// Whether the process has not ended yet.
  bool running() const;
  /// Of the process, which leads a process group with the same number.
  int process_id() const;

 private:
  class Implementation;
  static std::unique_ptr<Implementation> start(RigOptions options, RigHello hello);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace gpilot::rig
