#pragma once

#include <gtest/gtest.h>

#include <string>

#include "gpilot/study/config.hpp"

namespace gpilot::test {

/// Lines 1 to 12; what a test adds begins at line 13.
inline const std::string kSmall =
    "[study]\n"
    "dt = 0.1\n"
    "\n"
    "[[input]]\n"
    "name = \"torque\"\n"
    "low = -1\n"
    "high = 2.5\n"
    "\n"
    "[[output]]\n"
    "name = \"angle\"\n"
    "low = -3\n"
    "high = 3\n";

inline const std::string kStates =
    "[[state]]\n"
    "name = \"angle\"\n"
    "[[state]]\n"
    "name = \"velocity\"\n"
    "derivative_of = \"angle\"\n";

inline study::StudyConfig parsed(const std::string& text) {
  return study::parse_config(text, "f.toml");
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

inline void expect_contains(const std::string& message, const std::string& text) {
  EXPECT_NE(message.find(text), std::string::npos) << message << "\n  lacks: " << text;
}

}  // namespace gpilot::test
