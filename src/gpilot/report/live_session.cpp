#include "gpilot/report/live_session.hpp"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gpilot/report/access.hpp"
#include "gpilot/report/page.hpp"

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

template <class Fields>
void set_security_headers(Fields& answer) {
  for (const auto& [name, value] : kSecurityHeaders) {
    answer.set(name, value);
  }
}

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

using Request = http::request<http::string_body>;
using Answer = http::response<http::span_body<const char>>;

/// One connection.
class Session final : public Listener, public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, LiveServer& server)
      : stream_(std::move(socket)), timer_(stream_.get_executor()), server_(server) {
    ++server_.connections;
  }
  ~Session() override {
    server_.news.listeners.erase(this);
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
  void notify() override {
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
    if (!is_own_host(view(request_[http::field::host]), reached_.address().to_string(),
                     reached_.address().is_loopback(), server_.options.names)) {
      return answer(http::status::misdirected_request, "this server has another name\n", false);
    }
    if (request_.method() != http::verb::get && request_.method() != http::verb::head) {
      return answer(http::status::method_not_allowed, "only GET and HEAD\n", false);
    }
    const std::string_view target = view(request_.target());
    const std::string_view path = target.substr(0, target.find('?'));
    if (takes_token(target)) {
      cookie_ = token_cookie(server_.options.token);
      return answer(http::status::see_other, "", keep);
    }
    if (!knows_token(view(request_[http::field::authorization]), view(request_[http::field::cookie]),
                     server_.options.token)) {
      return answer(http::status::unauthorized, "open the address with its token, as 'gpilot serve' printed it\n",
                    false);
    }
    send_path(path, target, keep);
  }

  void send_path(std::string_view path, std::string_view target, bool keep) {
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
    constexpr std::string_view kSince = "/changes?since=";
    if (path == "/record.json" || path == "/changes") {
      held_ = path == "/record.json"
                  ? server_.news.record()
                  : server_.news.update(target.starts_with(kSince) ? target.substr(kSince.size()) : "");
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
    text_ += "\r\n" + server_.news.event();
    server_.news.listeners.insert(this);
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
    text_ = fresh_ ? server_.news.event() : ":\n\n";
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
    server_.news.listeners.erase(this);
    timer_.cancel();
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.socket().close(ignored);
  }

  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  LiveServer& server_;
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

}  // namespace

void start_session(tcp::socket socket, LiveServer& server) {
  std::make_shared<Session>(std::move(socket), server)->start();
}

void refuse_session(tcp::socket socket, LiveServer& server) {
  std::make_shared<Session>(std::move(socket), server)->refuse();
}

}  // namespace gpilot::report
