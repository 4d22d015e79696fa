#include "gpilot/io/recordings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/io/clock.hpp"
#include "support/message_of.hpp"

namespace gpilot::io {
namespace {

namespace fs = std::filesystem;
using ::gpilot::test::message_of;

class RecordingFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::temp_directory_path() / ("gpilot_rec_" + std::string(test->name()) + std::to_string(::getpid()));
    fs::create_directories(directory_);
    query_ = {.file = (directory_ / "d.csv").string(), .inputs = {"u"}, .outputs = {"y"}};
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string without_directory(std::string message) const {
    for (std::size_t at = 0; (at = message.find(directory_.string())) != std::string::npos;) {
      message.erase(at, directory_.string().size() + 1);
    }
    return message;
  }
  std::vector<Recording> read(const std::string& text) {
    std::ofstream(query_.file, std::ios::binary) << text;
    std::vector<Recording> recordings = read_recordings(query_, note_);
    note_ = without_directory(note_);
    return recordings;
  }
  std::string error_of(const std::string& text) {
    return without_directory(message_of<InputError>([&] { read(text); }));
  }
  /// Rows at these times, u = 10 k and y = k.
  static std::string timed(const std::vector<double>& times) {
    std::string text = "t,u,y\n";
    for (std::size_t k = 0; k < times.size(); ++k) {
      text += std::to_string(times[k]) + "," + std::to_string(10 * k) + "," + std::to_string(k) + "\n";
    }
    return text;
  }

  fs::path directory_;
  RecordingQuery query_;
  std::string note_;
};

TEST_F(RecordingFiles, ColumnsByNameInTheOrderAskedFor) {
  query_.inputs = {"fan", "torque"};
  query_.outputs = {"angle"};
  const Recording r = read("t,torque,fan,angle\n0,1,5,\n.1,2,6,.5\n.2,3,7,\n.3,,,.7\n").front();
  ASSERT_EQ(r.sequence.rows(), 4);
  EXPECT_EQ(r.sequence.controls(1, 0), 6.0);
  EXPECT_EQ(r.sequence.controls(2, 1), 3.0);
  EXPECT_TRUE(r.sequence.controls.row(3).array().isNaN().all());  // the last row's are not used
  EXPECT_TRUE(std::isnan(r.sequence.outputs(0, 0)));
  EXPECT_EQ(r.sequence.outputs(3, 0), 0.7);
  EXPECT_EQ(r.times(2), 0.2);
  EXPECT_NEAR(*r.info.dt, 0.1, 1e-15);
  EXPECT_EQ(note_, "");
  query_.inputs = {};
  EXPECT_EQ(read("angle\n1\n2\n").front().sequence.controls.cols(), 0);
}

TEST_F(RecordingFiles, ColumnsWithUnitsInTheirNames) {
  const std::vector<std::string> headers{"time [s],u [V],y [rad]", "Time (s),u (V),y (rad)", "t/s,u/V,y/rad",
                                         "t_s,u [V],y"};
  for (const std::string& header : headers) {
    const Recording r = read(header + "\n0,1,5\n.1,2,6\n.2,3,7\n").front();
    EXPECT_EQ(r.sequence.controls(1, 0), 2.0) << header;
    EXPECT_EQ(r.sequence.outputs(2, 0), 7.0) << header;
    EXPECT_NEAR(r.info.dt.value_or(0.0), 0.1, 1e-15) << header;
    EXPECT_NE(note_.find("columns found by their names without units; column '"), std::string::npos) << note_;
  }
  EXPECT_EQ(note_, "d.csv: columns found by their names without units; column 't_s' is the time");
  EXPECT_NEAR(*read("time [ms],u,y\n0,1,5\n100,2,6\n200,3,7\n").front().info.dt, 0.1, 1e-15);
  EXPECT_EQ(note_, "d.csv: column 'time [ms]' is the time; times in ms");
  // The very name counts first, and of two that differ by their unit none is taken.
  EXPECT_EQ(read("u [V],u,y\n1,2,3\n4,5,6\n").front().sequence.controls(0, 0), 2.0);
  EXPECT_EQ(error_of("u [V],u [A],y\n1,2,3\n4,5,6\n"),
            "d.csv: there is no column 'u' for the input (columns: u [V], u [A], y)");
  EXPECT_EQ(error_of("time [parsec],u,y\n1,2,3\n4,5,6\n"),
            "d.csv: the unit of the time column 'time [parsec]' is 'parsec', expected s, ms, us, ns, min or h");
}

TEST_F(RecordingFiles, TimeByItsNameInOtherWords) {
  for (const std::string name : {"Zeit", "seconds", "TIME", "elapsed", "Timestamp", "time_s", "Temps [s]"}) {
    EXPECT_NEAR(read(name + ",u,y\n0,1,5\n.1,2,6\n.2,3,7\n").front().info.dt.value_or(0.0), 0.1, 1e-15) << name;
  }
  // A temperature is no time.
  EXPECT_FALSE(read("T [K],u,y\n0,1,5\n.1,2,6\n.2,3,7\n").front().info.dt.has_value());
  query_.inputs = {"time"};
  EXPECT_FALSE(read("time,u,y\n0,1,5\n.1,2,6\n.2,3,7\n").front().info.dt.has_value());
}

TEST_F(RecordingFiles, RowsAskedForAlone) {
  query_.rows = "1:3";
  const Recording r = read("t,text,u,y\n0,1,5,6\n1,1,7,8\n2,1,9,10\n3,oops,1,1\n").front();  // what follows is not read
  EXPECT_EQ(r.info.first_row, 1);
  EXPECT_EQ(r.times, (Vector{{1.0, 2.0}}));
  EXPECT_EQ(r.sequence.controls, (Matrix{{7.0}, {9.0}}));
  query_.rows = "";
  EXPECT_EQ(error_of("t,text,u,y\n0,1,5,6\n3,oops,1,1\n").find("d.csv:3: column 'text'"), 0U);
  query_.rows = "5:";
  EXPECT_EQ(error_of("u,y\n1,2\n3,4\n"), "rows: '5:' selects none of the 2 rows");
  query_.rows = "2:1";
  EXPECT_EQ(error_of("u,y\n1,2\n3,4\n"), "rows: '2:1' selects none of the 2 rows");
}

TEST_F(RecordingFiles, ColumnsThatAreNotThere) {
  EXPECT_EQ(error_of("t,v,y\n0,1,2\n"), "d.csv: there is no column 'u' for the input (columns: t, v, y)");
  EXPECT_EQ(error_of("t,u,z\n0,1,2\n"), "d.csv: there is no column 'y' for the output (columns: t, u, z)");
  query_.inputs = {"torqe"};
  EXPECT_EQ(error_of("torque,y\n0,1\n"),
            "d.csv: there is no column 'torqe' for the input, did you mean 'torque'? (columns: torque, y)");
  query_.inputs = {"u"};
  query_.outputs_required = false;
  query_.outputs = {"pressure", "y"};
  const Recording r = read("u,y\n1,2\n3,4\n").front();
  EXPECT_TRUE(r.sequence.outputs.col(0).array().isNaN().all());
  EXPECT_EQ(r.sequence.outputs(1, 1), 4.0);
  EXPECT_EQ(r.times.size(), 0);
  EXPECT_FALSE(r.info.dt);
}

TEST_F(RecordingFiles, MissingInputIsNamedByLineAndColumn) {
  EXPECT_EQ(error_of("# comment\nu,y\nV,bar\n1,2\n,3\n4,5\n"),
            "d.csv, line 5, column 'u': the input is missing (only the last row's may be)");
  EXPECT_EQ(error_of("t,u,y\n0,1,2\n1,,2\n3,1,2\n"),  // not held either
            "d.csv, line 3, column 'u': the input is missing (only the last row's may be)");
}

TEST_F(RecordingFiles, SequencesSplitAFile) {
  const std::vector<Recording> r = read("sequence,step,t,u,y\n1,0,0,1,2\n1,1,1,,3\n2,0,0,4,5\n2,2,1,,6\n");
  ASSERT_EQ(r.size(), 2U);
  EXPECT_EQ(r[1].sequence.outputs, (Matrix{{5.0}, {6.0}}));
  EXPECT_EQ(without_directory(r[1].info.name), "d.csv, sequence 2");
  EXPECT_EQ(r[1].info.first_row, 2);
  EXPECT_EQ(note_, "d.csv: 2 sequences");
  EXPECT_EQ(error_of("sequence,u,y\n1,1,2\n,1,2\n"),
            "d.csv, line 3, column 'sequence': the number of the sequence is missing");
  query_.inputs = {"sequence"};
  EXPECT_EQ(read("sequence,y\n1,1\n2,2\n").size(), 1U);  // an input is an input
}

TEST_F(RecordingFiles, MissingRowsAreFilled) {
  const Recording r = read(timed({0.0, 0.1, 0.4, 0.5, 0.7})).front();
  ASSERT_EQ(r.sequence.rows(), 8);
  EXPECT_EQ(r.sequence.controls, (Matrix{{0.0}, {10.0}, {10.0}, {10.0}, {20.0}, {30.0}, {30.0}, {40.0}}));
  EXPECT_EQ(r.sequence.outputs(4, 0), 2.0);
  for (const Index t : {2, 3, 6}) {
    EXPECT_TRUE(std::isnan(r.sequence.outputs(t, 0)));
  }
  EXPECT_NEAR(r.times(3), 0.3, 1e-12);
  EXPECT_NEAR(*r.info.dt, 0.1, 1e-12);
  EXPECT_EQ(note_, "d.csv: filled 3 missing rows (outputs missing, inputs held)");
  EXPECT_EQ(read(timed({0.0, 0.2, 0.3})).front().sequence.rows(), 4);  // the first step may be the gap
}

TEST_F(RecordingFiles, JitterIsAcceptedAndSaid) {
  std::vector<double> times;
  for (int t = 0; t < 300; ++t) {
    times.push_back(0.1 * t + (t % 7 == 3 ? 0.004 : 0.0));
  }
  const Recording r = read(timed(times)).front();
  EXPECT_EQ(r.sequence.rows(), 300);
  EXPECT_TRUE(r.info.jitters);
  EXPECT_NEAR(*r.info.dt, 0.1, 1e-4);
  EXPECT_EQ(note_.find("d.csv: times jitter by up to 4"), 0U) << note_;
  // Milliseconds of a sixtieth of a second: no row too many or too few, however long.
  times.clear();
  for (int t = 0; t < 5000; ++t) {
    times.push_back(std::round(t / 60.0 * 1000.0) / 1000.0);
  }
  const Recording camera = read(timed(times)).front();
  EXPECT_EQ(camera.sequence.rows(), 5000);
  EXPECT_NEAR(*camera.info.dt, 1.0 / 60.0, 1e-6);
}

TEST_F(RecordingFiles, WhatIsNoRegularClockIsRefused) {
  EXPECT_EQ(error_of(timed({0.0, 0.1, 0.2, 0.35})),
            "d.csv, line 5, column 't': 0.15 s after the row above, expected 0.1 s as before, give or take 10 %, or a "
            "multiple of it (a given dt takes the column's place)");
  EXPECT_EQ(
      error_of(timed({0.0, 0.0})),
      "d.csv, line 3, column 't': 0 s after the row above, expected increasing times; a column 'sequence' or files "
      "of their own keep recordings apart (a given dt takes the column's place)");
  EXPECT_EQ(error_of("t,u,y\n,1,2\n1,1,2\n"),
            "d.csv, line 2, column 't': the time is missing (a given dt takes the column's place)");
  EXPECT_EQ(
      error_of(timed({0.0, 1.0, 2.0, 203.0})).find("d.csv, line 5, column 't': 201 s after the row above: 200 rows"),
      0U);
  std::vector<double> times;
  for (int t = 0; t < 200; ++t) {
    times.push_back(t < 100 ? t : 100 + 1.05 * (t - 100));  // within the tolerance, but another rate
  }
  EXPECT_NE(error_of(timed(times)).find("those before 1 s; expected one step"), std::string::npos);
  times.resize(100);
  times.push_back(98.0);
  EXPECT_NE(error_of(timed(times)).find("line 102, column 't': -1 s after the row above"), std::string::npos);
  times.back() = std::nan("");
  EXPECT_NE(error_of(timed(times)).find("line 102, column 't': the time is missing"), std::string::npos);
  query_.dt = 0.5;
  EXPECT_EQ(read(timed({0.0, 0.1, 0.2, 0.35})).front().info.dt, 0.5);
  query_.dt = -1.0;
  EXPECT_EQ(error_of("u,y\n1,2\n"), "dt: -1 is not a positive number of seconds");
}

TEST_F(RecordingFiles, TheTimeByOtherNames) {
  EXPECT_EQ(*read("Time,u,y\n0,1,2\n0.5,3,4\n").front().info.dt, 0.5);
  EXPECT_EQ(note_, "d.csv: column 'Time' is the time");
  EXPECT_FALSE(read("Time,time,u,y\n0,1,1,2\n0.5,3,3,4\n").front().info.dt);
  EXPECT_EQ(note_, "d.csv: no time is taken from 'Time' or 'time': rename the column that has it to t");
  EXPECT_EQ(*read("t,time,u,y\n0,1,1,2\n0.25,3,3,4\n").front().info.dt, 0.25);
  EXPECT_FALSE(read("u,y,T\n1,2,20.5\n3,4,20.5\n").front().info.dt);  // a temperature
  EXPECT_EQ(*read("T,u,y\n0,1,2\n2,3,4\n").front().info.dt, 2.0);
  EXPECT_EQ(*read("when,u,y\n2026-01-31 12:00:00.5,1,2\n2026-01-31 12:00:00.75,3,4\n").front().info.dt, 0.25);
  EXPECT_EQ(note_, "d.csv: read as time stamps as seconds from 2026-01-31 12:00:00.5 on; column 'when' is the time");
  EXPECT_EQ(*read("t,u,y\nms,V,bar\n0,1,2\n20,3,4\n").front().info.dt, 0.02);
  EXPECT_EQ(note_, "d.csv: read as units row skipped; times in ms");
  EXPECT_EQ(error_of("t,u,y\nfortnight,V,bar\n0,1,2\n20,3,4\n"),
            "d.csv: the unit of the time column 't' is 'fortnight', expected s, ms, us, ns, min or h");
  query_.inputs = {"time"};
  EXPECT_FALSE(read("time,y\n0,1\n5,3\n").front().info.dt);  // an input is an input
}

TEST(RowRanges, AreHalfOpenAsInPython) {
  EXPECT_EQ(parse_row_range("1:3", 4), (RowRange{1, 3}));
  EXPECT_EQ(parse_row_range("2:", 4), (RowRange{2, 4}));
  EXPECT_EQ(parse_row_range(":3", 4), (RowRange{0, 3}));
  EXPECT_EQ(parse_row_range(":", 4), (RowRange{0, 4}));
  EXPECT_EQ(parse_row_range("1:99", 4), (RowRange{1, 4}));
  EXPECT_EQ(parse_row_bounds("1:99"), (RowRange{1, 99}));
  EXPECT_GT(parse_row_bounds("1:").end, Index{1} << 60);
}

TEST(RowRanges, WrongOnesAreQuoted) {
  for (const std::string text : {"", "3", "a:b", "1:2:3", "-2:", "1.5:2", "1: 2"}) {
    const std::string message = message_of<InputError>([&] { parse_row_range(text, 9); });
    EXPECT_TRUE(message.starts_with("rows: expected A:B")) << message;
    EXPECT_TRUE(message.ends_with("not '" + text + "'")) << message;
  }
  EXPECT_EQ(message_of<InputError>([] { parse_row_range("3:3", 4); }), "rows: '3:3' selects none of the 4 rows");
  EXPECT_EQ(message_of<InputError>([] { parse_row_range("7:", 4); }), "rows: '7:' selects none of the 4 rows");
}

TEST(TimeSteps, OfJitteringTimesAreKnownWithinAPerCent) {
  EXPECT_TRUE(same_step(0.1, 0.1 * (1.0 + 5e-7), false));
  EXPECT_FALSE(same_step(0.1, 0.1001, false));
  EXPECT_TRUE(same_step(0.1, 0.1001, true));
  EXPECT_FALSE(same_step(0.1, 0.102, true));
}

TEST(Clocks, LargeTimesCarryTheirRounding) {
  Clock clock("d.csv", "t");
  std::vector<double> times;
  std::vector<Index> lines;
  for (Index k = 0; k < 100; ++k) {
    times.push_back(1.7e9 + 0.0001 * static_cast<double>(k));
    lines.push_back(k + 2);
  }
  clock.start(times, lines);
  for (std::size_t k = 0; k < times.size(); ++k) {
    EXPECT_EQ(clock.add(times[k], lines[k]), 0);
  }
  clock.finish();
  EXPECT_NEAR(clock.step(), 1e-4, 1e-8);
  EXPECT_LT(clock.jitter(), 1e-2);
}

}  // namespace
}  // namespace gpilot::io
