#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/report/record.hpp"

/// The page of a study, live, for browsers: read-only, with limits on all that a client may ask for.
namespace gpilot::report {

struct ServeOptions {
  std::string host = "127.0.0.1";  ///< an address of this machine
  std::uint16_t port = 8717;       ///< 0: any that is free
  std::string token;               ///< that a client must know; needed for any address but the loopback's
  std::vector<std::string> names;  ///< by which this machine may be asked for, beside its address and localhost
  Index clients = 64;              ///< connections at a time
  DescribeModel describe{};

  /// Throws InputError naming the field.
  void validate() const;
};

/// Whether an address reaches this machine alone.
bool is_loopback(const std::string& host);

/// Serves until `stop`. `listening` is told the port. Throws InputError where the address cannot be listened at.
void serve_study(const std::string& study, const ServeOptions& options, const std::atomic<bool>& stop,
                 const std::function<void(std::uint16_t port)>& listening);

}  // namespace gpilot::report
