#pragma once

#include <gtest/gtest.h>

#include <string>

namespace gpilot::test {

/// The message of the exception that `action` throws; fails the test if it throws none or one of another type.
template <class Exception, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "expected an exception";
  return "";
}

}  // namespace gpilot::test
