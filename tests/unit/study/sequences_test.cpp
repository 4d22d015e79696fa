#include "gpilot/study/sequences.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gpilot/error.hpp"
#include "support/message_of.hpp"

namespace gpilot::study {
namespace {

using ::gpilot::test::message_of;
using Names = std::vector<std::string>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// t, two inputs, one output; the last row's inputs are missing.
Table recording() {
  Table table{{"t", "torque", "fan", "angle"}, Matrix(4, 4)};
  table.values << 0.0, 1.0, 5.0, kNaN,  //
      0.1, 2.0, 6.0, 0.5,               //
      0.2, 3.0, 7.0, kNaN,              //
      0.3, kNaN, kNaN, 0.7;
  return table;
}

Table times(const std::vector<double>& t) {
  return {{"t"}, Eigen::Map<const Vector>(t.data(), static_cast<Index>(t.size()))};
}

TEST(Sequences, PicksColumnsByNameInTheOrderAskedFor) {
  const ssm::Sequence s = sequence_from(recording(), "d.csv", Names{"fan", "torque"}, Names{"angle"});
  ASSERT_EQ(s.rows(), 4);
  EXPECT_EQ(s.controls(1, 0), 6.0);
  EXPECT_EQ(s.controls(2, 1), 3.0);
  EXPECT_TRUE(s.controls.row(3).array().isNaN().all());  // the last row's are not used
  EXPECT_TRUE(std::isnan(s.outputs(0, 0)));
  EXPECT_EQ(s.outputs(3, 0), 0.7);
}

TEST(Sequences, ModelsWithoutInputsKeepTheRows) {
  const ssm::Sequence s = sequence_from(recording(), "d.csv", Names{}, Names{"angle"});
  EXPECT_EQ(s.controls.rows(), 4);
  EXPECT_EQ(s.controls.cols(), 0);
}

TEST(Sequences, MissingColumnIsNamedWithTheNearestAndAll) {
  EXPECT_EQ(message_of<InputError>([] { sequence_from(recording(), "d.csv", Names{"torqe"}, Names{"angle"}); }),
            "d.csv: there is no column 'torqe' for the input, did you mean 'torque'? (columns: t, torque, fan, angle)");
  EXPECT_EQ(message_of<InputError>([] { sequence_from(recording(), "d.csv", Names{"fan"}, Names{"pressure"}); }),
            "d.csv: there is no column 'pressure' for the output (columns: t, torque, fan, angle)");
}

TEST(Sequences, MissingInputIsNamedByLineAndColumn) {
  Table table = recording();
  table.values(2, 2) = kNaN;
  const auto use = [&](Index first_row) {
    return message_of<InputError>([&] {
      sequence_from(table, "d.csv", Names{"torque", "fan"}, Names{"angle"}, {.first_row = first_row});
    });
  };
  EXPECT_EQ(use(0), "d.csv, line 4, column 'fan': the input is missing (only the last row's may be)");
  EXPECT_EQ(use(10), "d.csv, line 14, column 'fan': the input is missing (only the last row's may be)");
}

TEST(Sequences, OutputsMayBeAbsentWhenNotRequired) {
  const ssm::Sequence s =
      sequence_from(recording(), "d.csv", Names{"fan"}, Names{"pressure", "angle"}, {.outputs_required = false});
  EXPECT_TRUE(s.outputs.col(0).array().isNaN().all());
  EXPECT_EQ(s.outputs(1, 1), 0.5);
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

TEST(TimeStep, ComesFromTheColumnOrTheUserOrIsOne) {
  EXPECT_NEAR(time_step(recording(), "d.csv"), 0.1, 1e-15);
  EXPECT_EQ(time_step(recording(), "d.csv", 0.25), 0.25);
  EXPECT_EQ(time_step({{"y"}, Matrix::Zero(3, 1)}, "d.csv"), 1.0);
  EXPECT_EQ(time_step(times({5.0}), "d.csv"), 1.0);
  EXPECT_NEAR(time_step(times({1.7e9, 1.7e9 + 0.01, 1.7e9 + 0.02}), "d.csv"), 0.01, 1e-6);
}

TEST(TimeStep, UnevenTimesAreNamedByLine) {
  const auto error_of = [](const std::vector<double>& t, Index first_row = 0) {
    return message_of<InputError>([&] { time_step(times(t), "d.csv", {}, first_row); });
  };
  EXPECT_EQ(error_of({0.0, 0.1, 0.2, 0.35}),
            "d.csv, line 5, column 't': 0.15 s after the row above, expected 0.1 s as before (a given dt takes the "
            "column's place)");
  EXPECT_TRUE(error_of({0.0, 0.1, 0.2000002}, 3).starts_with("d.csv, line 7, column 't'"));
  EXPECT_TRUE(error_of({0.0, 0.0}).find("line 3, column 't': 0 s after the row above, expected increasing") !=
              std::string::npos);
  EXPECT_TRUE(error_of({kNaN, 0.1}).starts_with("d.csv, line 2, column 't': the time is missing"));
  EXPECT_EQ(message_of<InputError>([] {
              time_step(times({0.0, 1.0}), "d.csv", -1.0);
            }),
            "dt: -1 is not a positive number of seconds");
}

}  // namespace
}  // namespace gpilot::study
