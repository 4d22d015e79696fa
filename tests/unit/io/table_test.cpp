#include "gpilot/io/table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/io/csv_reader.hpp"
#include "gpilot/io/time_stamp.hpp"
#include "gpilot/io/writable.hpp"
#include "support/message_of.hpp"

namespace gpilot::io {
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
            "d.csv:2: column 'y': '1e999' is beyond 1e150, expected a finite number, nan or nothing");
  EXPECT_EQ(error_of("t,y\n0,1e150\n1,-1.1e150\n"),
            "d.csv:3: column 'y': '-1.1e150' is beyond 1e150, expected a finite number, nan or nothing");
}

TEST_F(TableFile, MessagesArePrintable) {
  EXPECT_EQ(error_of("t,y\n0," + std::string(60, 'a') + "\x01\n"), "d.csv:2: column 'y': '" + std::string(40, 'a') +
                                                                       "..' is not a number, expected a finite number, "
                                                                       "nan or nothing");
  EXPECT_EQ(error_of("t,y\n0,a\x01z\n").find('\x01'), std::string::npos);
}

TEST_F(TableFile, DialectsReadAlikeAndAreSaid) {
  const Table plain = read("t,u,y\n0,1.5,-2\n1,,0.25\n");
  EXPECT_EQ(plain.note, "");
  struct Case {
    std::string text, note;
  };
  for (const auto& [text, note] :
       std::vector<Case>{{"t;u;y\n0;1.5;-2\n1;;0.25\n", "read as semicolon-separated"},
                         {"t;u;y\r\n0;1,5;-2\r\n1;;,25\r\n", "read as semicolon-separated, decimal comma"},
                         {"t\tu\ty\n0\t1.5\t-2\n1\t\t0.25\n", "read as tab-separated"},
                         {"t\tu\ty\n0\t1,5\t-2\n1\t\t2,5e-1\n", "read as tab-separated, decimal comma"},
                         {"\xEF\xBB\xBF# rig 3\n#\nt,u,y\n0,1.5,-2\n# later\n1,,0.25\n", "read as 3 comment lines"},
                         {"t,u,y\ns,[V],1\n0,1.5,-2\n1,,0.25\n", "read as units row skipped"},
                         {"\"t\";\"u\";\"y\"\n;V;\n0;1,5;-2\n1;;0,25\n",
                          "read as semicolon-separated, decimal comma, units row skipped"},
                         {"t,u,y\n2026-01-31T12:00:00.5Z,1.5,-2\n2026-01-31 13:00:01.5+01:00,,0.25\n",
                          "read as time stamps as seconds from 2026-01-31T12:00:00.5Z on"}}) {
    const Table table = read(text);
    EXPECT_EQ(table.note, note);
    EXPECT_EQ(table.columns, plain.columns) << note;
    EXPECT_EQ(format_csv(table), format_csv(plain)) << note;
  }
}

TEST_F(TableFile, DialectErrorsSayWhatToDo) {
  EXPECT_EQ(
      error_of("t;y\n0;1,5\n1;1.500,5\n"),
      "d.csv:3: column 'y': '1.500,5' does not go with the decimal comma of other numbers; write all with one mark "
      "and no marks between thousands");
  EXPECT_EQ(error_of("t;y\n0;1.5\n1;1,500\n").find("d.csv:2: column 'y': '1.5' does not go with the decimal comma"),
            0U);
  EXPECT_EQ(
      error_of("# 0\n# t,y\n0,1\n"),
      "d.csv:3: the first line must name the columns, but it holds numbers ('0,1'); if a comment line (#) has the "
      "names, remove its #");
  EXPECT_EQ(error_of("# nothing\n"),
            "d.csv: the file has nothing but comment lines (#), expected a line of column names");
  EXPECT_EQ(
      error_of("t y\n0 1\n"),
      "d.csv:2: column 't y': '0 1' is not a number, expected a finite number, nan or nothing; separate the columns "
      "by commas, semicolons or tabs");
  EXPECT_EQ(
      error_of("t,y\n0,\"1,5\"\n"),
      "d.csv:2: column 'y': '1,5' is not a number, expected a finite number, nan or nothing; a decimal comma goes "
      "with semicolons or tabs between the columns");
  EXPECT_EQ(error_of("t,y\n31.01.2026 12:00,1\n"),
            "d.csv:2: column 't': '31.01.2026 12:00' is not a number, expected a finite number, nan or nothing; a time "
            "stamp is written 2026-01-31T12:00:00.5 in every row of its column");
  EXPECT_EQ(error_of("t,y\n2026-01-31T12:00,1\nnoon,1\n"),
            "d.csv:3: column 't': 'noon' is no time stamp, expected one as 2026-01-31T12:00:00.5 as in the rows above");
  EXPECT_THROW(read("y\nerror\n1\n"), InputError);  // stands for a value, not for a unit
  EXPECT_THROW(read("t,y\n-2,V\n1,2\n"), InputError);
}

/// What the first lines do not show is found where it comes.
TEST_F(TableFile, AMarkThatComesLate) {
  std::string text = "t;y\n";
  for (int t = 0; t < 100; ++t) {
    text += std::to_string(t) + ";1\n";
  }
  const Table table = read(text + "100;2,5\n");
  EXPECT_EQ(table.values(100, 1), 2.5);
  EXPECT_EQ(table.note, "read as semicolon-separated, decimal comma");
  EXPECT_NE(error_of(text + "100;2,5\n101;1.5\n").find("d.csv:103: column 'y': '1.5' does not go"), std::string::npos);
}

TEST_F(TableFile, StrangeNamesReadBack) {
  Table table;
  table.append(std::vector<std::string>{"# a;b", "c\td", "e;f"}, Matrix::Ones(2, 3));
  write_csv(path(), table);
  EXPECT_EQ(read_csv(path()).columns, table.columns);
  EXPECT_EQ(read_csv(path()).note, "");
}

TEST(TimeStamps, AreNanosecondsSince1970) {
  const auto seconds = [](const char* text) { return static_cast<double>(parse_time_stamp(text).value()) * 1e-9; };
  EXPECT_EQ(seconds("1970-01-01T00:00:00Z"), 0.0);
  EXPECT_EQ(seconds("2000-03-01 00:00"), 951868800.0);  // after a leap day: date -ud 2000-03-01 +%s
  EXPECT_EQ(seconds("1970-01-01T02:00:00.25+01:30"), 1800.25);
  EXPECT_EQ(seconds("1969-12-31T23:00:00-0100"), 0.0);
  EXPECT_EQ(seconds("1970-01-01T01:00:00,5+01"), 0.5);
  for (const char* text :
       {"2026-02-29T00:00", "2026-1-31T00:00", "2026-01-31", "2026-01-31T24:00", "2026-01-31T12:60",
        "2026-01-31T12:00:00.", "2026-01-31T12:00:00+", "2026-01-31T12:00:00Zx", "12:00", "", "1.5"}) {
    EXPECT_FALSE(parse_time_stamp(text)) << text;
  }
}

TEST_F(TableFile, UnreadableFiles) {
  EXPECT_EQ(message_of<InputError>([&] { read_csv(path("none.csv")); }),
            path("none.csv") + ": cannot read the file: No such file or directory");
  EXPECT_EQ(message_of<InputError>([&] { read_csv(directory_.string()); }),
            directory_.string() + ": is a directory, expected a CSV file");
}

TEST_F(TableFile, RowsStream) {
  CsvReader reader(file("a,b\n1,2\n3,4\n"));
  EXPECT_EQ(reader.columns(), (std::vector<std::string>{"a", "b"}));
  std::vector<double> sums;
  while (reader.next()) {
    sums.push_back(reader.values()[0] + reader.values()[1]);
  }
  EXPECT_EQ(sums, (std::vector<double>{3.0, 7.0}));
}

TEST_F(TableFile, RowsBehindTheOneReadDoNotMatter) {
  CsvReader reader(file("a,b\n1,2\n3,4\nbroken\n"));
  for (const double expected : {1.0, 3.0}) {
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.values()[0], expected);
  }
  EXPECT_THROW(reader.next(), InputError);
}

TEST_F(TableFile, RoundTripKeepsEveryBit) {
  RandomStream stream(1, Purpose::kTest);
  Table table;
  Matrix values(400, 2);
  for (double& value : values.reshaped()) {
    do {
      value = std::bit_cast<double>((std::uint64_t{stream.bits()} << 32) | stream.bits());
    } while (!(std::abs(value) <= 1e150));
  }
  values(0, 0) = kNaN;
  values(1, 0) = -0.0;
  values(2, 0) = std::numeric_limits<double>::denorm_min();
  values(3, 0) = 1e150;
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

TEST_F(TableFile, ALinkToAFileThatIsNotThereYetStays) {
  fs::create_symlink("later", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("later")), "new");
}

TEST_F(TableFile, KindsOfFiles) {
  const auto kind = [&](const std::string& text) { return kind_of_file(file(text)); };
  EXPECT_EQ(kind_of_file(path("none")), FileKind::kNothing);
  EXPECT_EQ(kind_of_file("/dev/null"), FileKind::kNothing);
  EXPECT_EQ(kind(""), FileKind::kNothing);
  EXPECT_EQ(kind("t;y\n0;1,5\n"), FileKind::kTable);
  EXPECT_EQ(kind("{\"format\": \"gpilot-model\"}"), FileKind::kModel);
  EXPECT_EQ(kind("{\"runs\": []}"), FileKind::kJson);
  EXPECT_EQ(kind("A letter to my grandmother.\nDear grandmother,\n"), FileKind::kOther);
  EXPECT_EQ(kind("<!doctype html>\n<html lang=\"en\">\n<head>\n<title>gpilot report</title>\n"), FileKind::kReport);
  EXPECT_EQ(kind("<!doctype html>\n<html lang=\"en\">\n<head>\n<title>My page</title>\n"), FileKind::kOther);
  EXPECT_EQ(kind("# mine\n[study]\ndt = 0.1\n[[input]]\nname = \"u\"\n[[output]]\nname = \"y\"\n"), FileKind::kConfig);
  EXPECT_EQ(kind("[project]\nname = \"mine\"\n"), FileKind::kOther);
  EXPECT_EQ(kind("import sys\n\nfor line in sys.stdin:\n    print(line)\n"), FileKind::kOther);
}

TEST_F(TableFile, NothingOfAnotherKindIsReplaced) {
  Table table;
  table.append(std::vector<std::string>{"a"}, Vector::Zero(3));
  file("{\"format\": \"gpilot-model\"}");
  EXPECT_EQ(message_of<InputError>([&] { write_csv(path(), table); }),
            path() +
                ": cannot write the file: what stands there is a model, not a CSV file; name another file, or remove "
                "it first");
  file("t,y\n0,1\n");
  EXPECT_NO_THROW(write_csv(path(), table));
  EXPECT_THROW(check_replaceable(path(), FileKind::kModel), InputError);
  file("");
  EXPECT_NO_THROW(check_replaceable(path(), FileKind::kModel));
  file("mine");
  EXPECT_EQ(message_of<InputError>([&] { check_replaceable(path(), FileKind::kReport); }),
            path() +
                ": cannot write the file: what stands there is a file that gpilot does not know, not a report; name "
                "another file, or remove it first");
  EXPECT_THROW(check_replaceable(path(), FileKind::kConfig), InputError);
  file("<!doctype html><title>gpilot report</title>");
  EXPECT_NO_THROW(check_replaceable(path(), FileKind::kReport));
}

TEST_F(TableFile, AnInputIsNeverTheOutput) {
  file("t,y\n0,1\n");
  fs::create_symlink("d.csv", path("link"));
  const std::vector<std::string> inputs{path("none.csv"), path()};
  EXPECT_EQ(message_of<InputError>([&] { check_not_input(path("link"), inputs); }),
            path("link") + ": cannot write the file: it is also an input of this command, which is never replaced");
  EXPECT_NO_THROW(check_not_input(path("other.csv"), inputs));
  EXPECT_NO_THROW(check_not_input("/dev/null", std::vector<std::string>{"/dev/null"}));
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
}  // namespace gpilot::io
