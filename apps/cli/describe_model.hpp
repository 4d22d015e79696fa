#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/report.hpp"

/// What `fit` and `show` print about a model; user units throughout.
namespace gpilot::cli {

/// "th_dot' = th_dot + f(th, th_dot, c)".
std::string equation(const ssm::Model& model, const ssm::Summary& summary, Index state);
/// "y_th measures th".
std::string emission(const ssm::Model& model, const ssm::Summary& summary, Index output);

/// What free runs over rows that the model had not learned from showed.
std::string held_out_words(const ssm::HeldOut& held);

/// One item a line, indented by two.
void print_emission(const ssm::Model& model, const ssm::Summary& summary);
void print_noises(const ssm::Model& model, const ssm::Summary& summary);
/// What was declared about functions, and the parameters that were learned; nothing where nothing was.
void print_knowledge(const ssm::Model& model);
void print_functions(const ssm::Summary& summary);
void print_training(const ssm::Model& model);

/// What a status that is no plain success means for whoever uses the model, a sentence; "" for the others.
std::string explanation(ssm::FitStatus status);

/// All of it for machines.
nlohmann::ordered_json model_json(const ssm::Model& model);

}  // namespace gpilot::cli
