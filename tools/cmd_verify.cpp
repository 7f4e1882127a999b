#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/utf8.h"
#include "pipeline/store/verify.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/progress_bar.h"

namespace winnow::tools {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  std::filesystem::path cache;
  std::string selection;
  bool json = false;
};

Json to_json(const pipeline::Verified& verified) {
  Json json{{"schema", "winnow.verify/1"}, {"digest", verified.digest},
            {"shards", verified.shards},   {"records", verified.records},
            {"bytes", verified.bytes},     {"selections", verified.selections},
            {"samples", verified.samples}, {"affected", verified.affected},
            {"damage", Json::array()}};
  for (const std::string& what : verified.damage) json["damage"].push_back(to_utf8(what));
  return json;
}

void verify(const VerifyOptions& o, Session& session) {
  pipeline::Verified verified;
  {
    const bool by_records = !o.selection.empty();
    const ProgressSink bar = make_progress_bar("verify", by_records ? "samples" : "bytes", true);
    verified = pipeline::verify_cache(o.cache, o.selection, bar);
  }
  if (o.json) fmt::print("{}\n", to_json(verified).dump());
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

}  // namespace

Command add_verify(Verb program) {
  auto o = std::make_shared<VerifyOptions>();
  const Verb verb = program.add_verb(
      "verify", "Read every byte of a cache and say what is damaged and how many samples it costs");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--selection", o->selection,
                  "Only the records of the samples that this selection keeps");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout, of a damaged cache too");
  verb.footer(
      R"(Exit code 1 where anything is damaged.

Examples:
  winnow verify cache
  winnow verify cache --selection default --json)");
  return {verb, false, [o](Session& session) { verify(*o, session); }};
}

}  // namespace winnow::tools
