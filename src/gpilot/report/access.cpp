#include "gpilot/report/access.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpilot::report {

namespace {

constexpr std::string_view kCookie = "gpilot_token=";
constexpr std::string_view kBearer = "Bearer ";
constexpr std::size_t kLeastToken = 16;

/// "127.0.0.1:8717", "[::1]:8717" and "localhost" without their port.
std::string_view host_name(std::string_view field) {
  if (field.starts_with('[')) {
    return field.substr(0, field.find(']') + 1);
  }
  return field.substr(0, field.rfind(':'));
}

}  // namespace

bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  }
  return difference == 0;
}

bool is_own_host(std::string_view field, const std::string& address, bool loopback,
                 const std::vector<std::string>& names) {
  const std::string_view name = host_name(field);
  const bool v6 = address.find(':') != std::string::npos;
  return name == (v6 ? fmt::format("[{}]", address) : address) || (name == "localhost" && loopback) ||
         std::ranges::find(names, name) != names.end();
}

bool knows_token(std::string_view authorization, std::string_view cookies, std::string_view token) {
  if (token.empty()) {
    return true;
  }
  if (authorization.starts_with(kBearer) && same_secret(authorization.substr(kBearer.size()), token)) {
    return true;
  }
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view cookie = cookies.substr(0, end);
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    if (cookie.starts_with(kCookie) && same_secret(cookie.substr(kCookie.size()), token)) {
      return true;
    }
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
  }
  return false;
}

std::string token_cookie(std::string_view token) {
  return fmt::format("{}{}; HttpOnly; SameSite=Strict; Path=/", kCookie, token);
}

bool is_usable_token(std::string_view token) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  return token.size() >= kLeastToken && std::ranges::all_of(token, plain);
}

}  // namespace gpilot::report
