#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "gpilot/core/types.hpp"
#include "gpilot/report/live_news.hpp"
#include "gpilot/report/live_server.hpp"

namespace gpilot::report {

/// What all connections share; used by one thread.
struct LiveServer {
  const ServeOptions& options;
  LiveNews news{};
  Index connections = 0;
};

/// Answers the requests of one connection until it ends; it keeps itself alive.
void start_session(boost::asio::ip::tcp::socket socket, LiveServer& server);
/// Tells a client that there are too many, and ends.
void refuse_session(boost::asio::ip::tcp::socket socket, LiveServer& server);

}  // namespace gpilot::report
