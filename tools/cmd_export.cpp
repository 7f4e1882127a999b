#include <algorithm>
#include <vector>

#include "app/export/export.h"
#include "common/json.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

// Returns the flags that are for a data set in place only.
std::vector<Flag> add_in_place_flags(Verb verb, InPlace& in_place) {
  const auto before = static_cast<std::ptrdiff_t>(verb.flags().size());
  add_reading_flags(verb, in_place.reading);
  add_dedup_flags(verb, "--", in_place.flags);
  std::vector<Flag> own;
  const std::vector<Flag> all = verb.flags();
  for (auto option = all.begin() + before; option != all.end(); ++option) {
    if (option->name() == "--threads") continue;  // for any export
    option->group("Of a data set in place");
    own.push_back(*option);
  }
  return own;
}

constexpr const char* kFooter =
    R"(Trees contain the ingested files, each checked against its hash: from --source, or from the
cache if that was made with ingest --store original. With several sources each has a folder
in TO. Other exports keep the bytes of encoded images, and write pixels as PNG. For images
with variants (ingest --augment), the first variant is exported.

Existing files are never replaced. The export is made in a temporary place and renamed at the
end, what --removed names before TO. SIGTERM, SIGUSR1 or SIGHUP (exit code 75) and a full disk
leave nothing; a kill leaves TO.export, which the same command removes. Sources are only read.

A link is made only to a file with the ingested bytes. A missing or changed file is copied
from the cache, and named; if the cache does not hold it, the export is refused. If a file
changes later, its link shows the change.

)"
    "Examples:\n"
    "  winnow export photos --to clean          # photos/ without its duplicates, same paths\n"
    "  winnow export photos --to clean --removed doubles --link hard\n"
    "  winnow export photos --to clean --review said.jsonl --protect 'gold/**'\n"
    "  winnow export cache --to clean --as tree --selection default --source photos\n"
    "  winnow export cache --to clean --selection default       # clean/{train,test}/<class>/*\n"
    "  winnow export cache --to shards --as webdataset --split train\n"
    "  winnow export cache --to clean --selection default --link hard --source photos\n"
    "  winnow export cache --to all.csv --as list --selection default";

}  // namespace

Command add_export(Verb program) {
  auto o = std::make_shared<ExportRequest>();
  auto in_place = std::make_shared<InPlace>();
  const Verb verb =
      program.add_verb("export", "Write a cache's images, or a list of them, for other programs");
  verb.add_option("cache", o->cache,
                  "Cache made by winnow ingest, or a data set, as for ingest, whose duplicates are "
                  "found in place and left out")
      .required();
  verb.add_option("--to", o->to, "Folder to make; with --as list, the file to write").required();
  verb.add_option("--as", o->as,
                  "image-folder: SPLIT/CLASS/NAME; tree: the files under the paths that they have "
                  "in their source; webdataset: tar shards; list: a CSV, no images. "
                  "Default: image-folder for a cache, tree for a data set")
      .one_of({"image-folder", "tree", "webdataset", "list"});
  verb.add_option("--selection", o->options.selection,
                  "Export only what this selection keeps (a list has all images, and says which "
                  "are kept and why)");
  verb.add_option("--removed", o->options.removed_to,
                  "With --as tree: another folder to make, a tree of what is left out");
  verb.add_option("--split", o->split, "Export only this split").one_of({"train", "val", "test"});
  verb.add_option("--source", o->options.source.folders,
                  "With --as tree or --link: the folder that was ingested, or the table, list "
                  "or image; once for each source");
  verb.add_option("--link", o->link,
                  "Links to the source's files instead of copies, in trees and image folders: "
                  "hard, symbolic")
      .one_of({"hard", "symbolic"});
  verb.add_option("--shard-size", o->shard_mib, "Largest tar shard, in MiB")
      .check(whole_in(1, 1 << 20))
      .show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  const std::vector<Flag> own = add_in_place_flags(verb, *in_place);
  verb.footer(kFooter);
  shorten_help(verb,
               {"--to", "--as", "--selection", "--removed", "--split", "--source", "--link",
                "--review", "--protect", "--json"},
               R"(Examples:
  winnow export photos --to clean                     # photos/ without its duplicates
  winnow export photos --to clean --removed doubles --link hard
  winnow export cache --to clean --selection default  # clean/{train,test}/<class>/*
  winnow export cache --to all.csv --as list --selection default)");
  return {verb, false,
          [o, in_place, verb, own](Session& session) {
            const auto given = std::ranges::find_if(own, &Flag::given);
            if (given != own.end()) in_place->given = given->name();
            in_place->words = words_of(verb);
            run_export(*o, *in_place, session);
          },
          /*stops=*/true};
}

}  // namespace winnow::tools
