#include "gpilot/io/csv_recordings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "gpilot/core/error.hpp"
#include "support/message_of.hpp"

namespace gpilot::io {
namespace {

namespace fs = std::filesystem;
using ::gpilot::test::message_of;
using inference::Window;

class CsvFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::temp_directory_path() / ("gpilot_csv_" + std::string(test->name()) + std::to_string(::getpid()));
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = (directory_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  /// Columns y, note, u, t; y = row, u = -row.
  std::string counted(const std::string& name, Index rows, double dt = 0.5) const {
    std::string text = "y,note,u,t\n";
    for (Index t = 0; t < rows; ++t) {
      text += std::to_string(t) + ",7," + std::to_string(-t) + "," + std::to_string(dt * static_cast<double>(t)) + "\n";
    }
    return file(name, text);
  }
  std::string without_directory(std::string message) const {
    const std::size_t at = message.find(directory_.string());
    return at == std::string::npos ? message : message.erase(at, directory_.string().size() + 1);
  }

  fs::path directory_;
};

TEST_F(CsvFiles, WindowsAreTheRowsOfTheFiles) {
  const CsvRecordings recordings({counted("a.csv", 30), counted("b.csv", 12)}, {"u"}, {"y"}, "2:25");
  EXPECT_EQ(recordings.count(), 2);
  EXPECT_EQ(recordings.rows(0), 23);
  EXPECT_EQ(recordings.rows(1), 10);
  EXPECT_EQ(recordings.dt(1), 0.5);
  const std::vector<Window> windows{{0, 0, 5}, {0, 3, 9}, {0, 3, 10}, {0, 15, 23}, {1, 1, 4}, {1, 9, 10}};
  std::size_t visited = 0;
  recordings.read(windows, [&](std::size_t k, const ssm::Sequence& rows) {
    EXPECT_EQ(k, visited++);
    EXPECT_EQ(rows.rows(), windows[k].rows());
    for (Index t = 0; t < rows.rows(); ++t) {
      EXPECT_EQ(rows.outputs(t, 0), static_cast<double>(2 + windows[k].begin + t));
      EXPECT_EQ(rows.controls(t, 0), -static_cast<double>(2 + windows[k].begin + t));
    }
    return true;
  });
  EXPECT_EQ(visited, windows.size());
  visited = 0;
  recordings.read(windows, [&](std::size_t /*k*/, const ssm::Sequence& /*rows*/) { return ++visited < 2; });
  EXPECT_EQ(visited, 2U);
}

TEST_F(CsvFiles, ScanningFindsWhatReadingWouldFind) {
  const auto error_of = [&](const std::string& text, const char* rows = "", std::optional<double> dt = {}) {
    const std::string path = file("a.csv", text);
    return without_directory(message_of<InputError>([&] { CsvRecordings({path}, {"u"}, {"y"}, rows, dt); }));
  };
  EXPECT_EQ(error_of("u,y\n1,2\n,3\n4,5\n"),
            "a.csv, line 3, column 'u': the input is missing (only the last row's may be)");
  EXPECT_EQ(
      error_of("t,u,y\n0,1,2\n1,1,2\n2.5,1,2\n"),
      "a.csv, line 4, column 't': 1.5 s after the row above, expected 1 s as before, give or take 10 %, or a multiple "
      "of it (a given dt takes the column's place)");
  EXPECT_EQ(error_of("u,y\n1,2\n"), "a.csv: 1 row(s), expected at least 2 to learn from");
  EXPECT_EQ(error_of("u,y\n1,2\n3,4\n", "7:"), "rows: '7:' selects none of the 2 rows");
  EXPECT_EQ(error_of("u,z\n1,2\n3,4\n"), "a.csv: there is no column 'y' for the output (columns: u, z)");
  EXPECT_EQ(error_of("u,y\n1,2\n3,4\n", "", -1.0), "dt: -1 is not a positive number of seconds");
  const CsvRecordings last_missing({file("b.csv", "u,y\n1,2\n,4\n")}, {"u"}, {"y"});
  EXPECT_EQ(last_missing.dt(0), 1.0);
}

/// All rows of all recordings, [time, u, y], once from memory and once by windows of three rows.
TEST_F(CsvFiles, StreamingReadsWhatReadingReads) {
  std::string text = "# a logger's file\nsequence;t;u;y\n;s;V;bar\n";
  for (int sequence = 1; sequence <= 3; ++sequence) {
    for (int t = 0; t < 90; ++t) {
      if (t % 40 != 7) {
        text += std::to_string(sequence) + ";" + std::to_string(t / 10) + "," + std::to_string(t % 10) + ";" +
                std::to_string(t) + ";" + std::to_string(sequence) + ",5\n";
      }
    }
  }
  const std::string path = file("a.csv", text);
  std::string note;
  const std::vector<Recording> whole = read_recordings({.file = path, .inputs = {"u"}, .outputs = {"y"}}, note);
  const CsvRecordings streamed({path}, {"u"}, {"y"});
  ASSERT_EQ(streamed.notes().size(), 1U);
  EXPECT_EQ(streamed.notes().front(), note);
  ASSERT_EQ(streamed.count(), 3);
  std::vector<Window> windows;
  for (Index k = 0; k < 3; ++k) {
    ASSERT_EQ(streamed.rows(k), whole[static_cast<std::size_t>(k)].sequence.rows());
    for (Index t = 0; t + 3 <= streamed.rows(k); t += 3) {
      windows.push_back({k, t, t + 3});
    }
  }
  std::size_t visited = 0;
  streamed.read(windows, [&](std::size_t w, const ssm::Sequence& rows) {
    const ssm::Sequence& expected = whole[static_cast<std::size_t>(windows[w].recording)].sequence;
    EXPECT_EQ(rows.controls, expected.controls.middleRows(windows[w].begin, 3));
    for (Index t = 0; t < 3; ++t) {
      const double y = expected.outputs(windows[w].begin + t, 0);
      EXPECT_TRUE(rows.outputs(t, 0) == y || (std::isnan(y) && std::isnan(rows.outputs(t, 0))));
    }
    ++visited;
    return true;
  });
  EXPECT_EQ(visited, windows.size());
}

TEST_F(CsvFiles, AFileThatShrinksIsSaid) {
  const std::string path = counted("a.csv", 30);
  const CsvRecordings recordings({path}, {"u"}, {"y"});
  counted("a.csv", 20);
  const std::vector<Window> windows{{0, 15, 25}};
  EXPECT_EQ(without_directory(message_of<InputError>([&] {
              recordings.read(windows, [](std::size_t /*k*/, const ssm::Sequence& /*rows*/) { return true; });
            })),
            "a.csv: the file has 20 rows, 30 when it was read first: it changed in between");
}

}  // namespace
}  // namespace gpilot::io
