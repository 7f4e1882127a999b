#include <CLI/CLI.hpp>

#include "tools/index_verbs.h"

namespace winnow::tools {

CLI::App* add_index_verb(CLI::App& index, const std::string& name, const std::string& what,
                         std::filesystem::path& folder) {
  CLI::App* app = index.add_subcommand(name, what);
  app->add_option("index", folder, "Folder of the index")->required();
  return app;
}

Command add_index(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "index",
      "Keep fingerprints that grow: add, delete, merge, ask, deduplicate, without searching all "
      "again");
  app->footer(
      R"(Nothing but INDEX is written to (and TMPDIR, while a data set is looked at), and images are not
needed once they are added. A change that is stopped, however it was, leaves the index as it was
before.

Examples:
  winnow index add all.index cache              # the first time: makes it
  winnow index query all.index new-photos/      # which of these do we have?
  winnow index add all.index new-photos/
  winnow index dedup all.index
  winnow index info all.index --json)");
  return command_of(*app, {add_index_add(*app), add_index_delete(*app), add_index_merge(*app),
                           add_index_compact(*app), add_index_info(*app), add_index_query(*app),
                           add_index_dedup(*app)});
}

}  // namespace winnow::tools
