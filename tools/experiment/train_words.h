#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::tools {

// Looks through the words for winnow train that stand behind -- of an experiment. `verb`: whose,
// "sweep" or "tune-lr". Throws UsageError for a flag that the experiment decides; says what to do
// instead.
void check_train_words(std::string_view verb, const std::vector<std::string>& words);

// "--lr" of "--lr=0.1" and of "--lr".
std::string flag_of_word(std::string_view word);

}  // namespace winnow::tools
