#pragma once

#include <string>
#include <vector>

#include "app/session.h"

namespace winnow::tools {

// Runs `winnow WORDS...` in this process, for callers that are no shell: neither the environment
// nor a configuration file says anything, no signal is taken, and what is to be said goes to
// `session`.
//
// words   of the command; the first names the verb: dedup, index, split or tune
// Throws  UsageError, in the program's words: what is no command; else what the verb throws
void run_words(const std::vector<std::string>& words, app::Session& session);

}  // namespace winnow::tools
