#pragma once

#include <vector>

#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// A verb that is nothing but these, of which one must be given.
Command command_of(Verb verb, std::vector<SubVerb> verbs);

// Runs the command, or that of its verbs which was called.
void run_called(const Command& command, Session& session);

// That of its verbs which was called, known once the words were read; nullptr where it has none.
const SubVerb* called_of(const Command& command);

}  // namespace winnow::tools
