#include "gpilot/acquisition/strategy.hpp"

#include "gpilot/acquisition/maximise.hpp"
#include "gpilot/error.hpp"
#include "gpilot/suggest.hpp"
#include "limited_choice.hpp"

namespace gpilot::acquisition {

using DrawControl = Vector (*)(const Situation&);
using MakeCriterion = std::unique_ptr<Criterion> (*)(const Situation&);
using MakePlan = Choice (*)(const Situation&);

#define DRAW(name, function, summary) Vector function(const Situation&);
#define MAXIMISE(name, function, summary) std::unique_ptr<Criterion> function(const Situation&);
#define PLAN(name, function, summary) Choice function(const Situation&);
#define PLAN_FOR_USE PLAN
#include "strategies.def"
#undef DRAW
#undef MAXIMISE
#undef PLAN
#undef PLAN_FOR_USE

namespace {

class Draw : public Strategy {
 public:
  explicit Draw(DrawControl draw) : draw_(draw) {}
  Choice choose(const Situation& situation) const override {
    const Vector control = draw_(situation);
    return situation.limited() ? safe_choice_near(situation, control)
                               : Choice{.control = control, .plan = {}, .landscape = {}};
  }
  std::unique_ptr<Criterion> criterion(const Situation& /*situation*/) const override { return nullptr; }

 private:
  DrawControl draw_;
};

class Maximise : public Strategy {
 public:
  explicit Maximise(MakeCriterion make) : make_(make) {}
  Choice choose(const Situation& situation) const override {
    const std::unique_ptr<Criterion> criterion = make_(situation);
    return situation.limited() ? safe_maximum(situation, *criterion) : maximise(*criterion, situation.box);
  }
  std::unique_ptr<Criterion> criterion(const Situation& situation) const override { return make_(situation); }

 private:
  MakeCriterion make_;
};

class Planned : public Strategy {
 public:
  explicit Planned(MakePlan plan) : plan_(plan) {}
  Choice choose(const Situation& situation) const override { return plan_(situation); }
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
#define PLAN_FOR_USE PLAN
  static const std::vector<Entry> all{
#include "strategies.def"
  };
#undef DRAW
#undef MAXIMISE
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
    return std::make_unique<Maximise>(entry.make);
  }
  throw InputError(unknown_name_message("strategy", name, strategy_names()));
}

}  // namespace gpilot::acquisition
