#include "gpilot/plan/strategy.hpp"

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/plan/limited_choice.hpp"
#include "gpilot/plan/maximise.hpp"
#include "gpilot/plan/planner.hpp"

namespace gpilot::plan {

using DrawControl = Vector (*)(const DecisionContext&);
using MakeCriterion = std::unique_ptr<Criterion> (*)(const DecisionContext&);
using Posteriors = std::vector<gp::PackedPosterior>;
using MakeObjective = PlanObjective (*)(const DecisionContext&, const Posteriors&);

#define DRAW(name, function, summary) Vector function(const DecisionContext&);
#define MAXIMISE(name, function, summary) std::unique_ptr<Criterion> function(const DecisionContext&);
#define MAXIMISE_PAST MAXIMISE
#define PLAN(name, function, unit, summary) PlanObjective function(const DecisionContext&, const Posteriors&);
#define PLAN_FOR_USE PLAN
#include "strategies.def"
#undef DRAW
#undef MAXIMISE
#undef MAXIMISE_PAST
#undef PLAN
#undef PLAN_FOR_USE

namespace {

class Draw : public Strategy {
 public:
  explicit Draw(DrawControl draw) : draw_(draw) {}
  Choice choose(const DecisionContext& context) const override {
    const Vector control = draw_(context);
    return context.limited() ? safe_choice_near(context, control) : Choice{.control = control};
  }
  std::unique_ptr<Criterion> criterion(const DecisionContext& /*context*/) const override { return nullptr; }

 private:
  DrawControl draw_;
};

class Maximise : public Strategy {
 public:
  Maximise(MakeCriterion make, bool needs_history) : make_(make), needs_history_(needs_history) {}
  Choice choose(const DecisionContext& context) const override {
    const std::unique_ptr<Criterion> criterion = make_(context);
    return context.limited() ? safe_maximum(context, *criterion) : maximise(*criterion, context.box);
  }
  std::unique_ptr<Criterion> criterion(const DecisionContext& context) const override { return make_(context); }
  bool needs_history() const override { return needs_history_; }

 private:
  MakeCriterion make_;
  bool needs_history_;
};

class Planned : public Strategy {
 public:
  explicit Planned(MakeObjective make) : make_(make) {}
  Choice choose(const DecisionContext& context) const override {
    const Posteriors uncertainty = function_uncertainty(context);
    const PlanObjective objective = make_(context, uncertainty);
    Choice choice = search_plan({.context = context, .uncertainty = uncertainty, .criterion = *objective.criterion});
    choice.reference_sd = objective.reference_sd;
    return choice;
  }
  std::unique_ptr<Criterion> criterion(const DecisionContext& /*context*/) const override { return nullptr; }
  Vector plan_values(const DecisionContext& context, MatrixRef plans) const override {
    const Posteriors uncertainty = function_uncertainty(context);
    return values_of_plans(context, uncertainty, *make_(context, uncertainty).criterion, plans);
  }

 private:
  MakeObjective make_;
};

struct Entry {
  std::string_view name;
  DrawControl draw;
  MakeCriterion make;
  MakeObjective plan;
  bool needs_history = false;
};

const std::vector<Entry>& entries() {
#define DRAW(name, function, summary) Entry{name, function, nullptr, nullptr},
#define MAXIMISE(name, function, summary) Entry{name, nullptr, function, nullptr},
#define MAXIMISE_PAST(name, function, summary) Entry{name, nullptr, function, nullptr, true},
#define PLAN(name, function, unit, summary) Entry{name, nullptr, nullptr, function},
#define PLAN_FOR_USE PLAN
  static const std::vector<Entry> all{
#include "strategies.def"
  };
#undef DRAW
#undef MAXIMISE
#undef MAXIMISE_PAST
#undef PLAN
#undef PLAN_FOR_USE
  return all;
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(std::string_view name) {
  for (const Entry& entry : entries()) {
    if (entry.name != name) {
      continue;
    }
    if (entry.draw != nullptr) {
      return std::make_unique<Draw>(entry.draw);
    }
    if (entry.plan != nullptr) {
      return std::make_unique<Planned>(entry.plan);
    }
    return std::make_unique<Maximise>(entry.make, entry.needs_history);
  }
  throw InputError(unknown_name_message("strategy", name, strategy_names()));
}

}  // namespace gpilot::plan
