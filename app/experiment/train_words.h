#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

// Looks through the words for winnow train that stand behind -- of an experiment. `verb`: whose,
// "sweep" or "tune-lr". Throws UsageError for a flag that the experiment decides; says what to do
// instead.
void check_train_words(std::string_view verb, const std::vector<std::string>& words);

// "winnow train CACHE --out run WORDS", for a shell.
std::string train_command(const std::filesystem::path& cache,
                          const std::vector<std::string>& words);

// "--lr" of "--lr=0.1" and of "--lr".
std::string flag_of_word(std::string_view word);

struct WordFlag {
  std::string flag;         // "--momentum"
  bool takes_value = true;  // as a word of its own, or after "="
};

// The words but for these flags and their values.
std::vector<std::string> without_flags(const std::vector<std::string>& words,
                                       const std::vector<WordFlag>& flags);

}  // namespace winnow::app
