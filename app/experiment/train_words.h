#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

// Checks the words for winnow train after -- of an experiment. `verb`: "sweep" or "tune-lr". Throws
// UsageError for a flag that the experiment decides; the message says what to do instead.
void check_train_words(std::string_view verb, const std::vector<std::string>& words);

// "winnow train CACHE --out run WORDS", for a shell.
std::string train_command(const std::filesystem::path& cache,
                          const std::vector<std::string>& words);

// "--lr" of "--lr=0.1" and of "--lr".
std::string flag_of_word(std::string_view word);

struct WordFlag {
  std::string flag;         // "--momentum"
  bool takes_value = true;  // as the next word, or after "="
};

// The words without these flags and their values.
std::vector<std::string> without_flags(const std::vector<std::string>& words,
                                       const std::vector<WordFlag>& flags);

}  // namespace winnow::app
