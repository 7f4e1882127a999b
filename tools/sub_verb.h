#pragma once

#include <vector>

#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// Makes a verb that only groups other verbs, as `winnow index` does. One of them must be given.
Command command_of(Verb verb, std::vector<SubVerb> verbs);

// Runs the command, or that one of its verbs that was called.
void run_called(const Command& command, Session& session);

// The verb of the command that was called, valid after the command line was parsed; nullptr if it
// has no verbs.
const SubVerb* called_of(const Command& command);

}  // namespace winnow::tools
