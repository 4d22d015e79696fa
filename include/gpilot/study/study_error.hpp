#pragma once

#include <stdexcept>

namespace gpilot::study {

/// The study's file could not be read or written: a full or failing disk, a damaged file. What was acknowledged before
/// is in the file.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Another process writes to the study.
class StudyBusy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gpilot::study
