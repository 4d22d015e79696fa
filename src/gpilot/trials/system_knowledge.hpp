#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/ssm/spec.hpp"
#include "gpilot/systems/system.hpp"

namespace gpilot::trials {

/// What can be told about a simulated system, in this order: "cyclic", "odd", "control-affine", "physics" (the
/// system's own equations with unknown parameters), "physics-without-friction" (the same with that term missing) and
/// "physics-known" (with the true parameters: what no model can do much better than).
std::vector<std::string> knowledge_names();

/// Tells a model what is true of a system, of the kinds named; a kind that does not hold for a system is left out.
/// Parameters of physics are known within a factor of 3: each starts at its true value times a factor from 1/3 to 3,
/// drawn evenly in its logarithm from (seed, trial), and has a log-normal prior around that start. Throws InputError
/// for an unknown kind, and for kinds that exclude each other.
void declare_knowledge(const systems::System& system, const std::vector<std::string>& kinds, std::uint64_t seed,
                       std::uint32_t trial, ssm::ModelSpec& spec);

/// The true values of the parameters that "physics" leaves unknown; none where a system has no equations.
std::vector<std::pair<std::string, double>> true_parameters(const systems::System& system, bool friction = true);

}  // namespace gpilot::trials
