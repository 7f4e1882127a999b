#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::app {

// Flags by their long names without dashes, in their order. A flag with several values comes once
// for each.
using PlannedFlags = std::vector<std::pair<std::string, std::string>>;

// The section [train] of a file for `winnow train --config`. Values are texts in quotes, those of a
// flag with several values a list; switches are true or false.
std::string plan_toml(const PlannedFlags& flags, std::string_view about);

// What plan_toml() wrote. Throws FormatError, naming `where`: anything else.
PlannedFlags parse_plan_toml(std::string_view text, const std::string& where);

// "--net resnet50 --micro-batch 64", as a shell takes it.
std::string words_of(const PlannedFlags& flags);

}  // namespace winnow::app
