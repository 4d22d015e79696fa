#pragma once

#include "gpilot/report/numbers.hpp"
#include "gpilot/study/study.hpp"

namespace gpilot::report {

/// What happened to a study beside plain steps, oldest first: [{"at", "step", "kind", "text"}].
Json study_events(const study::Study& study);

/// Where it stands, in sentences.
Json study_words(const study::Study& study);

/// When anything of it was last written down; "" if nothing was.
std::string last_moved(const study::Study& study);

}  // namespace gpilot::report
