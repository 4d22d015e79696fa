#include "gpilot/explore/slew_box.hpp"

#include <algorithm>
#include <cmath>

namespace gpilot::explore {

namespace {

/// The number farthest from `from` towards `towards` whose computed distance is at most `distance`.
double at_most(double from, double distance, double towards) {
  double end = towards > from ? from + distance : from - distance;
  while (std::abs(end - from) > distance) {
    end = std::nextafter(end, from);
  }
  return end;
}

}  // namespace

Box slew_box(const Box& box, const Vector& slew, const Vector& previous) {
  Box reach = box;
  for (Index p = 0; p < previous.size(); ++p) {
    if (std::isfinite(slew(p))) {
      const double low = at_most(previous(p), slew(p), -INFINITY);
      const double high = at_most(previous(p), slew(p), INFINITY);
      reach.low(p) = std::clamp(low, box.low(p), box.high(p));
      reach.high(p) = std::clamp(high, box.low(p), box.high(p));
    }
  }
  return reach;
}

}  // namespace gpilot::explore
