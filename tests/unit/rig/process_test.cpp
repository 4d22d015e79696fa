// The process, descriptors, signals and log of a rig.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/rig/rig.hpp"
#include "support/example_rig.hpp"
#include "support/message_of.hpp"

namespace gpilot::rig {
namespace {

namespace fs = std::filesystem;
using test::kPendulumHello;
using test::patient;
using test::pendulum_rig;
using test::shell_rig;
using Words = std::vector<std::string>;

const Vector kSafe{{0.0}};

using RigProcessTest = test::RigTest;

Index entries_of(const std::string& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

/// Whether a process of the group is alive. Orphans that were killed are zombies until init looks after them.
bool group_lives(int group) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);  // "PID (NAME) STATE PARENT GROUP ..", where NAME may be anything
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    char state = ' ';
    int parent = 0;
    int its_group = 0;
    if (fields >> state >> parent >> its_group && its_group == group && state != 'Z' && state != 'X') {
      return true;
    }
  }
  return false;
}

/// Waits for the group to be alive, or for its end: SIGKILL takes a moment, and /proc is no snapshot.
bool group_becomes(int group, bool alive) {
  for (int i = 0; i < 10'000; ++i) {
    if (group_lives(group) == alive) {
      return true;
    }
    ::usleep(1000);
  }
  return false;
}

/// A thread that was joined is listed for a moment more: the kernel wakes whoever waits before it removes the entry.
bool threads_become(Index count) {
  for (int i = 0; i < 10'000; ++i) {
    if (entries_of("/proc/self/task") == count) {
      return true;
    }
    ::usleep(1000);
  }
  return false;
}

bool has_children() {
  return ::waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

TEST_F(RigProcessTest, LeavesNothingBehind) {
  // The shell's own children belong to the group, also when the shell has ended before them.
  const std::string script = "sleep 1000 & sleep 1000 2>/dev/null & trap '' TERM; ";
  for (const char* const end : {"exec sleep 1000", "exit 0", "cat >/dev/null", "kill -STOP $$"}) {
    RigOptions options = patient(shell_rig(script + end));
    options.close_s = 0.2;
    options.log = path("log");
    int id = 0;
    {
      const Rig rig(options, kPendulumHello);
      id = rig.process_id();
      EXPECT_TRUE(group_becomes(id, true));
    }
    EXPECT_TRUE(group_becomes(id, false)) << end;
    EXPECT_FALSE(has_children());
  }
}

TEST_F(RigProcessTest, ProcessThatLeftTheGroupDoesNotKeepUs) {
  RigOptions options = patient(shell_rig("setsid sleep 1000 & echo $! >" + path("pid") + "; read -r line; exit 0"));
  options.log = path("log");
  const Index descriptors = entries_of("/proc/self/fd");
  {
    Rig rig(options, kPendulumHello);  // the sleeper keeps its stdout and stderr open
    rig.close(kSafe);
  }
  EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
  ::kill(std::stoi(text_of("pid")), SIGKILL);
}

TEST_F(RigProcessTest, IgnoredCloseEndsInSigkill) {
  RigOptions options = patient(pendulum_rig("--misbehave ignores-close --record " + path("record")));
  options.close_s = 0.2;
  Rig rig(options, kPendulumHello);
  rig.step(1, kSafe);
  EXPECT_FALSE(rig.close(kSafe));
  EXPECT_FALSE(rig.running());
  EXPECT_TRUE(group_becomes(rig.process_id(), false));
  EXPECT_EQ(record(), (Words{"step 1", "close -1"}));
}

TEST_F(RigProcessTest, ConfirmedCloseIsTrueEvenIfTheProcessStays) {
  RigOptions options = patient(pendulum_rig("--misbehave stays"));
  options.close_s = 0.2;
  Rig rig(options, kPendulumHello);
  EXPECT_TRUE(rig.close(kSafe));
  EXPECT_FALSE(rig.running());
}

TEST_F(RigProcessTest, WithoutCloseTheRigAppliesItsOwnSafeControl) {
  { const Rig rig(patient(pendulum_rig("--record " + path("record"))), kPendulumHello); }
  EXPECT_EQ(record(), Words{"end"});
}

TEST_F(RigProcessTest, RigsOfAKilledProgramApplyTheirOwnSafeControl) {
  const auto die = [](const std::string& command, const std::string& log) {
    RigOptions options = patient(command);
    options.log = log;
    const Rig rig(options, kPendulumHello);
    ::raise(SIGKILL);
  };
  const std::string script = "cat >/dev/null; echo 'nobody reads this' >&2; echo safe >" + path("shell");
  EXPECT_EXIT(die(pendulum_rig("--record " + path("record")), path("log")), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(die(shell_rig(script), path("log")), testing::KilledBySignal(SIGKILL), "");
  for (int i = 0; i < 60'000 && (record().empty() || text_of("shell").empty()); ++i) {
    ::usleep(1000);
  }
  EXPECT_EQ(record(), Words{"end"});
  EXPECT_EQ(text_of("shell"), "safe\n");
}

TEST_F(RigProcessTest, RigThatIsGoneSendsUsNoSigpipe) {
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  Rig rig(patient(shell_rig("exec 0</dev/null; exec cat /dev/null - 2>/dev/null; exit 0")), kPendulumHello);
  while (rig.running()) {
    ::usleep(1000);
  }
  EXPECT_THROW(rig.step(1, kSafe), RigError);
  EXPECT_FALSE(rig.close(kSafe));
  struct sigaction after {};
  ::sigaction(SIGPIPE, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

TEST_F(RigProcessTest, RigThatReadsNoMoreButLivesSendsUsNoSigpipe) {
  Rig rig(patient(shell_rig("exec 0</dev/null; sleep 1")), kPendulumHello);
  // Its input may still be open for a moment; then the deadline passes.
  EXPECT_THROW(rig.step(1, kSafe, 0.5), RigError);
  EXPECT_FALSE(rig.close(kSafe));
}

TEST_F(RigProcessTest, SignalsDoNotCutAWaitShort) {
  static volatile sig_atomic_t alarms = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { alarms = alarms + 1; };  // without SA_RESTART: every wait is interrupted
  struct sigaction before {};
  ::sigaction(SIGALRM, &action, &before);
  const itimerval often{{0, 2000}, {0, 2000}};
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  RigOptions options = patient(pendulum_rig("--real-time"));
  options.log = path("log");
  {
    Rig rig(options, kPendulumHello);
    for (Index id = 1; id <= 3; ++id) {
      EXPECT_EQ(rig.step(id, kSafe).status, RigStatus::kOk);
    }
    EXPECT_TRUE(rig.close(kSafe));
  }
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(alarms, 10);
}

TEST_F(RigProcessTest, RigHasCleanSignalsDescriptorsAndItsOwnGroup) {
  const int leaky = ::open("/dev/null", O_RDONLY);  // not closed on exec
  ASSERT_GT(leaky, 2);
  const auto previous = ::signal(SIGHUP, SIG_IGN);
  sigset_t blocked;
  sigset_t mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask);
  {
    RigOptions options = patient(shell_rig("cat /proc/self/status >&2; [ -e /proc/self/fd/" + std::to_string(leaky) +
                                           " ] && echo leaky >&2; read -r line"));
    options.log = path("log");
    Rig rig(options, kPendulumHello);
    EXPECT_EQ(::getpgid(rig.process_id()), rig.process_id());
    EXPECT_NE(::getpgid(rig.process_id()), ::getpgid(0));
    rig.close(kSafe);
  }
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGHUP, previous);
  ::close(leaky);
  const std::string log = text_of("log");
  EXPECT_NE(log.find("SigBlk:\t0000000000000000"), std::string::npos) << log;
  const std::size_t ignored = log.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos) << log;
  // SIGPIPE alone; signals from 32 on are the C library's own, which nobody may set.
  EXPECT_EQ(std::stoull(log.substr(ignored + 8, 16), nullptr, 16) & 0x7fffffffU, 0x1000U) << log;
  EXPECT_EQ(log.find("leaky"), std::string::npos);
}

TEST_F(RigProcessTest, WorksWhenOurOwnStandardDescriptorsAreClosed) {
  const auto child = [&] {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    Rig rig(patient(pendulum_rig()), kPendulumHello);
    const bool good = rig.step(1, kSafe).status == RigStatus::kOk && rig.close(kSafe);
    std::_Exit(good ? 0 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

TEST_F(RigProcessTest, FloodOfStderrFillsNeitherPipeNorDisk) {
  RigOptions options = patient(pendulum_rig("--misbehave flood-stderr"));
  options.log = path("log");
  options.log_bytes = 1 << 20;
  Rig rig(options, kPendulumHello);
  EXPECT_EQ(rig.step(1, kSafe).status, RigStatus::kOk);
  EXPECT_EQ(rig.step(2, kSafe).status, RigStatus::kOk);
  EXPECT_TRUE(rig.close(kSafe));
  EXPECT_GT(fs::file_size(path("log")), 0U);
  EXPECT_LE(fs::file_size(path("log")), 1U << 20U);
  EXPECT_LE(fs::file_size(path("log.1")), 1U << 20U);
  EXPECT_GT(fs::file_size(path("log.1")), 900'000U);
  EXPECT_EQ(entries_of(fs::path(path("log")).parent_path()), 2);
}

TEST_F(RigProcessTest, LogIsAppendedToAndRotatedAtItsLimit) {
  const auto run = [&](const std::string& text) {
    RigOptions options = patient(shell_rig("echo " + text + " >&2; read -r line"));
    options.log = path("log");
    options.log_bytes = 12;
    Rig(options, kPendulumHello).close(kSafe);
  };
  run("aaaa");
  run("bbbb");
  EXPECT_EQ(text_of("log"), "aaaa\nbbbb\n");
  run("cccc");
  EXPECT_EQ(text_of("log.1"), "aaaa\nbbbb\n");
  EXPECT_EQ(text_of("log"), "cccc\n");
}

TEST_F(RigProcessTest, DeviceAsLogIsNotRenamed) {
  RigOptions options = patient(shell_rig("echo aaaaaaaaaaaa >&2; echo aaaaaaaaaaaa >&2; read -r line"));
  options.log = path("null");
  options.log_bytes = 4;
  ASSERT_EQ(::symlink("/dev/null", path("null").c_str()), 0);
  Rig(options, kPendulumHello).close(kSafe);
  EXPECT_TRUE(fs::is_symlink(path("null")));
  EXPECT_FALSE(fs::exists(path("null.1")));
}

TEST_F(RigProcessTest, PipeAsLogNeedsAReader) {
  RigOptions options = patient(shell_rig("read -r line"));
  options.log = path("pipe");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(test::message_of<InputError>([&] { const Rig rig(options, kPendulumHello); }),
            path("pipe") + ": cannot write the rig's log: No such device or address");
}

/// Starts the example again and again, each time with another misbehaviour, and looks for what is left.
TEST_F(RigProcessTest, RestartsLeakNothing) {
  const char* const wanted = std::getenv("GPILOT_RIG_RESTARTS");
  const int restarts = wanted == nullptr ? 100 : std::atoi(wanted);
  const Words kinds{"",
                    "hang",
                    "die",
                    "die-midline",
                    "killed",
                    "garbage",
                    "long-line",
                    "deep",
                    "wrong-id",
                    "old-id",
                    "nan",
                    "infinity",
                    "late",
                    "fail",
                    "unsafe",
                    "extra-line",
                    "no-hello",
                    "wrong-dimension",
                    "closes-output",
                    "refuses",
                    "stays",
                    "missing",
                    "ignores-close",
                    "empty-line"};
  const Index descriptors = entries_of("/proc/self/fd");
  const Index threads = entries_of("/proc/self/task");
  for (int i = 0; i < restarts; ++i) {
    const std::string& kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
    const bool waits =
        kind == "hang" || kind == "late" || kind == "no-hello" || kind == "ignores-close" || kind == "stays";
    RigOptions options = patient(pendulum_rig(kind.empty() ? "" : "--misbehave " + kind + "@2"));
    options.log = i % 2 == 0 ? path("log") : "";
    options.start_s = kind == "no-hello" ? 0.05 : options.start_s;
    options.deadline_s = waits ? 0.05 : options.deadline_s;
    options.close_s = waits ? 0.05 : options.close_s;
    try {
      Rig rig(options, kPendulumHello);
      rig.step(1, kSafe);
      rig.step(2, kSafe);
      rig.step(3, kSafe);
      if (i % 3 != 0) {
        rig.close(kSafe);
      }
    } catch (const RigError&) {  // which one is the business of other tests
    }
    ASSERT_FALSE(has_children()) << kind;
    ASSERT_EQ(entries_of("/proc/self/fd"), descriptors) << kind;
    ASSERT_TRUE(threads_become(threads)) << kind;
  }
}

}  // namespace
}  // namespace gpilot::rig
