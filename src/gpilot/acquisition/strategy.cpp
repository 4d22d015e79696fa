#include "gpilot/acquisition/strategy.hpp"

#include "gpilot/acquisition/maximise.hpp"
#include "gpilot/acquisition/planner.hpp"
#include "gpilot/error.hpp"
#include "gpilot/suggest.hpp"

namespace gpilot::acquisition {

using DrawControl = Vector (*)(const Situation&);
using MakeCriterion = std::unique_ptr<Criterion> (*)(const Situation&);
using MakePlan = Plan (*)(const Situation&);

#define DRAW(name, function, summary) Vector function(const Situation&);
#define MAXIMISE(name, function, summary) std::unique_ptr<Criterion> function(const Situation&);
#define PLAN(name, function, summary) Plan function(const Situation&);
#include "strategies.def"
#undef DRAW
#undef MAXIMISE
#undef PLAN

namespace {

class Draw : public Strategy {
 public:
  explicit Draw(DrawControl draw) : draw_(draw) {}
  Choice choose(const Situation& situation) const override {
    return {.control = draw_(situation), .plan = {}, .landscape = {}};
  }
  std::unique_ptr<Criterion> criterion(const Situation& /*situation*/) const override { return nullptr; }

 private:
  DrawControl draw_;
};

class Maximise : public Strategy {
 public:
  explicit Maximise(MakeCriterion make) : make_(make) {}
  Choice choose(const Situation& situation) const override { return maximise(*make_(situation), situation.box); }
  std::unique_ptr<Criterion> criterion(const Situation& situation) const override { return make_(situation); }

 private:
  MakeCriterion make_;
};

class Planned : public Strategy {
 public:
  explicit Planned(MakePlan plan) : plan_(plan) {}
  Choice choose(const Situation& situation) const override {
    Plan plan = plan_(situation);
    return {.control = plan.controls.row(0).transpose(),
            .value = plan.value,
            .evaluations = plan.evaluations,
            .plan = std::move(plan.controls),
            .landscape = {}};
  }
  std::unique_ptr<Criterion> criterion(const Situation& /*situation*/) const override { return nullptr; }

 private:
  MakePlan plan_;
};

struct Entry {
  std::string_view name;
  DrawControl draw;
  MakeCriterion make;
  MakePlan plan;
};

const std::vector<Entry>& entries() {
#define DRAW(name, function, summary) Entry{name, function, nullptr, nullptr},
#define MAXIMISE(name, function, summary) Entry{name, nullptr, function, nullptr},
#define PLAN(name, function, summary) Entry{name, nullptr, nullptr, function},
  static const std::vector<Entry> all{
#include "strategies.def"
  };
#undef DRAW
#undef MAXIMISE
#undef PLAN
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
    return std::make_unique<Maximise>(entry.make);
  }
  throw InputError(unknown_name_message("strategy", name, strategy_names()));
}

}  // namespace gpilot::acquisition
