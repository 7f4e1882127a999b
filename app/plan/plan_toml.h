#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::app {

// Flags by their long names without dashes, in order. A flag with several values appears once for
// each.
using PlannedFlags = std::vector<std::pair<std::string, std::string>>;

// The section [train] of a file for `winnow train --config`. Values are quoted texts, several
// values of a flag a list; switches are true or false.
std::string plan_toml(const PlannedFlags& flags, std::string_view about);

// Reads a text of plan_toml(). Throws FormatError, which names `where`: anything else.
PlannedFlags parse_plan_toml(std::string_view text, const std::string& where);

// "--net resnet50 --micro-batch 64", quoted for a shell.
std::string words_of(const PlannedFlags& flags);

}  // namespace winnow::app
