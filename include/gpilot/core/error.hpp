#pragma once

#include <stdexcept>
#include <string>

namespace gpilot {

/// What the user gave is wrong: a file, a line, an option, a value. The message names it and says what was expected.
/// The command line program ends with exit code 2.
class InputError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The input was fine, the computation was not: a factorisation failed, a bound is not finite. Exit code 1.
class NumericalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Somebody wanted the work to end before it was done: a stop flag became true. Nothing was changed.
class Cancelled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gpilot
