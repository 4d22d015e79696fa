#pragma once

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/identify/identify.hpp"
#include "gpilot/identify/structure_choice.hpp"
#include "gpilot/identify/validation.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::identify {

inline constexpr double kMargin = 0.97;  ///< a Gaussian process must lower the linear model's error to this share

/// One candidate and its free runs over rows it has not seen.
struct JudgedStructure {
  StructureChoice choice;
  double in_sample =
      std::numeric_limits<double>::infinity();  ///< RMSE over rows trained on, in units of the outputs' sd
  double validation = std::numeric_limits<double>::infinity();  ///< the same over rows left out
  double judgement = std::numeric_limits<double>::infinity();   ///< what candidates are compared by
  ValidationErrors errors = {};
  double bound = std::numeric_limits<double>::quiet_NaN();
};

/// One call of identify().
class StructureSearch {
 public:
  StructureSearch(const ssm::Dataset& data, const ssm::ModelSpec& spec, const IdentifyOptions& options)
      : data_(data), spec_(spec), options_(options), whole_(data, spec), quarters_(quarter_folds(data)) {
    for (const Fold& fold : quarters_) {
      problems_.emplace_back(fold.training, spec);
    }
    unit_ = whole_.scaling.output_scale;
  }

  ssm::Model run();

 private:
  void report(const std::string& stage, double fraction) const;
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  const FittedCandidate& linear_of(std::size_t problem, const LinearChoice& choice);
  const Problem& problem(std::size_t k) const { return k == 0 ? whole_ : problems_[k - 1]; }
  std::vector<LinearChoice> linear_choices();
  double in_sample_error(const ssm::Dynamics& dynamics) const;
  double prediction_error_factor(const LinearChoice& choice) const;
  void judge(JudgedStructure& judged);
  JudgedStructure choose_gp(const JudgedStructure& linear);
  JudgedStructure choose_linear();
  std::vector<StructureChoice> gp_choices(const LinearChoice& linear);
  Vector calibrate(const JudgedStructure& judged, const ssm::Dynamics& dynamics);
  ssm::Model assemble(const JudgedStructure& chosen, const JudgedStructure& linear);
  void describe(const JudgedStructure& chosen, const JudgedStructure& linear, const FittedCandidate& candidate,
                ssm::Model& model) const;

  const ssm::Dataset& data_;
  const ssm::ModelSpec& spec_;
  const IdentifyOptions& options_;
  Problem whole_;
  std::vector<Fold> quarters_;
  std::vector<Problem> problems_;                                                 ///< of the folds
  Vector unit_;                                                                   ///< [E]
  std::map<std::pair<std::size_t, std::string>, FittedCandidate> linear_models_;  ///< by problem and choice
  std::vector<JudgedStructure> judged_;
};

}  // namespace gpilot::identify
