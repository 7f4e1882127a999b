#pragma once

#include <string>
#include <vector>

#include "app/session.h"

namespace winnow::tools {

// Runs `winnow WORDS...` in this process, for callers other than a shell. Reads no environment
// variables and no configuration file, handles no signals, and sends output to `session`.
//
// words   words of the command; the first names the verb: dedup, index, split or tune
// Throws  UsageError with the program's message: not a valid command; else what the verb throws
void run_words(const std::vector<std::string>& words, app::Session& session);

}  // namespace winnow::tools
