#include "tools/sub_verb.h"

#include <algorithm>
#include <utility>

namespace winnow::tools {

const SubVerb* called_of(const Command& command) {
  const auto called =
      std::ranges::find_if(command.verbs, [](const SubVerb& sub) { return sub.verb.called(); });
  return called == command.verbs.end() ? nullptr : &*called;
}

Command command_of(Verb verb, std::vector<SubVerb> verbs) {
  verb.require_verb();
  const bool uses_ranks = std::ranges::any_of(verbs, &SubVerb::uses_ranks);
  Command command{verb, uses_ranks, {}, /*stops=*/true, verbs};
  command.run = [verbs = std::move(verbs)](Session& session) {
    std::ranges::find_if(verbs, [](const SubVerb& sub) { return sub.verb.called(); })->run(session);
  };
  return command;
}

}  // namespace winnow::tools
