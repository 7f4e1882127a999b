#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/live/live_state.h"

namespace winnow::app {

// Parses files of a run's folder, other than its metrics, for a live view. Pure.

// Parses RUN/ranks.json. Nullopt if it is damaged, or of an unknown version.
std::optional<LiveRanks> parse_ranks(std::string_view text);

// The newest lines of the logs in RUN/health, at most `most`, newest last: "10:31:05 waiting ...".
// A line that several machines wrote at the same time appears once.
std::vector<std::string> newest_lines(const std::vector<std::string>& logs, std::size_t most);

}  // namespace winnow::app
