#include <filesystem>
#include <memory>

#include "app/index/ask.h"
#include "common/json.h"
#include "dedup/index/index.h"
#include "dedup/verify/landmark_table.h"
#include "tools/dedup_flags.h"
#include "tools/feature_flags.h"
#include "tools/flags/flags.h"
#include "tools/index_flags.h"
#include "tools/index_verbs.h"
#include "tools/ingest_flags.h"
#include "tools/list_flags.h"
#include "tools/report_flag.h"

namespace winnow::tools {

SubVerb add_index_info(Verb index) {
  auto o = std::make_shared<IndexInfoRequest>();
  const Verb verb = add_index_verb(index, "info", "Say what is in an index", o->index);
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer("Example:\n  winnow index info all.index");
  return {verb, [o](Session& session) { index_info(*o, session); }};
}

SubVerb add_index_dedup(Verb index) {
  auto o = std::make_shared<IndexDedupRequest>();
  const Verb verb = add_index_verb(
      index, "dedup", "Find duplicates in the index; write a selection into it", o->index);
  verb.add_option("--name", o->name, "Name of the selection").show_default();
  add_dedup_flags(verb, "--", o->dedup);
  verb.flag("--hash").description(
      "Hash to compare: auto: that of the index; exact: equal "
      "files and pixels only");
  verb.flag("--threshold")
      .description(
          "Bits that may differ between duplicates; by default as many as have fewer than "
          "0.5 expected false pairs among these images");
  add_feature_flags(verb, o->features);
  add_list_flags(verb, o->lists);
  add_report_flag(verb, o->page.report);
  add_pictures_flag(verb, o->page.sources);
  let_give_more(verb);
  add_reading_flags(verb, o->page.reading);
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(The same as winnow dedup of one cache of all the images in the index, without a search at any
threshold up to the index's radius. --hash is that of the index, or exact. An index keeps thumbnails,
but neither larger pictures nor features: name with --source what was added to it.

Examples:
  winnow index dedup all.index --keep largest
  winnow index dedup all.index --source photos/   # as winnow dedup photos/ does
  winnow index dedup all.index --no-verify  # by codes alone
  winnow index dedup all.index --features default --cosine 0.97 --source cache-a --source cache-b
  winnow index dedup all.index --report all.html --source cache --source photos/)");
  return {verb, [o, verb](Session& session) {
            o->words = words_of(verb);
            index_dedup(*o, session);
          }};
}

}  // namespace winnow::tools
