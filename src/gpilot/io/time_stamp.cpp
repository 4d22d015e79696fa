#include "gpilot/io/time_stamp.hpp"

#include <charconv>
#include <chrono>

namespace gpilot::io {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Takes pieces from the front of a text; the first that does not fit makes it fail.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// A number of just so many digits.
  int digits(std::size_t count) {
    int value = 0;
    const std::string_view piece = text_.substr(0, count);
    const bool all = piece.size() == count && piece.find_first_not_of("0123456789") == std::string_view::npos;
    ok_ = ok_ && all;
    if (ok_) {
      std::from_chars(piece.data(), piece.data() + count, value);
      text_.remove_prefix(count);
    }
    return value;
  }
  /// Whether the next character is one of these, which is then taken.
  bool take(std::string_view any) {
    if (text_.empty() || any.find(text_.front()) == std::string_view::npos) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }
  void expect(std::string_view any) { ok_ = take(any) && ok_; }
  /// Digits after a decimal mark, in nanoseconds; those beyond are dropped.
  std::int64_t fraction() {
    std::int64_t unit = kSecond;
    std::int64_t value = 0;
    bool any = false;
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; text_.remove_prefix(1)) {
      unit /= 10;
      value += unit * (text_.front() - '0');
      any = true;
    }
    ok_ = ok_ && any;
    return value;
  }
  bool starts_with(std::string_view any) const {
    return !text_.empty() && any.find(text_.front()) != std::string_view::npos;
  }
  bool empty() const { return text_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::string_view text_;
  bool ok_ = true;
};

}  // namespace

std::optional<std::int64_t> parse_time_stamp(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  constexpr int kFirstYear = 1700;  // nanoseconds fit 64 bits within 292 years of 1970
  constexpr int kLastYear = 2260;
  if (text.size() > kLongest) {
    return {};
  }
  Scanner scan(text);
  const int year = scan.digits(4);
  scan.expect("-");
  const int month = scan.digits(2);
  scan.expect("-");
  const int day = scan.digits(2);
  scan.expect("T t");
  const int hour = scan.digits(2);
  scan.expect(":");
  const int minute = scan.digits(2);
  int second = 0;
  std::int64_t nanoseconds = 0;
  if (scan.take(":")) {
    second = scan.digits(2);
    nanoseconds = scan.take(".,") ? scan.fraction() : 0;
  }
  int offset = 0;  // minutes
  if (scan.starts_with("+-")) {
    const int sign = scan.take("-") ? -1 : 1;
    scan.take("+");
    offset = 60 * scan.digits(2);
    const bool colon = scan.take(":");
    offset += colon || !scan.empty() ? scan.digits(2) : 0;
    offset *= sign;
  } else {
    scan.take("Zz");
  }
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  constexpr int kLeapSecond = 60;
  if (!scan.ok() || !scan.empty() || !date.ok() || year < kFirstYear || year > kLastYear || hour > 23 || minute > 59 ||
      second > kLeapSecond) {
    return {};
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * kSecond + nanoseconds;
}

}  // namespace gpilot::io
