#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "fuzz.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/table.hpp"

namespace {

using namespace gpilot;
using fuzz::require;

/// A file in memory, since the reader reads files.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("table.csv", 0)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {
    require(descriptor_ >= 0, "memfd_create works");
  }

  const std::string& hold(std::string_view text) const {
    require(::ftruncate(descriptor_, 0) == 0, "ftruncate works");
    require(::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()), "pwrite works");
    return path_;
  }

 private:
  int descriptor_;
  std::string path_;
};

bool same_bits(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    return false;
  }
  for (Index i = 0; i < a.size(); ++i) {
    const double x = a.data()[i];
    const double y = b.data()[i];
    if (!(std::isnan(x) && std::isnan(y)) && std::memcmp(&x, &y, sizeof x) != 0) {
      return false;
    }
  }
  return true;
}

void check(const io::Table& table) {
  require(table.rows() >= 1, "at least one row");
  require(table.values.cols() == static_cast<Index>(table.columns.size()) && !table.columns.empty(),
          "a column for every name");
  const std::set<std::string> names(table.columns.begin(), table.columns.end());
  require(names.size() == table.columns.size() && !names.contains(""), "names that differ and are not empty");
  require(!table.values.array().isInf().any(), "values are finite or missing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  io::Table table;
  try {
    table = io::read_csv(file.hold(fuzz::text_of(data, size)));
  } catch (const InputError& error) {
    fuzz::require_readable(error.what());
    return 0;
  }
  check(table);
  const std::string text = io::format_csv(table);
  try {
    const io::Table again = io::read_csv(file.hold(text));
    require(again.columns == table.columns, "names that were written read back", text);
    require(same_bits(again.values, table.values), "values that were written read back to the same bits", text);
  } catch (const InputError& error) {
    require(false, error.what(), text);
  }
  return 0;
}
