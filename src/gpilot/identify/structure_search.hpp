#pragma once

#include <limits>
#include <map>
#include <memory>
#include <mutex>
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
  double bound = kNaN;
  std::shared_ptr<const FittedCandidate> fitted = nullptr;  ///< to all rows that it was judged by
};

/// What a search found: the best structure, and the best linear one.
struct FoundStructures {
  JudgedStructure chosen;
  JudgedStructure linear;
};

/// One call of identify(): choose() among structures by the rows of judged_part(), then assemble() by all of them.
class StructureSearch {
 public:
  StructureSearch(const ssm::Dataset& data, const ssm::ModelSpec& spec, const IdentifyOptions& options)
      : data_(data), spec_(spec), options_(options), whole_(data, spec), quarters_(quarter_folds(data)) {
    unit_ = whole_.scaling.output_scale;
    for (const Fold& quarter : quarters_) {
      problems_.emplace_back(quarter.training, spec);
    }
  }

  FoundStructures choose();
  /// The model of a choice that a search among some of these rows has made, or this one.
  ssm::Model assemble(const FoundStructures& found, const StructureSearch& judge);

 private:
  void report(const std::string& stage, double fraction);
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  const FittedCandidate& linear_of(std::size_t k, const LinearChoice& choice);
  const Problem& problem(std::size_t k) const { return k == 0 ? whole_ : problems_[k - 1]; }
  std::vector<LinearChoice> linear_choices();
  std::vector<double> radii_for(const LinearChoice& fitted);
  double in_sample_error(const ssm::Dynamics& dynamics, Index draws = kValidationDraws) const;
  void fit_in_sample(JudgedStructure& judged, bool to_the_end);
  double prediction_error_factor(const LinearChoice& choice) const;
  void judge(JudgedStructure& judged);
  bool judge_by(std::size_t k, JudgedStructure& judged);
  void race(std::vector<JudgedStructure>& candidates);
  std::vector<JudgedStructure> screen(const JudgedStructure& linear);
  JudgedStructure choose_gp(const JudgedStructure& linear);
  JudgedStructure choose_linear();
  std::vector<StructureChoice> gp_choices(const LinearChoice& linear);
  Vector calibrate(const JudgedStructure& judged, const ssm::Dynamics& dynamics);
  FittedCandidate fit_all_rows(JudgedStructure& chosen, const JudgedStructure& linear, const StructureSearch& judge);
  void describe(const FoundStructures& found, const FittedCandidate& candidate, const StructureSearch& judge,
                ssm::Model& model) const;
  Index rows() const;

  const ssm::Dataset& data_;
  const ssm::ModelSpec& spec_;
  const IdentifyOptions& options_;
  Problem whole_;
  std::vector<Fold> quarters_;
  std::vector<Problem> problems_;  ///< of the folds
  Vector unit_;                    ///< [E]
  std::mutex report_mutex_;
  std::mutex linear_mutex_;
  std::map<std::pair<std::size_t, std::string>, FittedCandidate> linear_models_;  ///< by problem and choice
  std::vector<JudgedStructure> judged_;
};

}  // namespace gpilot::identify
