#include "app/hash/hash.h"

#include <fmt/core.h>

#include <span>
#include <string>
#include <vector>

#include "app/words.h"
#include "common/csv.h"
#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "dedup/hash/hashes.h"
#include "pipeline/ingest/hash_source.h"

namespace winnow::app {
namespace {

using pipeline::HashedInput;

std::string header(std::span<const dedup::HashKind> hashes) {
  std::string line = "image,width,height";
  for (const dedup::HashKind& hash : hashes) {
    line += fmt::format(",{}", hash.name());
    if (hash.row->has_quality) line += fmt::format(",{}_quality", hash.name());
  }
  return line + ",problem";
}

std::string csv_line(const HashedInput& input, std::string_view name,
                     std::span<const dedup::HashKind> hashes) {
  std::string line = csv_field(name);
  line += input.codes.empty() ? ",," : fmt::format(",{},{}", input.width_px, input.height_px);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    line += ',';
    if (!input.codes.empty()) line += dedup::to_hex(input.codes[i].words);
    if (!hashes[i].row->has_quality) continue;
    line += ',';
    if (!input.codes.empty()) line += std::to_string(input.codes[i].quality);
  }
  return line + "," + csv_field(input.problem);
}

Json json_of(const HashedInput& input, std::string_view name,
             std::span<const dedup::HashKind> hashes) {
  Json json{{"schema", "winnow.hash/1"}, {"image", to_utf8(std::string(name))}};
  if (!input.problem.empty()) {
    json["problem"] = to_utf8(input.problem);
    return json;
  }
  json["width"] = input.width_px;
  json["height"] = input.height_px;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    Json& hash = json["hashes"].push_back({{"hash", hashes[i].name()},
                                           {"version", hashes[i].row->version},
                                           {"hex", dedup::to_hex(input.codes[i].words)}});
    if (hashes[i].row->has_quality) hash["quality"] = input.codes[i].quality;
  }
  return json;
}

}  // namespace

void run_hash(const HashRequest& o, const Session& session) {
  const auto source = datasets::open_source(o.source, open_options(o.flags));
  const pipeline::IngestOptions ingest = ingest_options(o.flags, session);
  std::vector<dedup::HashKind> hashes;
  for (const std::string& name : ingest.hashes) hashes.push_back(dedup::find_hash(name));
  std::uint64_t hashed = 0;
  Progress progress{.done = 0, .total = source->entries().size(), .note = {}};
  {
    const ProgressSink bar = progress_bar(session, "hash", "images");
    if (!o.json) print(session, fmt::format("{}\n", header(hashes)));
    pipeline::hash_source(*source, hashes,
                          {.decode = ingest.decode,
                           .scale = dedup::common_scale(ingest.hashes),
                           .threads = ingest.work.threads,
                           .stop = session.stop},
                          [&](const HashedInput& input) {
                            const std::string name = source->entries().names()[input.position];
                            print(session, (o.json ? json_of(input, name, hashes).dump()
                                                   : csv_line(input, name, hashes)) +
                                               "\n");
                            if (input.problem.empty()) ++hashed;
                            ++progress.done;
                            bar(progress);
                          });
  }
  if (hashed == 0) throw RefusedError("none of the inputs could be read");
  say(session,
      fmt::format("{} of {} hashed", grouped(hashed), count_of(source->entries().size(), "image")));
}

}  // namespace winnow::app
