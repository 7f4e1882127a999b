#pragma once

#include <vector>

#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// A verb that only groups these verbs. One of them must be given.
Command command_of(Verb verb, std::vector<SubVerb> verbs);

// Runs the command, or the one of its verbs that was called.
void run_called(const Command& command, Session& session);

// The one of its verbs that was called, valid after the words were read; nullptr if it has none.
const SubVerb* called_of(const Command& command);

}  // namespace winnow::tools
