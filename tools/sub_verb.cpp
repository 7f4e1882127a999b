#include "tools/sub_verb.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "common/comm/agreement.h"
#include "common/error.h"

namespace winnow::tools {

Command command_of(CLI::App& app, std::vector<SubVerb> verbs) {
  app.require_subcommand(1);
  const bool uses_ranks = std::ranges::any_of(verbs, &SubVerb::uses_ranks);
  const auto run = [name = app.get_name(), verbs = std::move(verbs)](Session& session) {
    const SubVerb& chosen =
        *std::ranges::find_if(verbs, [](const SubVerb& verb) { return verb.app->parsed(); });
    comm::on_all(session.comm, [&] {
      if (session.comm.size() == 1 || chosen.uses_ranks) return;
      throw UsageError("winnow " + name + " " + chosen.app->get_name() +
                       " runs as one process; start it without mpirun");
    });
    chosen.run(session);
  };
  return {&app, uses_ranks, run, /*stops=*/true};
}

}  // namespace winnow::tools
