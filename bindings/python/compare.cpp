#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>

#include "arrays.hpp"
#include "call.hpp"
#include "dict_archive.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/options/layout.hpp"
#include "gpilot/trials/comparison.hpp"
#include "modules.hpp"

namespace gpilot::python {

namespace {

using trials::ComparisonJob;
using trials::ComparisonOptions;
using JobTuple = std::tuple<std::string, std::string, std::uint32_t>;

JobTuple tuple_of(const ComparisonJob& job) {
  return {job.system, job.strategy, job.trial};
}
ComparisonJob job_of(const JobTuple& job) {
  return {std::get<0>(job), std::get<1>(job), std::get<2>(job)};
}

/// What is compared, as gpilot/_compare.py writes it.
ComparisonOptions options_from(const Dict& values) {
  ComparisonOptions options;
  options.systems = nb::cast<std::vector<std::string>>(values["systems"]);
  options.strategies = nb::cast<std::vector<std::string>>(values["strategies"]);
  options.trials = nb::cast<Index>(values["trials"]);
  options.paper = nb::cast<bool>(values["paper"]);
  options.angles = nb::cast<bool>(values["angles"]);
  options.observe_states = nb::cast<bool>(values["observe_states"]);
  read_options(nb::cast<nb::dict>(values["explore"]), "",
               [&](DictArchive& archive) { options::describe_exploring(archive, options.explore); });
  read_options(nb::cast<nb::dict>(values["planning"]), "planning",
               [&](DictArchive& archive) { options::describe_planning(archive, options.explore.planning); });
  read_options(nb::cast<nb::dict>(values["training"]), "training",
               [&](DictArchive& archive) { options::describe_training(archive, options.explore.fit); });
  for (const auto& [system, low, high] :
       nb::cast<std::vector<std::tuple<std::string, Vector, Vector>>>(values["boxes"])) {
    options.boxes.push_back({system, {low, high}});
  }
  for (const auto& [output, low, high] :
       nb::cast<std::vector<std::tuple<std::string, double, double>>>(values["limits"])) {
    options.limits.push_back({output, low, high});
  }
  for (const auto& [name, system] : nb::cast<nb::dict>(values["own"])) {
    options.own_systems.push_back(nb::cast<std::shared_ptr<systems::System>>(system));
  }
  options.delta = options.explore.limits.delta;
  return options;
}

Dict outcome_dict(const trials::ComparisonOutcome& outcome) {
  nb::list failed;
  for (const trials::FailedTrial& trial : outcome.failed) {
    failed.append(nb::make_tuple(nb::cast(tuple_of(trial.job)), trial.message));
  }
  nb::dict result;
  result["done"] = outcome.done;
  result["found"] = outcome.found;
  result["total"] = outcome.total;
  result["failed"] = failed;
  result["summary"] = outcome.summary ? nb::cast(trials::format_summary(*outcome.summary)) : nb::none();
  return result;
}

/// Ends a training at once.
std::function<void(const inference::Progress&)> throwing(const Call& call) {
  return [stop = call.stop()](const inference::Progress&) {
    if (*stop) {
      throw Cancelled("the trial was stopped");
    }
  };
}

/// One trial, wherever this process runs: the text of its record.
std::string run_trial_job(const Dict& values, const JobTuple& job) {
  ComparisonOptions options = options_from(values);
  options.systems = {std::get<0>(job)};
  Call call;
  options.explore.fit.stop = call.stop();
  options.explore.fit.on_progress = throwing(call);
  const auto record =
      call.run([&] { return trials::trial_runner(options)(job_of(job), [&] { return !*call.stop(); }); });
  if (!record) {
    throw Cancelled("the trial was stopped");
  }
  return trials::format_trial_record(job_of(job), *record);
}

/// All trials in this process, on its threads.
Dict run_here(const Dict& values, const std::string& directory, int threads, nb::object on_progress) {
  ComparisonOptions options = options_from(values);
  Call call(std::move(on_progress));
  options.explore.fit.stop = call.stop();
  options.explore.fit.on_progress = throwing(call);
  trials::ComparisonExecution execution{.threads = threads, .stop = call.stop()};
  if (const auto listener = call.listener(); call.is_heard()) {
    execution.on_progress = [listener](const trials::ComparisonProgress& progress) {
      listener({.stage = std::to_string(progress.done) + " of " + std::to_string(progress.total) + " trials",
                .fraction = progress.fraction,
                .objective = static_cast<double>(progress.done)});
    };
  }
  return outcome_dict(call.run([&] { return trials::run_comparison(options, directory, execution); }));
}

}  // namespace

void bind_compare(nb::module_& m) {
  m.def(
      "check_comparison", [](const Dict& values) { options_from(values).validate(); }, nb::arg("options"));
  m.def("run_comparison", &run_here, nb::arg("options"), nb::arg("directory"), nb::arg("threads"),
        nb::arg("on_progress").none());
  m.def("run_trial", &run_trial_job, nb::arg("options"), nb::arg("job"));

  using Directory = trials::ComparisonDirectory;
  nb::class_<Directory>(m, "ComparisonDirectory", "The directory of a comparison whose trials are run elsewhere.")
      .def(
          "__init__",
          [](Directory* self, const Dict& values, const std::string& directory) {
            new (self) Directory(options_from(values), directory);
          },
          nb::arg("options"), nb::arg("directory"))
      .def(
          "left",
          [](const Directory& self) {
            std::vector<JobTuple> jobs;
            std::vector<std::string> damaged;
            for (const ComparisonJob& job : self.left([&](const std::string& why) { damaged.push_back(why); })) {
              jobs.push_back(tuple_of(job));
            }
            return std::make_pair(jobs, damaged);
          },
          "The trials to run, and what was said about damaged files.")
      .def(
          "store", [](Directory& self, const JobTuple& job, const std::string& text) { self.store(job_of(job), text); },
          nb::arg("job"), nb::arg("record"), nb::call_guard<nb::gil_scoped_release>())
      .def("finish", [](const Directory& self) { return outcome_dict(self.finish()); });
}

}  // namespace gpilot::python
