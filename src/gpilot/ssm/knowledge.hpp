#pragma once

#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/spec.hpp"
#include "gpilot/ssm/structure.hpp"

/// What a ModelSpec declares about functions (docs/knowledge.md), checked and put into scaled units.
namespace gpilot::ssm {

/// An error about declared knowledge that knows where: `subject` is a state (or, of physics, "" or a parameter), `key`
/// what is declared about it ("depends_on", "symmetry", "physics", "physics.parameters", ..).
class KnowledgeError : public InputError {
 public:
  KnowledgeError(std::string key, std::string subject, const std::string& reason);
  const std::string& key() const { return key_; }
  const std::string& subject() const { return subject_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string key_, subject_, reason_;
};

/// Throws KnowledgeError for names that are not there and for declarations that cannot go together.
void check_knowledge(const ModelSpec& spec);

/// Whether anything is declared beyond derivatives and angles.
bool has_knowledge(const ModelSpec& spec);

/// [G] forms; empty where nothing is known.
std::vector<kernels::Form> forms_of(const ModelSpec& spec, const Structure& structure);
std::vector<KnownWeight> known_weights_of(const ModelSpec& spec, const Scaling& scaling);

/// Odd functions are odd about 0 in scaled units: offsets of what they depend on are the centres.
void centre(const ModelSpec& spec, Scaling& scaling);

/// The parameters that are learned.
std::vector<std::string> parameter_names(const ModelSpec& spec);

/// One sentence for each declaration, for people.
std::vector<std::string> describe_knowledge(const ModelSpec& spec);

}  // namespace gpilot::ssm
