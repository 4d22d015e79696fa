#include "gpilot/explore/region.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"
#include "support/message_of.hpp"

namespace gpilot::explore {
namespace {

using test::message_of;

TEST(Region, IsReadFromText) {
  const std::vector<ssm::Range> region = parse_region(" th=-0.8:0.8, c = -0.25 : 0.5");
  ASSERT_EQ(region.size(), 2U);
  EXPECT_EQ(region[0], (ssm::Range{"th", -0.8, 0.8}));
  EXPECT_EQ(region[1].low, -0.25);
  EXPECT_EQ(region[1].high, 0.5);
  EXPECT_TRUE(parse_region("").empty());
  for (const char* wrong : {"th", "th=1", "th=1:", "th=a:2", "th=1:2:3", "=:"}) {
    EXPECT_NE(message_of<InputError>([&] { parse_region(wrong); }).find("expected NAME=LOW:HIGH"), std::string::npos)
        << wrong;
  }
}

TEST(Region, WrongNamesAndRangesAreRefused) {
  const ssm::ModelSpec spec = trials::model_spec(*systems::make_system("pendulum"));
  EXPECT_NO_THROW(check_region(spec, parse_region("y_th=-1:1, th_dot=-1:1, c=0:0.1")));
  const auto message = [&](const char* text) {
    return message_of<InputError>([&] { check_region(spec, parse_region(text)); });
  };
  EXPECT_NE(message("th_dt=-1:1").find("did you mean 'th_dot'?"), std::string::npos);
  EXPECT_NE(message("th=1:1").find("[1, 1] of 'th' is empty"), std::string::npos);
  EXPECT_NE(message("th=0:1, y_th=0:1").find("'y_th' is named twice"), std::string::npos);
}

TEST(Region, IsABoxInScaledUnits) {
  ssm::Model model;
  model.spec = trials::model_spec(*systems::make_system("pendulum"));
  model.scaling = ssm::make_scaling(model.spec, {{Matrix::Zero(3, 1), Matrix::Zero(3, 1)}});
  const Box box{Vector::Constant(1, -1.5), Vector::Constant(1, 1.5)};
  const Box region = scaled_region(model, parse_region("th=-0.4:0.8"), box);
  ASSERT_EQ(region.low.size(), 3);
  EXPECT_NEAR(model.scaling.state_offset(0) + model.scaling.state_scale(0) * region.low(0), -0.4, 1e-12);
  EXPECT_NEAR(model.scaling.state_offset(0) + model.scaling.state_scale(0) * region.high(0), 0.8, 1e-12);
  // A velocity that is not named has its declared range, the control the whole box.
  EXPECT_NEAR(model.scaling.state_offset(1) + model.scaling.state_scale(1) * region.high(1), 2.3, 1e-12);
  EXPECT_EQ(region.low(2), -1.5);
  EXPECT_EQ(region.high(2), 1.5);
}

TEST(Region, OutputsAreMeantToBeWhereItOrTheirRangeSays) {
  ssm::Model model;
  model.spec = trials::model_spec(*systems::make_system("cart-pole"));
  model.scaling = ssm::make_scaling(model.spec, {{Matrix::Zero(3, 1), Matrix::Zero(3, 2)}});
  const ssm::Scaling& s = model.scaling;
  const auto in_user_units = [&](const Vector& scaled) {
    return Vector(s.output_offset + s.output_scale.cwiseProduct(scaled.head(s.output_scale.size())));
  };
  const std::string angle = model.spec.outputs[0];
  const ssm::Range declared = *std::ranges::find(model.spec.ranges, angle, &ssm::Range::name);
  Box range = scaled_range(model, {});
  EXPECT_NEAR(in_user_units(range.low)(0), declared.low, 1e-12);
  EXPECT_NEAR(in_user_units(range.high)(0), declared.high, 1e-12);
  range = scaled_range(model, {{model.spec.states[0], 3.0, 3.3}});  // the state that it measures
  EXPECT_NEAR(in_user_units(range.low)(0), 3.0, 1e-12);
  EXPECT_NEAR(in_user_units(range.high)(0), 3.3, 1e-12);
  std::erase_if(model.spec.ranges, [&](const ssm::Range& r) { return r.name == angle; });
  range = scaled_range(model, {});
  EXPECT_TRUE(std::isinf(range.low(0)));
  EXPECT_TRUE(std::isfinite(range.low(1)));
}

TEST(Region, LatentStatesAreMeantToBeInTheirRangesToo) {
  ssm::Model model;
  model.spec = trials::model_spec(*systems::make_system("pendulum"));
  model.spec.ranges = {{"th_dot", -2.0, 3.0}};
  model.scaling = ssm::make_scaling(model.spec, {{Matrix::Zero(3, 1), Matrix::Zero(3, 1)}});
  const Box range = scaled_range(model, {});
  EXPECT_TRUE(std::isinf(range.high(0)));  // the output
  EXPECT_TRUE(std::isinf(range.high(1)));  // the angle, which it measures
  const double offset = model.scaling.state_offset(1);
  const double scale = model.scaling.state_scale(1);
  EXPECT_NEAR(offset + scale * range.low(2), -2.0, 1e-12);
  EXPECT_NEAR(offset + scale * range.high(2), 3.0, 1e-12);
}

}  // namespace
}  // namespace gpilot::explore
