#pragma once

#include <functional>
#include <vector>

#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// A verb of a verb, such as `winnow index add`, in a function and often a file of its own.
struct SubVerb {
  Verb verb;
  std::function<void(Session&)> run;
  bool uses_ranks = false;  // may run under mpirun
};

// A verb that is nothing but these, of which one must be given. UsageError where ranks run one that
// does not use them.
Command command_of(Verb verb, std::vector<SubVerb> verbs);

}  // namespace winnow::tools
