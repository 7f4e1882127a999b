#pragma once

#include <string>
#include <vector>

#include "app/session.h"

namespace winnow::tools {

// Runs `winnow WORDS...` in this process, for callers other than a shell: it reads no environment
// variables or configuration file, takes no signals, and sends output to `session`.
//
// words   of the command; the first names the verb: dedup, index, split or tune
// Throws  UsageError, with the program's message: not a command; else what the verb throws
void run_words(const std::vector<std::string>& words, app::Session& session);

}  // namespace winnow::tools
