#include "tools/sub_verb.h"

#include <algorithm>
#include <utility>

namespace winnow::tools {

const SubVerb* called_of(const Command& command) {
  const auto called =
      std::ranges::find_if(command.verbs, [](const SubVerb& sub) { return sub.verb.called(); });
  return called == command.verbs.end() ? nullptr : &*called;
}

void run_called(const Command& command, Session& session) {
  const SubVerb* const sub = called_of(command);
  (sub != nullptr ? sub->run : command.run)(session);
}

Command command_of(Verb verb, std::vector<SubVerb> verbs) {
  verb.require_verb();
  const bool uses_ranks = std::ranges::any_of(verbs, &SubVerb::uses_ranks);
  return {verb, uses_ranks, {}, /*stops=*/true, std::move(verbs)};
}

}  // namespace winnow::tools
