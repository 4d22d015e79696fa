#include "gpilot/acquisition/strategy.hpp"

#include "gpilot/acquisition/maximise.hpp"
#include "gpilot/error.hpp"
#include "gpilot/suggest.hpp"

namespace gpilot::acquisition {

using DrawControl = Vector (*)(const Situation&);
using MakeCriterion = std::unique_ptr<Criterion> (*)(const Situation&);

#define DRAW(name, function, summary) Vector function(const Situation&);
#define MAXIMISE(name, function, summary) std::unique_ptr<Criterion> function(const Situation&);
#include "strategies.def"
#undef DRAW
#undef MAXIMISE

namespace {

class Draw : public Strategy {
 public:
  explicit Draw(DrawControl draw) : draw_(draw) {}
  Choice choose(const Situation& situation) const override { return {.control = draw_(situation), .landscape = {}}; }
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

struct Entry {
  std::string_view name;
  DrawControl draw;
  MakeCriterion make;
};

const std::vector<Entry>& entries() {
#define DRAW(name, function, summary) Entry{name, function, nullptr},
#define MAXIMISE(name, function, summary) Entry{name, nullptr, function},
  static const std::vector<Entry> all{
#include "strategies.def"
  };
#undef DRAW
#undef MAXIMISE
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
    return std::make_unique<Maximise>(entry.make);
  }
  throw InputError(unknown_name_message("strategy", name, strategy_names()));
}

}  // namespace gpilot::acquisition
