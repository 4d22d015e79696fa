// What fit, ask and tell take in C++, in CPU time: the numbers that benchmarks/python/overhead.py stands beside.
// Usage: calls ROUNDS FOLDER; prints a line "fit ask tell" of seconds for every round.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <gpilot/gpilot.hpp>
#include <string>

namespace {

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

constexpr const char* kConfiguration = R"(
[study]
dt = 1.0
seed = 3
initial = 5
[[input]]
name = "u"
low = -1.0
high = 1.0
[[output]]
name = "y"
low = -2.0
high = 2.0
)";

/// x' = 0.8 x + 0.3 u: the same numbers in overhead.py.
double next(double x, double u) {
  return 0.8 * x + 0.3 * u;
}

double fit_seconds() {
  constexpr gpilot::Index kRows = 40;
  gpilot::Matrix u(kRows, 1);
  gpilot::Matrix y(kRows, 1);
  double x = 0.0;
  for (gpilot::Index t = 0; t < kRows; ++t) {
    u(t, 0) = (t * 7) % 11 / 5.0 - 1.0;
    y(t, 0) = x;
    x = next(x, u(t, 0));
  }
  gpilot::ModelSpec spec;
  spec.states = {"x1"};
  gpilot::FitOptions options;
  options.rounds = 2;
  options.polish = 5;
  options.noise_path = 0;
  const double begin = cpu_seconds();
  gpilot::fit(gpilot::Data::from_rows(u, y, 1.0, {"u"}, {"y"}), spec, options);
  return cpu_seconds() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::string path = std::string(argc > 2 ? argv[2] : ".") + "/calls.study";
  for (int round = 0; round < rounds; ++round) {
    double ask = 0.0;
    double tell = 0.0;
    double fit = 0.0;
    for (int k = 0; k < 20; ++k) {
      fit += fit_seconds();
    }
    std::filesystem::remove(path);
    gpilot::Study study = gpilot::Study::create(path, kConfiguration, "calls.toml");
    double x = 0.0;
    for (int k = 0; k < 20; ++k) {
      const double begin = cpu_seconds();
      const gpilot::study::Step step = study.ask();
      const double asked = cpu_seconds();
      x = next(x, step.choice.control(0));
      const double told = cpu_seconds();
      study.tell(step.id, gpilot::Vector::Constant(1, x));
      ask += asked - begin;
      tell += cpu_seconds() - told;
    }
    std::printf("%.6f %.6f %.6f\n", fit / 20, ask / 20, tell / 20);
    std::fflush(stdout);
  }
}
