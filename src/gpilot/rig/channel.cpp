#include "gpilot/rig/channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "gpilot/rig/protocol.hpp"

namespace gpilot::rig {
namespace {

using Kind = RigError::Kind;
constexpr int kAnyTime = std::numeric_limits<int>::max();

/// Waits for a descriptor; false once the deadline has passed.
bool wait_for(const posix::Descriptor& descriptor, short events, const posix::Deadline& deadline) {
  for (;;) {
    pollfd wait{descriptor.get(), events, 0};
    const int ready = ::poll(&wait, 1, deadline.milliseconds_left(kAnyTime));
    if (ready > 0) {
      return true;
    }
    if ((ready == 0 || errno == EINTR) && deadline.passed()) {
      return false;
    }
    if (ready < 0 && errno != EINTR && errno != EAGAIN) {
      throw RigError(Kind::kDied, "cannot wait for the rig");
    }
  }
}

void check_length(std::string_view line) {
  if (line.size() > kLongestRigLine) {
    throw RigError(Kind::kTooLong,
                   fmt::format("a line of more than {} bytes: {}", kLongestRigLine, quote_rig_line(line)));
  }
}

}  // namespace

RigChannel::RigChannel(posix::Descriptor to_rig, posix::Descriptor from_rig)
    : to_rig_(std::move(to_rig)), from_rig_(std::move(from_rig)) {
  posix::set_nonblocking(to_rig_);
  posix::set_nonblocking(from_rig_);
}

RigChannel::Outcome RigChannel::read_some() {
  std::array<char, 1 << 16> chunk;
  for (;;) {
    const ssize_t count = ::read(from_rig_.get(), chunk.data(), chunk.size());
    if (count > 0) {
      searched_ -= taken_;
      buffer_.erase(0, std::exchange(taken_, 0));  // once a read, not once a line: there may be thousands
      buffer_.append(chunk.data(), static_cast<std::size_t>(count));
      return Outcome::kSome;
    }
    if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      return Outcome::kEnd;
    }
    if (errno == EAGAIN) {
      return Outcome::kNothing;
    }
  }
}

RigChannel::Outcome RigChannel::write_some(std::string_view& text) {
  const posix::SigpipeGuard guard;
  for (;;) {
    const ssize_t count = ::write(to_rig_.get(), text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
      return Outcome::kSome;
    }
    if (errno == EAGAIN) {
      return Outcome::kNothing;
    }
    if (errno != EINTR) {
      return Outcome::kEnd;
    }
  }
}

bool RigChannel::take_line(std::string& line) {
  const std::size_t end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    return false;
  }
  line.assign(buffer_, taken_, end - taken_);
  taken_ = searched_ = end + 1;
  return true;
}

void RigChannel::expect_silence() {
  const Outcome outcome = rest().empty() ? read_some() : Outcome::kSome;
  if (outcome == Outcome::kSome) {
    throw RigError(Kind::kUnsolicited, quote_rig_line(rest().substr(0, rest().find('\n'))));
  }
  if (outcome == Outcome::kEnd) {
    throw RigError(Kind::kDied, "");
  }
}

void RigChannel::send(std::string_view line, const posix::Deadline& deadline) {
  while (!line.empty()) {
    const std::size_t before = line.size();
    if (write_some(line) == Outcome::kEnd) {
      throw RigError(Kind::kDied, "");
    }
    amid_line_ = !line.empty() && (amid_line_ || line.size() < before);
    if (!line.empty() && !wait_for(to_rig_, POLLOUT, deadline)) {
      throw RigError(Kind::kTimeout, "the rig does not read its input");
    }
  }
}

std::string RigChannel::receive(const posix::Deadline& deadline) {
  std::string line;
  while (!take_line(line)) {
    check_length(rest());
    if (!wait_for(from_rig_, POLLIN, deadline)) {
      throw RigError(Kind::kTimeout,
                     rest().empty() ? "" : fmt::format("it sent only a part of a line: {}", quote_rig_line(rest())));
    }
    if (read_some() == Outcome::kEnd) {
      throw RigError(Kind::kDied,
                     rest().empty() ? "" : fmt::format("after a part of a line: {}", quote_rig_line(rest())));
    }
  }
  check_length(line);
  return line;
}

/// A little at a time: a rig that writes for ever does not keep us.
void RigChannel::drain(const std::function<void(std::string_view)>& on_line) {
  const Outcome outcome = from_rig_.is_open() ? read_some() : Outcome::kNothing;
  if (outcome == Outcome::kEnd) {
    from_rig_.reset();
  }
  std::string line;
  while (outcome == Outcome::kSome && take_line(line)) {
    on_line(line);
  }
  if (rest().size() > kLongestRigLine) {
    buffer_.clear();
    taken_ = searched_ = 0;
  }
}

void RigChannel::finish(std::string_view line, const posix::Deadline& deadline, const std::function<bool()>& done,
                        const std::function<void(std::string_view)>& on_line) {
  // What the rig has of an interrupted request becomes a line of its own, which is no JSON and cannot be applied.
  std::string text;
  if (amid_line_ && !line.empty()) {
    text += '\n';
  }
  text += line;
  std::string_view unsent = text;
  amid_line_ = false;
  constexpr int kReadsAfterTheEnd = 32;  // what a pipe holds, with room to spare
  for (int left = kReadsAfterTheEnd; left > 0;) {
    left = deadline.passed() ? 0 : done() ? left - 1 : left;
    if (to_rig_.is_open() && (unsent.empty() || write_some(unsent) == Outcome::kEnd || unsent.empty())) {
      to_rig_.reset();
    }
    drain(on_line);
    if (left == kReadsAfterTheEnd) {
      constexpr int kStep = 2;  // the end of a process wakes no poll
      std::array<pollfd, 2> wait{{{from_rig_.get(), POLLIN, 0}, {to_rig_.get(), POLLOUT, 0}}};
      ::poll(wait.data(), wait.size(), deadline.milliseconds_left(kStep));
    }
  }
}

}  // namespace gpilot::rig
