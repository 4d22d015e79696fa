#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Who may ask the server of a live page, and what every answer tells a browser.
namespace gpilot::report {

/// Headers of every answer: only what this server itself sends is run or shown, and nothing is kept.
inline constexpr std::array<std::pair<const char*, const char*>, 7> kSecurityHeaders{{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
}};

/// Takes as long for a wrong secret as for the right one.
bool same_secret(std::string_view a, std::string_view b);

/// Whether the Host header names this machine: by the address that was reached, as localhost if that is the loopback's,
/// or by an allowed name. Otherwise a page elsewhere could reach the server through a name that it points here.
bool is_own_host(std::string_view field, const std::string& address, bool loopback,
                 const std::vector<std::string>& names);

/// Whether a program's Authorization header or a browser's cookies hold the token; an empty one is known to all.
bool knows_token(std::string_view authorization, std::string_view cookies, std::string_view token);

/// The cookie by which a browser that knew the token is let in from then on.
std::string token_cookie(std::string_view token);

/// Whether a token is long enough, and plain enough for an address and a cookie.
bool is_usable_token(std::string_view token);

}  // namespace gpilot::report
