#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/systems/cart_pole.hpp"
#include "gpilot/systems/kink.hpp"
#include "gpilot/systems/pendulum.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/systems/tras.hpp"

namespace gpilot::systems {
namespace {

template <class T>
std::unique_ptr<System> make(Variant variant) {
  return std::make_unique<T>(variant);
}

struct Entry {
  std::string_view name;
  std::unique_ptr<System> (*make)(Variant);
};

constexpr Entry kEntries[] = {
    {"kink", make<Kink>},
    {"pendulum", make<Pendulum>},
    {"cart-pole", make<CartPole>},
    {"tras", make<Tras>},
};

}  // namespace

const std::vector<std::string>& system_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Entry& entry : kEntries) {
      list.emplace_back(entry.name);
    }
    return list;
  }();
  return names;
}

std::unique_ptr<System> make_system(std::string_view name, Variant variant) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) {
      return entry.make(variant);
    }
  }
  throw InputError(unknown_name_message("system", name, system_names()));
}

}  // namespace gpilot::systems
