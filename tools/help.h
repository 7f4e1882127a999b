#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/flags/flags.h"

// What the command line says of itself, and of words that it does not know.
namespace winnow::tools {

// Has the program's help, and that of verbs that it gets later, made of reference_of().
void describe_by_reference(CLI::App& program);

// For a verb of many options, once it has them: --help shows these, in this order, then `examples`;
// --help-all shows every option and the verb's footer. Flags are named as "--out"; CLI::Error for
// one that the verb does not have.
void shorten_help(Verb verb, std::vector<std::string> flags, const std::string& examples);

// A line for each row of a table: its name and what it is.
template <class Rows>
std::string table_of(const Rows& rows) {
  std::size_t width = 14;
  for (const auto& row : rows) width = std::max(width, row.name.size() + 1);
  std::string text;
  for (const auto& row : rows) text += fmt::format("\n  {:{}}{}", row.name, width, row.what);
  return text;
}

// `help [VERB...]` as `VERB... --help`, `version` as `--version`, and --config FILE before the verb
// wherever it stands in front of `--`; other words as they are.
// `words` begin with the program's name.
std::vector<std::string> in_flags(std::vector<std::string> words);

// A variable of the environment that begins as those of the verb that was called and is none of
// them, as a sentence: WINNOW_TRAIN_BATCHSIZE. Empty: there is none.
std::string unknown_variable(const CLI::App& program);

// After `program` was parsed: a sentence about the first verb or flag that it does not know, with
// the one that may have been meant and where to look; empty where there is none.
std::string unknown_word(const CLI::App& program);

// "winnow index add": what was parsed of `program`, for "see ... --help".
std::string parsed_verb(const CLI::App& program);

}  // namespace winnow::tools
