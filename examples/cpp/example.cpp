// Uses an installed gpilot: prints its version and a few numbers of a seeded random stream.
#include <iostream>

#include "gpilot/random.hpp"
#include "gpilot/version.hpp"

int main() {
  std::cout << "gpilot " << gpilot::version() << '\n';
  gpilot::RandomStream stream(/*seed=*/7, gpilot::Purpose::kTest);
  std::cout << "three standard normal numbers of seed 7: " << stream.normal_vector(3).transpose() << '\n';
}
