#pragma once

#include <sys/types.h>

#include <string>

namespace gpilot::rig {

/// A shell command in a process group of its own.
class RigProcess {
 public:
  /// `err` < 0: our own stderr. Throws std::system_error if there can be no further process.
  RigProcess(const std::string& command, int in, int out, int err);
  ~RigProcess() { end(); }
  RigProcess(const RigProcess&) = delete;
  RigProcess& operator=(const RigProcess&) = delete;
  RigProcess(RigProcess&&) = delete;
  RigProcess& operator=(RigProcess&&) = delete;

  pid_t id() const { return id_; }
  /// Whether the process has ended; it remains to be reaped, so that its number and its group's are not given away.
  bool ended() const;
  /// Waits for its end; false if the time passed.
  bool wait(double seconds) const;
  /// "exit code 3", "signal 9 (Killed)", "still running".
  std::string fate() const;
  /// Sends a signal to the group.
  void signal_group(int signal) const;
  /// SIGKILL to whatever is left of the group; reaps. Returns within some seconds even if a driver keeps the process.
  void end();

 private:
  pid_t id_ = -1;
  bool reaped_ = false;
};

}  // namespace gpilot::rig
