#include "gpilot/study/table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "gpilot/error.hpp"
#include "gpilot/random.hpp"
#include "support/message_of.hpp"

namespace gpilot::study {
namespace {

namespace fs = std::filesystem;
using ::gpilot::test::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A directory of its own for every test.
class TableFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::temp_directory_path() / ("gpilot_" + std::string(test->name()) + std::to_string(::getpid()));
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name = "d.csv") const { return (directory_ / name).string(); }
  std::string file(const std::string& text) const {
    std::ofstream(path(), std::ios::binary) << text;
    return path();
  }
  Table read(const std::string& text) const { return read_csv(file(text)); }
  /// The error's message without the directory.
  std::string error_of(const std::string& text) const {
    const std::string message = message_of<InputError>([&] { read(text); });
    return message.starts_with(directory_.string()) ? message.substr(directory_.string().size() + 1) : message;
  }
  std::string content(const std::string& where) const {
    std::ostringstream text;
    text << std::ifstream(where, std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path directory_;
};

TEST_F(TableFile, ReadsNumbersAndMissingValues) {
  const Table table = read("t,c,y\n0,0.5,\n1,-1e-3,NaN\n 2 ,+.5,nan\n,,\n");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"t", "c", "y"}));
  ASSERT_EQ(table.rows(), 4);
  EXPECT_EQ(table.values(1, 1), -1e-3);
  EXPECT_EQ(table.values(2, 0), 2.0);
  EXPECT_EQ(table.values(2, 1), 0.5);
  EXPECT_TRUE(table.values.col(2).array().isNaN().all());
  EXPECT_TRUE(table.values.row(3).array().isNaN().all());
  EXPECT_EQ(table.find("y"), 2);
  EXPECT_EQ(table.find("z"), -1);
}

TEST_F(TableFile, AcceptsWhatOtherProgramsWrite) {
  const Table table = read("\xEF\xBB\xBF\"t\",\"a, \"\"b\"\"\" , c\r\n1,\"2\",-nan\r\n4,5,6\r\n\r\n \n");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"t", "a, \"b\"", "c"}));
  ASSERT_EQ(table.rows(), 2);
  EXPECT_EQ(table.values(0, 1), 2.0);
  EXPECT_TRUE(std::isnan(table.values(0, 2)));
  EXPECT_EQ(table.values(1, 2), 6.0);
  EXPECT_EQ(read("a,b\n1,2").rows(), 1);  // no newline at the end
}

TEST_F(TableFile, BlankLineIsMissingInAFileOfOneColumn) {
  const Table table = read("y\n1\n\n\n4\n\n");
  ASSERT_EQ(table.rows(), 4);
  EXPECT_TRUE(std::isnan(table.values(1, 0)));
  EXPECT_TRUE(std::isnan(table.values(2, 0)));
  EXPECT_EQ(table.values(3, 0), 4.0);
}

TEST_F(TableFile, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(error_of(""), "d.csv: the file is empty, expected a line of column names");
  EXPECT_EQ(error_of("t,y\n"), "d.csv: the file has column names but no rows");
  EXPECT_EQ(error_of("t,y\n\n\n"), "d.csv: the file has column names but no rows");
  EXPECT_EQ(error_of("t,y\n0,1\n1,abc\n"),
            "d.csv:3: column 'y': 'abc' is not a number, expected a finite number, nan or nothing");
  EXPECT_EQ(error_of("t,y\n0,1\n1\n"), "d.csv:3: the line has 1 values, expected 2 (columns t .. y)");
  EXPECT_EQ(error_of("t,y\n0,1,2\n"), "d.csv:2: the line has 3 values, expected 2 (columns t .. y)");
  EXPECT_EQ(error_of("t,y,t\n0,1,2\n"), "d.csv:1: column 't' appears twice");
  EXPECT_EQ(error_of("t,,y\n0,1,2\n"), "d.csv:1: column 2 has no name; the first line must name every column");
  EXPECT_EQ(error_of("\nt,y\n"), "d.csv:1: column 1 has no name; the first line must name every column");
  EXPECT_EQ(error_of("0,1.5\n1,2\n"), "d.csv:1: the first line must name the columns, but it holds numbers ('0,1.5')");
  EXPECT_EQ(error_of("t,y\n0,1\n\n\n1,2\n"), "d.csv:3: the line is blank, expected 2 values");
  EXPECT_EQ(error_of("t,\"y\n0,1\n"), "d.csv:1: a quote is opened but not closed on this line");
  EXPECT_EQ(error_of("t,\"y\"x\n0,1\n"), "d.csv:1: text follows a closing quote, expected a comma");
}

TEST_F(TableFile, RefusesWhatIsNoFiniteNumber) {
  for (const std::string text :
       {"inf", "-inf", "Infinity", "1.5x", "1,5", "0x10", "--1", "+-1", "1e", "nan(2)", "-", "."}) {
    EXPECT_THROW(read("t,y\n0," + text + "\n"), InputError) << text;
  }
  EXPECT_EQ(error_of("t,y\n0,1e999\n"),
            "d.csv:2: column 'y': '1e999' is out of a double's range, expected a finite number, nan or nothing");
}

TEST_F(TableFile, MessagesArePrintable) {
  EXPECT_EQ(error_of("t,y\n0," + std::string(60, 'a') + "\x01\n"), "d.csv:2: column 'y': '" + std::string(40, 'a') +
                                                                       "..' is not a number, expected a finite number, "
                                                                       "nan or nothing");
  EXPECT_EQ(error_of("t,y\n0,a\x01z\n").find('\x01'), std::string::npos);
}

TEST_F(TableFile, UnreadableFiles) {
  EXPECT_EQ(message_of<InputError>([&] { read_csv(path("none.csv")); }),
            path("none.csv") + ": cannot read the file: No such file or directory");
  EXPECT_EQ(message_of<InputError>([&] { read_csv(directory_.string()); }),
            directory_.string() + ": is a directory, expected a CSV file");
}

TEST_F(TableFile, RowsStream) {
  std::vector<std::string> columns;
  std::vector<double> sums;
  for_each_row(
      file("a,b\n1,2\n3,4\n"), [&](std::span<const std::string> names) { columns.assign(names.begin(), names.end()); },
      [&](std::span<const double> row) {
        sums.push_back(row[0] + row[1]);
        return true;
      });
  EXPECT_EQ(columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sums, (std::vector<double>{3.0, 7.0}));
}

TEST_F(TableFile, StreamStopsWhereAsked) {
  std::vector<double> seen;
  for_each_row(
      file("a,b\n1,2\n3,4\nbroken\n"), [](std::span<const std::string> /*names*/) {},
      [&](std::span<const double> row) {
        seen.push_back(row[0]);
        return seen.size() < 2;
      });
  EXPECT_EQ(seen, (std::vector<double>{1.0, 3.0}));
}

TEST_F(TableFile, RoundTripKeepsEveryBit) {
  RandomStream stream(1, Purpose::kTest);
  Table table;
  Matrix values(400, 2);
  for (double& value : values.reshaped()) {
    do {
      value = std::bit_cast<double>((std::uint64_t{stream.bits()} << 32) | stream.bits());
    } while (!std::isfinite(value));
  }
  values(0, 0) = kNaN;
  values(1, 0) = -0.0;
  values(2, 0) = std::numeric_limits<double>::denorm_min();
  values(3, 0) = std::numeric_limits<double>::max();
  table.append(std::vector<std::string>{"a", "strange, \"name\""}, values);
  write_csv(path(), table);
  const Table copy = read_csv(path());
  EXPECT_EQ(copy.columns, table.columns);
  ASSERT_EQ(copy.rows(), 400);
  EXPECT_TRUE(std::isnan(copy.values(0, 0)));
  for (Index i = 1; i < 400; ++i) {
    for (Index j = 0; j < 2; ++j) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(copy.values(i, j)), std::bit_cast<std::uint64_t>(values(i, j)));
    }
  }
}

TEST_F(TableFile, ANameThatBeginsLikeAByteOrderMarkReadsBack) {
  Table table;
  table.append(std::vector<std::string>{"\xEF\xBB\xBFy"}, Vector{{1.0}});
  write_csv(path(), table);
  EXPECT_EQ(read_csv(path()).columns, table.columns);
}

TEST_F(TableFile, OneColumnKeepsMissingRows) {
  Table table;
  table.append(std::vector<std::string>{"y"}, Vector{{kNaN, 1.0, kNaN}});
  EXPECT_EQ(format_csv(table), "y\nnan\n1\nnan\n");
  write_csv(path(), table);
  EXPECT_EQ(read_csv(path()).rows(), 3);
}

TEST(Table, AppendChecksShapes) {
  Table table;
  table.append(std::vector<std::string>{"a"}, Vector::Zero(3));
  EXPECT_THROW(table.append(std::vector<std::string>{"b"}, Vector::Zero(2)), std::invalid_argument);
  EXPECT_THROW(table.append(std::vector<std::string>{"b", "c"}, Vector::Zero(3)), std::invalid_argument);
  table.append(std::vector<std::string>{"b"}, Vector::Ones(3));
  EXPECT_EQ(format_csv(table), "a,b\n0,1\n0,1\n0,1\n");
}

TEST_F(TableFile, WritingReplacesTheWholeFileAndLeavesNothingElse) {
  write_file_atomically(path(), "a longer text");
  write_file_atomically(path(), "short");
  EXPECT_EQ(content(path()), "short");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
}

TEST_F(TableFile, WritingFollowsLinksAndDevices) {
  write_file_atomically(path("target"), "old");
  fs::create_symlink("target", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_EQ(content(path("target")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  write_file_atomically("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(TableFile, WritingErrors) {
  EXPECT_EQ(message_of<InputError>([&] { write_file_atomically(path("no/such/d.csv"), ""); }),
            path("no/such/d.csv") + ": cannot write the file: there is no directory '" + path("no/such") + "'");
  EXPECT_EQ(message_of<InputError>([&] { write_file_atomically(directory_.string(), ""); }),
            directory_.string() + ": cannot write the file: it is a directory");
  EXPECT_THROW(write_file_atomically(path("new/"), ""), InputError);
  EXPECT_THROW(write_file_atomically("", ""), InputError);
  EXPECT_THROW(write_file_atomically("/dev/full", "text"), std::system_error);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 0);
}

}  // namespace
}  // namespace gpilot::study
