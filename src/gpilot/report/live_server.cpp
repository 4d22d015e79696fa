#include "gpilot/report/live_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/report/page.hpp"
#include "gpilot/report/study_watch.hpp"

namespace gpilot::report {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using beast::error_code;
using std::chrono::seconds;

constexpr std::uint32_t kLargestHeader = 8 * 1024;
constexpr std::size_t kLargestBody = 1024;  // nothing here takes one
constexpr seconds kRequestTime{10};         // until a request has come whole
constexpr seconds kIdleTime{30};            // until the next one comes
constexpr seconds kAnswerTime{30};          // until an answer is taken
constexpr seconds kHeartbeat{15};           // so that a client which is gone is noticed
constexpr int kRequests = 1000;             // on one connection
constexpr std::size_t kLeastToken = 16;

// Only what this server itself sends is run or shown.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

template <class Fields>
void set_security_headers(Fields& answer) {
  answer.set("Content-Security-Policy", kPolicy);
  answer.set("X-Content-Type-Options", "nosniff");
  answer.set("X-Frame-Options", "DENY");
  answer.set("Referrer-Policy", "no-referrer");
  answer.set("Cross-Origin-Opener-Policy", "same-origin");
  answer.set("Cross-Origin-Resource-Policy", "same-origin");
  answer.set("Cache-Control", "no-store");
}

/// Takes as long for a wrong token as for the right one.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  }
  return difference == 0;
}

/// "127.0.0.1:8717", "[::1]:8717" and "localhost" without their port.
std::string_view host_name(std::string_view field) {
  if (field.starts_with('[')) {
    return field.substr(0, field.find(']') + 1);
  }
  return field.substr(0, field.rfind(':'));
}

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

using Request = http::request<http::string_body>;
using Answer = http::response<http::span_body<const char>>;

/// What all connections share; used by one thread.
struct Server {
  const ServeOptions& options;
  StudyNews news{};
  Index connections = 0;
  std::set<class Session*> listeners{};  ///< that wait for events

  bool is_own_host(std::string_view field, const tcp::endpoint& reached) const;
  bool knows_token(const Request& request) const;
  std::string event() const;
};

bool Server::is_own_host(std::string_view field, const tcp::endpoint& reached) const {
  const std::string_view name = host_name(field);
  const asio::ip::address address = reached.address();
  const std::string own = address.is_v6() ? fmt::format("[{}]", address.to_string()) : address.to_string();
  return name == own || (name == "localhost" && address.is_loopback()) ||
         std::ranges::find(options.names, name) != options.names.end();
}

/// In the header of a program, or in the cookie that a browser was given.
bool Server::knows_token(const Request& request) const {
  if (options.token.empty()) {
    return true;
  }
  const std::string_view bearer = view(request[http::field::authorization]);
  constexpr std::string_view kBearer = "Bearer ";
  if (bearer.starts_with(kBearer) && same_secret(bearer.substr(kBearer.size()), options.token)) {
    return true;
  }
  std::string_view cookies = view(request[http::field::cookie]);
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view cookie = cookies.substr(0, end);
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    constexpr std::string_view kName = "gpilot_token=";
    if (cookie.starts_with(kName) && same_secret(cookie.substr(kName.size()), options.token)) {
      return true;
    }
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
  }
  return false;
}

std::string Server::event() const {
  const Json data = {{"version", news.version}, {"problem", news.problem}};
  return fmt::format("event: study\ndata: {}\n\n", embeddable(data));
}

/// One connection.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Server& server)
      : stream_(std::move(socket)), timer_(stream_.get_executor()), server_(server) {
    ++server_.connections;
  }
  ~Session() {
    server_.listeners.erase(this);
    --server_.connections;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&&) = delete;
  Session& operator=(Session&&) = delete;

  void start() {
    error_code error;
    reached_ = stream_.socket().local_endpoint(error);
    read(kRequestTime);
  }
  void refuse() { answer(http::status::service_unavailable, "too many clients\n", false); }
  /// There is something new: said at once, or after what is being said.
  void notify() {
    fresh_ = true;
    write_event();
  }

 private:
  void read(seconds time) {
    parser_.emplace();
    parser_->header_limit(kLargestHeader);
    parser_->body_limit(kLargestBody);
    stream_.expires_after(time);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) { self->on_read(error); });
  }

  void on_read(error_code error) {
    if (error == http::error::header_limit) {
      answer(http::status::request_header_fields_too_large, "the header is too large\n", false);
    } else if (error == http::error::body_limit) {
      answer(http::status::payload_too_large, "the request is too large\n", false);
    } else if (error && error.category() == make_error_code(http::error::end_of_stream).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      answer(http::status::bad_request, "not a request\n", false);
    } else if (!error) {
      request_ = parser_->release();
      respond();
    }  // else the client is gone, or was too slow
  }

  void respond() {
    const bool keep = request_.keep_alive() && ++requests_ < kRequests;
    if (!server_.is_own_host(view(request_[http::field::host]), reached_)) {
      return answer(http::status::misdirected_request, "this server has another name\n", false);
    }
    if (request_.method() != http::verb::get && request_.method() != http::verb::head) {
      return answer(http::status::method_not_allowed, "only GET and HEAD\n", false);
    }
    const std::string_view target = view(request_.target());
    const std::string_view path = target.substr(0, target.find('?'));
    if (takes_token(target)) {
      cookie_ = fmt::format("gpilot_token={}; HttpOnly; SameSite=Strict; Path=/", server_.options.token);
      return answer(http::status::see_other, "", keep);
    }
    if (!server_.knows_token(request_)) {
      return answer(http::status::unauthorized, "open the address with its token, as 'gpilot serve' printed it\n",
                    false);
    }
    const WebAssets& assets = web_assets();
    if (path == "/") {
      return answer(http::status::ok, assets.live, keep, "text/html; charset=utf-8");
    }
    if (path == "/page.js") {
      return answer(http::status::ok, assets.script, keep, "text/javascript; charset=utf-8");
    }
    if (path == "/page.css") {
      return answer(http::status::ok, assets.style, keep, "text/css; charset=utf-8");
    }
    if (path == "/record.json") {
      held_ = server_.news.record;
      return held_ ? answer(http::status::ok, *held_, keep, "application/json")
                   : answer(http::status::service_unavailable, "nothing has been read yet\n", keep);
    }
    if (path == "/events" && request_.method() == http::verb::get) {
      return begin_events();
    }
    answer(http::status::not_found, "there is nothing here\n", keep);
  }

  /// Whether this is the address with the token, by which a browser is let in.
  bool takes_token(std::string_view target) const {
    constexpr std::string_view kStart = "/?token=";
    return !server_.options.token.empty() && target.starts_with(kStart) &&
           same_secret(target.substr(kStart.size()), server_.options.token);
  }

  /// `body` must live until the answer is sent: it is a constant, or held_.
  void answer(http::status status, std::string_view body, bool keep,
              std::string_view type = "text/plain; charset=utf-8") {
    const bool head_only = request_.method() == http::verb::head;
    answer_ = {};
    answer_.version(11);
    answer_.result(status);
    set_security_headers(answer_);
    answer_.set(http::field::content_type, boost::beast::string_view(type.data(), type.size()));
    if (!cookie_.empty()) {
      answer_.set(http::field::set_cookie, std::exchange(cookie_, ""));
      answer_.set(http::field::location, "/");
    }
    if (status == http::status::method_not_allowed) {
      answer_.set(http::field::allow, "GET, HEAD");
    }
    answer_.keep_alive(keep);
    answer_.content_length(body.size());
    answer_.body() = {body.data(), head_only ? 0 : body.size()};
    stream_.expires_after(kAnswerTime);
    serializer_.emplace(answer_);
    serializer_->split(false);
    const auto done = [self = shared_from_this(), keep](error_code error, std::size_t) {
      if (!error && keep) {
        self->read(kIdleTime);
      } else {
        self->close();
      }
    };
    if (head_only) {
      http::async_write_header(stream_, *serializer_, done);
    } else {
      http::async_write(stream_, *serializer_, done);
    }
  }

  void begin_events() {
    http::response<http::empty_body> head{http::status::ok, 11};
    set_security_headers(head);
    head.set(http::field::content_type, "text/event-stream");
    head.set(http::field::connection, "close");
    text_ = fmt::format("HTTP/1.1 200 OK\r\n");
    for (const auto& field : head) {
      text_ += fmt::format("{}: {}\r\n", view(field.name_string()), view(field.value()));
    }
    text_ += "\r\n" + server_.event();
    server_.listeners.insert(this);
    streaming_ = true;
    send();
    wait_for_end();
    beat();
  }

  /// A client says nothing here: whatever comes is its end.
  void wait_for_end() {
    stream_.socket().async_read_some(asio::buffer(&ignored_, 1), [self = shared_from_this()](error_code, std::size_t) {
      self->streaming_ = false;
      self->close();
    });
  }

  void beat() {
    timer_.expires_after(kHeartbeat);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error && self->streaming_) {
        self->beating_ = true;
        self->write_event();
        self->beat();
      }
    });
  }

  void write_event() {
    if (sending_ || !streaming_ || (!fresh_ && !beating_)) {
      return;
    }
    text_ = fresh_ ? server_.event() : ":\n\n";
    fresh_ = false;
    beating_ = false;
    send();
  }

  void send() {
    sending_ = true;
    stream_.expires_after(kAnswerTime);
    asio::async_write(stream_, asio::buffer(text_), [self = shared_from_this()](error_code error, std::size_t) {
      self->sending_ = false;
      self->stream_.expires_never();
      if (error) {
        self->close();
      } else {
        self->write_event();
      }
    });
  }

  void close() {
    streaming_ = false;
    server_.listeners.erase(this);
    timer_.cancel();
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.socket().close(ignored);
  }

  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  Server& server_;
  tcp::endpoint reached_;
  beast::flat_buffer buffer_{kLargestHeader + kLargestBody + 1024};
  std::optional<http::request_parser<http::string_body>> parser_;
  Request request_;
  Answer answer_;
  std::optional<http::response_serializer<http::span_body<const char>>> serializer_;
  std::shared_ptr<const std::string> held_;
  std::string cookie_;
  std::string text_;  ///< of an event, while it is sent
  int requests_ = 0;
  char ignored_ = 0;
  bool streaming_ = false, sending_ = false, fresh_ = false, beating_ = false;
};

/// Takes connections one after the other; those beyond the limit are told so, and beyond twice the limit dropped.
void accept(tcp::acceptor& acceptor, Server& server) {
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
      std::make_shared<Session>(std::move(socket), server)->start();
    } else if (server.connections < 2 * server.options.clients) {
      std::make_shared<Session>(std::move(socket), server)->refuse();
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
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  if (!token.empty() && (token.size() < kLeastToken || !std::ranges::all_of(token, plain))) {
    throw InputError(fmt::format("--token: expected at least {} letters, digits, - and _", kLeastToken));
  }
  if (clients < 1) {
    throw InputError(fmt::format("--clients: {}, expected at least 1", clients));
  }
}

void serve_study(const std::string& study, const ServeOptions& options, const std::atomic<bool>& stop,
                 const std::function<void(std::uint16_t port)>& listening) {
  options.validate();
  require_page();
  asio::io_context io(1);
  Server server{options};
  tcp::acceptor acceptor = listen(io, options);
  accept(acceptor, server);
  listening(acceptor.local_endpoint().port());
  std::atomic<bool> ended{false};
  std::thread watcher([&] {
    watch_study(study, options.describe, ended, [&](const StudyNews& news) {
      asio::post(io, [&server, news] {
        server.news = news;
        const std::set<Session*> listeners = server.listeners;
        std::ranges::for_each(listeners, [](Session* session) { session->notify(); });
      });
    });
  });
  // Signals only set a flag, which nobody but this loop looks at.
  while (!stop) {
    io.run_for(std::chrono::milliseconds(100));
  }
  ended = true;
  watcher.join();
}

}  // namespace gpilot::report
