#include "app/verify/verify.h"

#include <fmt/core.h>

#include "app/words.h"
#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "pipeline/store/verify.h"

namespace winnow::app {
namespace {

Json to_json(const pipeline::Verified& verified) {
  Json json{{"schema", "winnow.verify/1"}, {"digest", verified.digest},
            {"shards", verified.shards},   {"records", verified.records},
            {"bytes", verified.bytes},     {"selections", verified.selections},
            {"samples", verified.samples}, {"affected", verified.affected},
            {"damage", Json::array()}};
  for (const std::string& what : verified.damage) json["damage"].push_back(to_utf8(what));
  return json;
}

}  // namespace

void run_verify(const VerifyRequest& o, Session& session) {
  pipeline::Verified verified;
  {
    const bool by_records = !o.selection.empty();
    const ProgressSink bar = progress_bar(session, "verify", by_records ? "samples" : "bytes");
    verified = pipeline::verify_cache(o.cache, o.selection, bar);
  }
  if (o.json) print(session, fmt::format("{}\n", to_json(verified).dump()));
  if (!verified.whole()) throw FormatError(pipeline::sentence_of(verified, o.cache));
  const std::size_t selections = verified.selections.size();
  say(session,
      !o.selection.empty()
          ? fmt::format("{} is whole where selection '{}' keeps it: the records of its {} samples "
                        "match",
                        o.cache.string(), o.selection, grouped(verified.samples))
          : fmt::format(
                "{} is whole: every block, the fingerprints, the ledger and {} match",
                o.cache.string(),
                selections == 1 ? "its selection" : fmt::format("{} selections", selections)));
}

}  // namespace winnow::app
