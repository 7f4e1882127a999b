#include "tools/sub_verb.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "tools/require_ranks.h"

namespace winnow::tools {

Command command_of(CLI::App& app, std::vector<SubVerb> verbs) {
  app.require_subcommand(1);
  const bool uses_ranks = std::ranges::any_of(verbs, &SubVerb::uses_ranks);
  const auto run = [name = app.get_name(), verbs = std::move(verbs)](Session& session) {
    const SubVerb& chosen =
        *std::ranges::find_if(verbs, [](const SubVerb& verb) { return verb.app->parsed(); });
    require_ranks(session.comm, "winnow " + name + " " + chosen.app->get_name(), chosen.uses_ranks);
    chosen.run(session);
  };
  return {&app, uses_ranks, run, /*stops=*/true};
}

}  // namespace winnow::tools
