#include <filesystem>
#include <memory>

#include "app/index/change.h"
#include "dedup/index/index.h"
#include "dedup/verify/known_landmarks.h"
#include "tools/flags/flags.h"
#include "tools/index_flags.h"
#include "tools/index_verbs.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

}  // namespace

SubVerb add_index_add(Verb index) {
  auto o = std::make_shared<IndexAddRequest>();
  const Verb verb = add_index_verb(
      index, "add", "Add caches or data sets; makes the index where there is none", o->index);
  verb.add_option("--hash", o->hash, "Hash that a new index compares by (default: phash16)");
  verb.add_option("--radius", o->radius,
                  "Bits up to which a new index has links (default: 4 more than the hash's usual "
                  "threshold, at least an eighth of its bits)")
      .check(whole_in(0, kMostBits));
  add_index_inputs(verb, o->inputs);
  verb.footer(
      R"(A source that is in the index already is passed over: of a cache that got more, only that
is added.

Example:
  winnow index add all.index cache-2025 photos-of-may/ --hash phash --radius 10)");
  return {verb, [o](Session& session) { index_add(*o, session); }};
}

SubVerb add_index_delete(Verb index) {
  auto o = std::make_shared<IndexDeleteRequest>();
  const Verb verb = add_index_verb(index, "delete", "Delete images", o->index);
  verb.add_option("name", o->names, "What winnow calls them, as in the CSV of dedup");
  verb.add_option("--names", o->names_file, "File of names, one a line");
  verb.add_option("--ids", o->ids_file, "File of ids, one a line, or CSV that begins with them");
  verb.add_option("--source", o->source,
                  "Only of the source of this number (see info); alone: all of it")
      .check(whole_in(0, kMostCount));
  verb.footer(
      R"(Examples:
  winnow index delete all.index train/cat/17.jpg --source 2
  winnow index delete all.index --ids all.index/selections/default.csv  # what dedup removed)");
  return {verb, [o](Session& session) { index_delete(*o, session); }};
}

SubVerb add_index_merge(Verb index) {
  auto o = std::make_shared<IndexMergeRequest>();
  const Verb verb = add_index_verb(
      index, "merge", "Add what is in another index of the same hash and radius", o->index);
  verb.add_option("other", o->other, "That index; it is only read").required();
  verb.footer(
      R"(Its sources come after those that are there.

Example:
  winnow index merge all.index site-b.index)");
  return {verb, [o](Session& session) { index_merge(*o, session); }};
}

SubVerb add_index_compact(Verb index) {
  auto folder = std::make_shared<fs::path>();
  const Verb verb = add_index_verb(
      index, "compact", "Drop deleted images for good, and make one table of many", *folder);
  verb.footer("Ids stay.\n\nExample:\n  winnow index compact all.index");
  return {verb, [folder](Session& session) { index_compact(*folder, session); }};
}

}  // namespace winnow::tools
