#include "gpilot/report/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace gpilot::report {
namespace {

TEST(ReportNumbers, KeepSoManyDigits) {
  EXPECT_EQ(rounded(1.23456789, 3), 1.23);
  EXPECT_EQ(rounded(-0.000123456, 2), -0.00012);
  EXPECT_EQ(rounded(987654.0, 2), 990000.0);
  EXPECT_EQ(rounded(0.0, 3), 0.0);
}

TEST(ReportNumbers, AreNullWhereNotFinite) {
  EXPECT_TRUE(number(std::numeric_limits<double>::infinity()).is_null());
  EXPECT_EQ(list(Vector{{1.0, kNaN, 0.5}}).dump(), "[1,null,0.5]");
  EXPECT_EQ(columns(Matrix{{1.0, 2.0}, {3.0, 4.0}}).dump(), "[[1,3],[2,4]]");
}

TEST(ReportNumbers, NothingInARecordEndsAScript) {
  const Json json = {{"name", "</script><!-- <b>&amp; \xE2\x80\xA8 \xE2\x80\xA9 \xF0\x9F\x99\x82 \"'"}};
  const std::string text = embeddable(json);
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(text.find('>'), std::string::npos);
  EXPECT_EQ(text.find('&'), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xA8"), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xA9"), std::string::npos);
  EXPECT_EQ(Json::parse(text), json) << "it must still say the same";
}

TEST(ReportNumbers, TextThatIsNoUtf8IsMended) {
  const Json json = {{"name", std::string("a\xFFz")}};
  EXPECT_EQ(Json::parse(embeddable(json))["name"], "a\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace gpilot::report
