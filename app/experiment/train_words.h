#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

// Checks the options for winnow train that follow "--" in the command line of an experiment.
// `verb`: "sweep" or "tune-lr". Throws UsageError for an option that the experiment sets itself;
// the message says what to do instead.
void check_train_words(std::string_view verb, const std::vector<std::string>& words);

// The command "winnow train CACHE --out run WORDS", quoted for a shell.
std::string train_command(const std::filesystem::path& cache,
                          const std::vector<std::string>& words);

// The option's name in a word of a command line: "--lr" of "--lr=0.1" and of "--lr".
std::string flag_of_word(std::string_view word);

struct WordFlag {
  std::string flag;         // "--momentum"
  bool takes_value = true;  // whether a value follows, as the next word or after "="
};

// `words` of a command line without the given options and their values.
std::vector<std::string> without_flags(const std::vector<std::string>& words,
                                       const std::vector<WordFlag>& flags);

}  // namespace winnow::app
