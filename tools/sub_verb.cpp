#include "tools/sub_verb.h"

#include <algorithm>
#include <utility>

#include "tools/flags/flags.h"
#include "tools/require_ranks.h"

namespace winnow::tools {

Command command_of(Verb verb, std::vector<SubVerb> verbs) {
  verb.require_verb();
  const bool uses_ranks = std::ranges::any_of(verbs, &SubVerb::uses_ranks);
  const auto run = [name = verb.name(), verbs = std::move(verbs)](Session& session) {
    const SubVerb& chosen =
        *std::ranges::find_if(verbs, [](const SubVerb& sub) { return sub.verb.called(); });
    require_ranks(session.comm, "winnow " + name + " " + chosen.verb.name(), chosen.uses_ranks);
    chosen.run(session);
  };
  return {verb, uses_ranks, run, /*stops=*/true};
}

}  // namespace winnow::tools
