#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "gpilot/core/error.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/rig/rig.hpp"
#include "gpilot/study/record.hpp"
#include "gpilot/study/rig_run.hpp"
#include "modules.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of gpilot. The package around it is the interface; this module may change.";
  nb::set_leak_warnings(false);  // an interpreter that ends does not collect what modules hold

  nb::exception<gpilot::InputError>(m, "InputError", PyExc_ValueError);
  nb::exception<gpilot::NumericalError>(m, "NumericalError", PyExc_ArithmeticError);
  nb::exception<gpilot::Cancelled>(m, "Cancelled", PyExc_RuntimeError);
  nb::exception<gpilot::study::StoreError>(m, "StoreError", PyExc_OSError);
  nb::exception<gpilot::study::StudyBusy>(m, "StudyBusy", PyExc_RuntimeError);
  nb::exception<gpilot::rig::RigError>(m, "RigError", PyExc_RuntimeError);
  nb::exception<gpilot::study::RigRunFailed>(m, "RigRunFailed", PyExc_RuntimeError);

  m.def("version", &gpilot::version);
  m.def(
      "strategies",
      [] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const gpilot::plan::StrategyInfo& info : gpilot::plan::strategies()) {
          all.emplace_back(info.name, info.summary);
        }
        return all;
      },
      "Every strategy with a line about it.");

  using namespace gpilot::python;
  bind_data(m);
  bind_model(m);
  bind_explorer(m);
  bind_study(m);
  bind_rig(m);
  bind_systems(m);
  bind_compare(m);
}
