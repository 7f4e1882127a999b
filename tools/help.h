#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/flags/flags.h"

// Makes the help of the command line, and messages about words that it does not know.
namespace winnow::tools {

// Makes `program` print help from reference_of(), also for verbs that it gets later.
void describe_by_reference(CLI::App& program);

// Shortens the help of a verb with many options. Call it when the verb has all of them: --help then
// shows `flags`, in this order, and `examples`; --help-all shows every option and the verb's
// footer. Flags are named as "--out". Throws CLI::Error for a flag that the verb lacks.
void shorten_help(Verb verb, std::vector<std::string> flags, const std::string& examples);

// A table for help texts: one line per row, with name and description.
template <class Rows>
std::string table_of(const Rows& rows) {
  std::size_t width = 14;
  for (const auto& row : rows) width = std::max(width, row.name.size() + 1);
  std::string text;
  for (const auto& row : rows) text += fmt::format("\n  {:{}}{}", row.name, width, row.what);
  return text;
}

// Converts words that stand for options. Words begin with the program's name.
// - `help [VERB...]` becomes `VERB... --help`, `version` becomes `--version`
// - --config FILE moves before the verb, if it is in front of `--`
std::vector<std::string> in_flags(std::vector<std::string> words);

// A sentence about an environment variable that begins like those of the called verb but is none of
// them, such as WINNOW_TRAIN_BATCHSIZE. Empty if there is none.
std::string unknown_variable(const CLI::App& program);

// A sentence about the first unknown verb or option, with a likely correction and where to look.
// Empty if there is none. Call it after `program` was parsed.
std::string unknown_word(const CLI::App& program);

// The verb that was parsed, for "see ... --help": "winnow index add".
std::string parsed_verb(const CLI::App& program);

}  // namespace winnow::tools
