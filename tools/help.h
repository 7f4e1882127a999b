#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/flags/flags.h"

// Help of the command line, and messages about words that it does not know.
namespace winnow::tools {

// Makes help from reference_of(), for the program and verbs that it gets later.
void describe_by_reference(CLI::App& program);

// For a verb with many options, once it has them: --help shows these, in this order, then
// `examples`; --help-all shows every option and the verb's footer. Flags are named as "--out".
// Throws CLI::Error for a flag that the verb lacks.
void shorten_help(Verb verb, std::vector<std::string> flags, const std::string& examples);

// A line for each row of a table: name and description.
template <class Rows>
std::string table_of(const Rows& rows) {
  std::size_t width = 14;
  for (const auto& row : rows) width = std::max(width, row.name.size() + 1);
  std::string text;
  for (const auto& row : rows) text += fmt::format("\n  {:{}}{}", row.name, width, row.what);
  return text;
}

// Rewrites words, which begin with the program's name:
// - `help [VERB...]` becomes `VERB... --help`, `version` becomes `--version`
// - --config FILE moves before the verb, if it is in front of `--`
std::vector<std::string> in_flags(std::vector<std::string> words);

// A sentence about an environment variable that begins like those of the called verb and is none of
// them, such as WINNOW_TRAIN_BATCHSIZE. Empty: there is none.
std::string unknown_variable(const CLI::App& program);

// Call after `program` was parsed: a sentence about the first unknown verb or flag, with a likely
// correction and where to look. Empty if there is none.
std::string unknown_word(const CLI::App& program);

// "winnow index add": the verb that was parsed, for "see ... --help".
std::string parsed_verb(const CLI::App& program);

}  // namespace winnow::tools
