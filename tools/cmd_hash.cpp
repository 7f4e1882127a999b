
#include "app/hash/hash.h"
#include "common/json.h"
#include "pipeline/ingest/hash_source.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/ingest_flags.h"

namespace winnow::tools {
namespace {

using pipeline::HashedInput;

}  // namespace

Command add_hash(Verb program) {
  auto o = std::make_shared<HashRequest>();
  const Verb verb = program.add_verb("hash", "Print the perceptual hashes of a data set's images");
  verb.add_option("source", o->source, "Data set, as for ingest").required();
  verb.add_flag("--json", o->json, "Print a JSON object for each image instead of CSV");
  add_hashes_flag(verb, o->flags);
  add_reading_flags(verb, o->flags);
  verb.footer(
      "Hashes:" + hash_lines() +
      "\n\nImages are printed in the order of their names; unreadable ones with the reason.\n\n"
      "Examples:\n"
      "  winnow hash photos/ > hashes.csv\n"
      "  winnow hash photos/ --hash phash@1/8      # large JPEGs, faster\n"
      "  winnow hash photos.tar --hash phash,pdq --json | jq -r .hashes[1].hex");
  return {verb, false, [o](Session& session) { run_hash(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
