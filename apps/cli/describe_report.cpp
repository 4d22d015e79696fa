#include "describe_report.hpp"

#include <string>

#include "describe_model.hpp"

namespace gpilot::cli {

nlohmann::ordered_json describe_for_report(const ssm::Model& model) {
  nlohmann::ordered_json json = model_json(model);
  json.erase("baselines");
  const ssm::Summary summary = ssm::summarize(model, model.gp);
  for (std::size_t e = 0; e < json["outputs"].size(); ++e) {
    json["outputs"][e]["words"] = emission(model, summary, static_cast<Index>(e));
  }
  json["training"]["explanation"] = explanation(model.report.status);
  if (model.report.held_out.runs > 0) {
    json["training"]["held_out_words"] = held_out_words(model.report.held_out);
  }
  json["training"]["reason"] = model.report.reason;
  json["training"]["structure"] = model.report.structure;
  json["training"]["calibration"] = model.report.calibration;
  return json;
}

}  // namespace gpilot::cli
