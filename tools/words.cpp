#include "tools/words.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/error.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/sub_verb.h"

namespace winnow::tools {

void run_words(const std::vector<std::string>& words, app::Session& session) {
  CLI::App program{"", "winnow"};
  program.require_subcommand(1);
  const Verb all(program);
  const std::vector<Command> commands{add_dedup(all), add_index(all), add_split(all),
                                      add_tune(all)};
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_word(program);
    throw UsageError(unknown.empty() ? error.what() : unknown);
  }
  run_called(*std::ranges::find_if(commands, [](const Command& c) { return c.verb.called(); }),
             session);
}

}  // namespace winnow::tools
