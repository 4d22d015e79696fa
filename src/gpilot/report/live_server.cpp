#include "gpilot/report/live_server.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/report/access.hpp"
#include "gpilot/report/live_session.hpp"
#include "gpilot/report/page.hpp"

namespace gpilot::report {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Takes connections one after the other; those beyond the limit are told so, and beyond twice the limit dropped.
void accept(tcp::acceptor& acceptor, LiveServer& server) {
  acceptor.async_accept([&](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) {
      return;
    }
    if (error) {  // no descriptor left, say: a moment later there may be one
      auto pause = std::make_shared<asio::steady_timer>(acceptor.get_executor(), std::chrono::milliseconds(100));
      pause->async_wait([&, pause](error_code) { accept(acceptor, server); });
      return;
    }
    if (server.connections < server.options.clients) {
      start_session(std::move(socket), server);
    } else if (server.connections < 2 * server.options.clients) {
      refuse_session(std::move(socket), server);
    }
    accept(acceptor, server);
  });
}

tcp::acceptor listen(asio::io_context& io, const ServeOptions& options) {
  const tcp::endpoint endpoint(asio::ip::make_address(options.host), options.port);
  tcp::acceptor acceptor(io);
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) {
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
  if (error) {
    throw InputError(fmt::format("cannot listen at {} port {}: {}; --port takes another one, 0 any that is free",
                                 options.host, options.port, error.message()));
  }
  return acceptor;
}

}  // namespace

bool is_loopback(const std::string& host) {
  error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  return !error && address.is_loopback();
}

void ServeOptions::validate() const {
  error_code error;
  asio::ip::make_address(host, error);
  if (error) {
    throw InputError(
        fmt::format("--host: '{}' is not an address, expected one of this machine such as 127.0.0.1, "
                    "0.0.0.0 (all of them) or ::1",
                    host));
  }
  if (token.empty() && !is_loopback(host)) {
    throw InputError(fmt::format("--host: {} can be reached from elsewhere, so a --token is needed", host));
  }
  if (!token.empty() && !is_usable_token(token)) {
    throw InputError("--token: expected at least 16 letters, digits, - and _");
  }
  if (clients < 1) {
    throw InputError(fmt::format("--clients: {}, expected at least 1", clients));
  }
}

void serve_study(const std::string& study, const ServeOptions& options, const std::atomic<bool>& stop,
                 const std::function<void(std::uint16_t port)>& listening) {
  options.validate();
  require_page();
  LiveServer server{options};
  asio::io_context io(1);  // its sessions, which end with it, know the server
  tcp::acceptor acceptor = listen(io, options);
  accept(acceptor, server);
  listening(acceptor.local_endpoint().port());
  std::atomic<bool> ended{false};
  std::thread watcher([&] {
    watch_study(study, options.describe, ended,
                [&](const StudyNews& news) { asio::post(io, [&server, news] { server.news.take(news); }); });
  });
  // Signals only set a flag, which nobody but this loop looks at.
  while (!stop) {
    io.run_for(std::chrono::milliseconds(100));
  }
  ended = true;
  watcher.join();
}

}  // namespace gpilot::report
