#pragma once

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/inference/identify.hpp"
#include "gpilot/inference/recipe.hpp"
#include "gpilot/inference/validation.hpp"

namespace gpilot::inference {

inline constexpr double kMargin = 0.97;  ///< a Gaussian process must lower the linear model's error to this share

/// One candidate and its free runs over rows it has not seen.
struct Judged {
  Recipe recipe;
  double in_sample =
      std::numeric_limits<double>::infinity();  ///< RMSE over rows trained on, in units of the outputs' sd
  double validation = std::numeric_limits<double>::infinity();  ///< the same over rows left out
  double judgement = std::numeric_limits<double>::infinity();   ///< what candidates are compared by
  ValidationErrors errors = {};
  double bound = std::numeric_limits<double>::quiet_NaN();
};

/// One call of identify().
class Identifier {
 public:
  Identifier(const ssm::Dataset& data, const ssm::ModelSpec& spec, const IdentifyOptions& options)
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
  const Cooked& linear_of(std::size_t problem, const LinearChoice& choice);
  const Problem& problem(std::size_t k) const { return k == 0 ? whole_ : problems_[k - 1]; }
  std::vector<LinearChoice> linear_choices();
  double in_sample_error(const ssm::Component& component) const;
  double prediction_error_factor(const LinearChoice& choice) const;
  void judge(Judged& judged);
  Judged choose_gp(const Judged& linear);
  Judged choose_linear();
  std::vector<Recipe> gp_recipes(const LinearChoice& linear);
  Vector calibrate(const Judged& judged, const ssm::Component& component);
  ssm::Model assemble(const Judged& chosen, const Judged& linear);
  void describe(const Judged& chosen, const Judged& linear, const Cooked& cooked, ssm::Model& model) const;

  const ssm::Dataset& data_;
  const ssm::ModelSpec& spec_;
  const IdentifyOptions& options_;
  Problem whole_;
  std::vector<Fold> quarters_;
  std::vector<Problem> problems_;                                        ///< of the folds
  Vector unit_;                                                          ///< [E]
  std::map<std::pair<std::size_t, std::string>, Cooked> linear_models_;  ///< by problem and choice
  std::vector<Judged> judged_;
};

}  // namespace gpilot::inference
