#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gpilot/rig/posix.hpp"

namespace gpilot::rig {

/// Lines to and from a rig, each within a deadline. Errors are RigErrors without the name of the request.
class RigChannel {
 public:
  /// Our ends of the pipes. Throws std::system_error.
  RigChannel(posix::Descriptor to_rig, posix::Descriptor from_rig);

  /// Throws RigError if the rig has sent anything since its last answer, or has closed its output.
  void expect_silence();
  /// `line` has its line break. Throws RigError if the rig does not read it in time, or has closed its input.
  void send(std::string_view line, const posix::Deadline& deadline);
  /// The next line, without its line break.
  std::string receive(const posix::Deadline& deadline);

  /// Sends a last line (an empty one is not sent) and closes the rig's input; hands every further line of the rig to
  /// `on_line` until `done` or the deadline, whatever the rig does. A second call goes on reading.
  void finish(std::string_view line, const posix::Deadline& deadline, const std::function<bool()>& done,
              const std::function<void(std::string_view)>& on_line);

 private:
  /// What a read or write without waiting came to.
  enum class Outcome { kSome, kNothing, kEnd };
  Outcome read_some();
  Outcome write_some(std::string_view& text);
  bool take_line(std::string& line);
  /// What was read, but not taken.
  std::string_view rest() const { return std::string_view(buffer_).substr(taken_); }
  void drain(const std::function<void(std::string_view)>& on_line);

  posix::Descriptor to_rig_;
  posix::Descriptor from_rig_;
  std::string buffer_;
  std::size_t taken_ = 0;     ///< so much of it were lines, which have been taken
  std::size_t searched_ = 0;  ///< and from there to here is no line break
  bool amid_line_ = false;    ///< the rig has a part of a request
};

}  // namespace gpilot::rig
