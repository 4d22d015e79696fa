#pragma once

/// The door to gpilot: learn a model from recordings, predict, explore a system, keep a study of a rig.
///
///   auto data = gpilot::Data::read_csv({"train.csv"}, {"torque"}, {"angle"});
///   gpilot::ModelSpec spec;
///   spec.states = {"angle", "rate"};
///   spec.derivatives = {{.velocity = 1, .position = 0}};
///   auto model = gpilot::fit(data, spec);
///   auto prediction = model.predict(test, {.warmup = 5});
///   model.save("model.json");
///
/// examples/cpp has three programs: this one, an exploration of a system of one's own, and a study with ask and tell.

#include "gpilot/core/error.hpp"
#include "gpilot/core/types.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/explore/explorer.hpp"
#include "gpilot/explore/options.hpp"
#include "gpilot/model.hpp"
#include "gpilot/plan/choice.hpp"
#include "gpilot/rig/rig.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/study/rig_run.hpp"
#include "gpilot/study/study.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/comparison.hpp"

namespace gpilot {

using explore::ExploreOptions;
using explore::Explorer;
using identify::IdentifyOptions;
using inference::FitOptions;
using plan::Choice;
using rig::Rig;
using rig::RigOptions;
using ssm::ModelSpec;
using ssm::Prediction;
using ssm::PredictOptions;
using ssm::Range;
using ssm::Sequence;
using study::Study;
using study::StudyConfig;

}  // namespace gpilot
