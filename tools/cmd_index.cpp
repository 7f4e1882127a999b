
#include "tools/flags/flags.h"
#include "tools/index_verbs.h"

namespace winnow::tools {

Verb add_index_verb(Verb index, const std::string& name, const std::string& what,
                    std::filesystem::path& folder) {
  const Verb verb = index.add_verb(name, what);
  verb.add_option("index", folder, "Folder of the index").required();
  return verb;
}

Command add_index(Verb program) {
  const Verb verb = program.add_verb(
      "index",
      "Keep fingerprints that grow: add, delete, merge, ask, deduplicate, without searching all "
      "again");
  verb.footer(
      R"(Nothing but INDEX is written to (and TMPDIR, while a data set is looked at), and images are not
needed once they are added. A change that is stopped, however it was, leaves the index as it was
before.

Examples:
  winnow index add all.index cache              # the first time: makes it
  winnow index query all.index new-photos/      # which of these do we have?
  winnow index add all.index new-photos/
  winnow index dedup all.index
  winnow index info all.index --json)");
  return command_of(verb, {add_index_add(verb), add_index_delete(verb), add_index_merge(verb),
                           add_index_compact(verb), add_index_info(verb), add_index_query(verb),
                           add_index_dedup(verb)});
}

}  // namespace winnow::tools
