#include "gpilot/rig/process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "gpilot/rig/posix.hpp"

namespace gpilot::rig {
namespace {

/// Between fork and exec other threads' locks are held for ever: only calls that POSIX allows in a signal handler.
[[noreturn]] void become_the_rig(char* const* arguments, int in, int out, int err) {
  ::setpgid(0, 0);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    ::sigaction(signal, &action, nullptr);
  }
  action.sa_handler = SIG_IGN;  // a message to a gpilot that is gone must not end the rig before its safe control
  ::sigaction(SIGPIPE, &action, nullptr);
  if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 || (err >= 0 && ::dup2(err, STDERR_FILENO) < 0)) {
    ::_exit(127);
  }
#ifdef CLOSE_RANGE_UNSHARE  // glibc 2.34: also what other libraries did not mark to be closed
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
#endif
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv("/bin/sh", arguments);
  ::_exit(127);
}

/// waitid() without reaping; si_pid is 0 while the process runs.
siginfo_t look_at(pid_t id) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != EINTR) {  // ECHILD: somebody else has reaped it
      info.si_pid = id;
      info.si_code = 0;
      break;
    }
  }
  return info;
}

}  // namespace

RigProcess::RigProcess(const std::string& command, int in, int out, int err) {
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  char* const arguments[] = {shell.data(), option.data(), text.data(), nullptr};
  const posix::SignalBlock block;
  id_ = ::fork();
  if (id_ < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot start a process");
  }
  if (id_ == 0) {
    become_the_rig(arguments, in, out, err);
  }
  ::setpgid(id_, id_);  // the child does it, too: whoever comes first
}

bool RigProcess::ended() const {
  return reaped_ || look_at(id_).si_pid != 0;
}

bool RigProcess::wait(double seconds) const {
  const posix::Deadline deadline(seconds);
  for (int milliseconds = 1; !ended(); milliseconds = std::min(2 * milliseconds, 10)) {
    if (deadline.passed()) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(deadline.milliseconds_left(milliseconds)));
  }
  return true;
}

std::string RigProcess::fate() const {
  if (reaped_) {
    return "ended";
  }
  constexpr int kShellSignal = 128;
  const siginfo_t info = look_at(id_);
  if (info.si_pid == 0) {
    return "still running";
  }
  switch (info.si_code) {
    case CLD_EXITED:
      return info.si_status > kShellSignal
                 ? fmt::format("exit code {}, by which a shell reports signal {} ({})", info.si_status,
                               info.si_status - kShellSignal, ::strsignal(info.si_status - kShellSignal))
                 : fmt::format("exit code {}", info.si_status);
    case CLD_KILLED:
    case CLD_DUMPED:
      return fmt::format("signal {} ({})", info.si_status, ::strsignal(info.si_status));
    default:
      return "ended";
  }
}

void RigProcess::signal_group(int signal) const {
  if (!reaped_) {
    ::kill(-id_, signal);
  }
}

void RigProcess::end() {
  if (reaped_) {
    return;
  }
  // Before it is reaped, its number cannot belong to a group of somebody else.
  signal_group(SIGKILL);
  constexpr double kLongestWait = 5.0;
  wait(kLongestWait);
  while (::waitpid(id_, nullptr, WNOHANG) < 0 && errno == EINTR) {
  }
  reaped_ = true;
}

}  // namespace gpilot::rig
