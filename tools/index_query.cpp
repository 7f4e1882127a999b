#include <filesystem>
#include <memory>

#include "app/index/query.h"
#include "app/index/query_page.h"
#include "common/json.h"
#include "dedup/index/index.h"
#include "dedup/index/picture_matches.h"
#include "tools/choice_flags.h"
#include "tools/feature_flags.h"
#include "tools/flags/flags.h"
#include "tools/index_flags.h"
#include "tools/index_verbs.h"
#include "tools/numbers.h"
#include "tools/report_flag.h"

namespace winnow::tools {

SubVerb add_index_query(Verb index) {
  auto o = std::make_shared<IndexQueryRequest>();
  const Verb verb = add_index_verb(
      index, "query", "Print as CSV which images have a duplicate in the index, and the nearest",
      o->index);
  const Flag threshold =
      verb.add_option("--threshold", o->choice.threshold,
                      "Bits that may differ between duplicates; by default as --risk allows")
          .check(whole_in(0, kMostBits));
  verb.add_option("--risk", o->choice.risk,
                  "Choose the threshold: the largest with fewer expected false pairs than this by "
                  "chance, among as many images as are in the index; 0.5 by default")
      .check(real_above(0, kMostRisk))
      .excludes(threshold);
  add_quality_flag(verb, "--", o->choice);
  add_verify_flags(verb, "--", o->choice);
  add_feature_flags(verb, o->features);
  verb.add_flag("--fail-on-match", o->fail_on_match, "Exit with code 3 when there are any");
  add_report_flag(verb, o->report);
  add_pictures_flag(verb, o->sources);
  let_give_more(verb);
  add_index_inputs(verb, o->inputs);
  verb.add_flag("--json", o->json, "Print one JSON object on stdout, in place of CSV");
  verb.footer(
      R"(Where pictures are compared, as winnow dedup does it, all images of the index that show the same
one are printed, the most probable first; else the nearest by codes. It needs landmarks of the
index's images, which winnow index add finds, half a millisecond each, and keeps in the index;
larger pictures than its thumbnails come from --source. With --features both have them: what is asked, and each cache that
was added to the index, which --source names. Distances are 1000 (1 - cosine) then.

Examples:
  winnow index query all.index delivery.tar > known.csv
  winnow index query all.index delivery.tar --source photos/   # as sure as winnow dedup is
  winnow index query all.index delivery.tar --no-verify   # by codes alone
  winnow index query all.index new-cache --features default --cosine 0.97 --source cache
  winnow index query all.index new/ --report known.html --source cache   # to look at them)");
  return {verb, [o](Session& session) { index_query(*o, session); }};
}

}  // namespace winnow::tools
