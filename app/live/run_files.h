#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

// What a live view reads of a run's folder besides its metrics. Pure.

// RUN/ranks.json. None where it is damaged, or of a version that this one does not know.
std::optional<LiveRanks> parse_ranks(std::string_view text);

// The newest lines of the logs of RUN/health, at most so many, the newest last: "10:31:05 waiting
// ...". What several machines say at one time is said once.
std::vector<std::string> newest_lines(const std::vector<std::string>& logs, std::size_t most);

}  // namespace winnow::app
