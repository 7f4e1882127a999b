#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/index/ask.h"
#include "app/index/change.h"
#include "app/index/inputs.h"
#include "app/index/query.h"
#include "app/index/query_page.h"
#include "common/json.h"
#include "dedup/index/index.h"
#include "dedup/index/picture_matches.h"
#include "dedup/verify/known_landmarks.h"
#include "dedup/verify/landmark_table.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"
#include "tools/sub_verb.h"

namespace winnow::tools {
namespace {

// A verb for the index at `folder`, which must live as long as the verb.
Verb add_index_verb(Verb index, const std::string& name, const std::string& what,
                    std::filesystem::path& folder) {
  const Verb verb = index.add_verb(name, what);
  verb.add_option("index", folder, "Folder of the index").required();
  return verb;
}

void add_index_inputs(Verb verb, IndexInputs& inputs) {
  verb.add_option("inputs", inputs.paths,
                  "Caches made by winnow ingest, or data sets, as for ingest, whose images are "
                  "read in place")
      .required();
  add_reading_flags(verb, inputs.reading);
}

// --source: where to find pictures of the images in an index, which stores none. For --report.
void add_pictures_flag(Verb verb, std::vector<std::filesystem::path>& sources) {
  verb.add_option("--source", sources,
                  "For --report: a cache or a data set that was added to the index, whose pictures "
                  "are shown; repeatable")
      .needs(verb.flag("--report"))
      .repeatable();
}

// Lets --source of `verb` (add_pictures_flag) also name sources of features and of pictures to
// compare.
void let_give_more(Verb verb) {
  verb.flag("--source").needs_not(verb.flag("--report"));
  verb.flag("--source")
      .description(
          "A cache or a data set that was added to the index, to take its pictures or features "
          "from: larger pictures than its thumbnails are compared, and pages show them; "
          "repeatable");
}

SubVerb add_index_add(Verb index) {
  auto o = std::make_shared<IndexAddRequest>();
  const Verb verb = add_index_verb(
      index, "add", "Add caches or data sets; creates the index if there is none", o->index);
  verb.add_option("--hash", o->hash, "Hash that a new index compares by (default: phash16)");
  verb.add_option(
          "--radius", o->radius,
          "Largest distance, in bits, of the pairs of codes that a new index stores as links "
          "(default: 4 more than the hash's usual threshold, at least an eighth of its bits)")
      .check(whole_in(0, kMostBits));
  add_index_inputs(verb, o->inputs);
  verb.footer(
      R"(A source that is already in the index is skipped. If a cache has new sources, only these
are added.

Example:
  winnow index add all.index cache-2025 photos-of-may/ --hash phash --radius 10)");
  return {verb, [o](Session& session) { index_add(*o, session); }};
}

SubVerb add_index_delete(Verb index) {
  auto o = std::make_shared<IndexDeleteRequest>();
  const Verb verb = add_index_verb(index, "delete", "Delete images", o->index);
  verb.add_option("name", o->names, "Names of the images, as in the CSV of dedup");
  verb.add_option("--names", o->names_file, "File of names, one a line");
  verb.add_option("--ids", o->ids_file,
                  "File of ids, one a line, or a CSV with ids in its first column");
  verb.add_option("--source", o->source,
                  "Delete only images of the source with this number (see winnow index info); "
                  "without names or ids, all of them")
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
      index, "merge", "Add the content of another index with the same hash and radius", o->index);
  verb.add_option("other", o->other, "The other index; it is only read").required();
  verb.footer(
      R"(Its sources are numbered after the existing ones.

Example:
  winnow index merge all.index site-b.index)");
  return {verb, [o](Session& session) { index_merge(*o, session); }};
}

SubVerb add_index_compact(Verb index) {
  auto folder = std::make_shared<std::filesystem::path>();
  const Verb verb = add_index_verb(
      index, "compact", "Remove deleted images for good, and merge the tables into one", *folder);
  verb.footer("Ids do not change.\n\nExample:\n  winnow index compact all.index");
  return {verb, [folder](Session& session) { index_compact(*folder, session); }};
}

SubVerb add_index_query(Verb index) {
  auto o = std::make_shared<IndexQueryRequest>();
  const Verb verb = add_index_verb(
      index, "query", "Print as CSV which images have a duplicate in the index, and the nearest",
      o->index);
  const Flag threshold = verb.add_option("--threshold", o->choice.threshold,
                                         "Largest number of bits that may differ between "
                                         "duplicates (default: chosen by --risk)")
                             .check(whole_in(0, kMostBits));
  verb.add_option("--risk", o->choice.risk,
                  "Choose the threshold: the largest with fewer expected false pairs than this, "
                  "among as many images as are in the index (default: 0.5)")
      .check(real_above(0, kMostRisk))
      .excludes(threshold);
  add_quality_flag(verb, "--", o->choice);
  add_verify_flags(verb, "--", o->choice);
  add_feature_flags(verb, o->features);
  verb.add_flag("--fail-on-match", o->fail_on_match, "Exit with code 3 if any image has a match");
  add_report_flag(verb, o->report);
  add_pictures_flag(verb, o->sources);
  let_give_more(verb);
  add_index_inputs(verb, o->inputs);
  verb.add_flag("--json", o->json, "Print one JSON object on stdout, in place of CSV");
  verb.footer(
      R"(Prints all images of the index that show the same picture, most probable first, if pictures are
compared (as by winnow dedup); else the nearest by codes. Comparing needs landmarks of the index's
images, which winnow index add computes, half a millisecond each, and stores; larger pictures than
the index's thumbnails come from --source.
With --features, the queried cache and each cache of the index, named by --source, need features.
Distances are 1000 (1 - cosine) then.

Examples:
  winnow index query all.index delivery.tar > known.csv
  winnow index query all.index delivery.tar --source photos/   # as precise as winnow dedup
  winnow index query all.index delivery.tar --no-verify   # by codes alone
  winnow index query all.index new-cache --features default --cosine 0.97 --source cache
  winnow index query all.index new/ --report known.html --source cache   # to look at them)");
  return {verb, [o](Session& session) { index_query(*o, session); }};
}

SubVerb add_index_info(Verb index) {
  auto o = std::make_shared<IndexInfoRequest>();
  const Verb verb = add_index_verb(index, "info", "Show what is in an index", o->index);
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
      R"(The same as winnow dedup on one cache with all images of the index; thresholds up to the index's
radius need no search. --hash is that of the index, or exact. An index stores thumbnails, but
neither larger pictures nor features: name the caches or data sets that were added with --source.

Examples:
  winnow index dedup all.index --keep largest
  winnow index dedup all.index --source photos/   # as winnow dedup photos/ does
  winnow index dedup all.index --no-verify  # by codes alone
  winnow index dedup all.index --features default --cosine 0.97 --source cache-a --source cache-b
  winnow index dedup all.index --report all.html --source cache --source photos/)");
  shorten_help(verb,
               {"--name", "--threshold", "--verify", "--keep", "--on-leak", "--protect", "--review",
                "--source", "--report", "--list", "--json"},
               R"(Examples:
  winnow index dedup all.index --source photos/   # as winnow dedup photos/ does
  winnow index dedup all.index --no-verify        # by codes alone)");
  return {verb, [o, verb](Session& session) {
            o->words = words_of(verb);
            index_dedup(*o, session);
          }};
}

}  // namespace

Command add_index(Verb program) {
  const Verb verb =
      program.add_verb("index", "Keep a growing index of fingerprints: add, query, deduplicate");
  verb.footer(
      R"(Only INDEX is written to (and TMPDIR, while a data set is read). Images are not needed once they
are added. A change that is interrupted in any way leaves the index as it was.

Examples:
  winnow index add all.index cache              # the first time: creates it
  winnow index query all.index new-photos/      # which of these do we have?
  winnow index add all.index new-photos/
  winnow index dedup all.index
  winnow index info all.index --json)");
  return command_of(verb, {add_index_add(verb), add_index_delete(verb), add_index_merge(verb),
                           add_index_compact(verb), add_index_info(verb), add_index_query(verb),
                           add_index_dedup(verb)});
}

}  // namespace winnow::tools
