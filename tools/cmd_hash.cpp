#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/csv.h"
#include "common/error.h"
#include "common/utf8.h"
#include "datasets/formats.h"
#include "dedup/hash/hashes.h"
#include "pipeline/ingest/hash_source.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/ingest_flags.h"
#include "tools/progress_bar.h"

namespace winnow::tools {
namespace {

using pipeline::HashedInput;

struct HashOptions {
  std::filesystem::path source;
  IngestFlags flags;
  bool json = false;
};

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

nlohmann::ordered_json json_of(const HashedInput& input, std::string_view name,
                               std::span<const dedup::HashKind> hashes) {
  nlohmann::ordered_json json{{"schema", "winnow.hash/1"}, {"image", to_utf8(std::string(name))}};
  if (!input.problem.empty()) {
    json["problem"] = to_utf8(input.problem);
    return json;
  }
  json["width"] = input.width_px;
  json["height"] = input.height_px;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    json["hashes"].push_back({{"hash", hashes[i].name()},
                              {"version", hashes[i].row->version},
                              {"hex", dedup::to_hex(input.codes[i].words)}});
    if (hashes[i].row->has_quality) json["hashes"].back()["quality"] = input.codes[i].quality;
  }
  return json;
}

void hash(const HashOptions& o, const Session& session) {
  const auto source = datasets::open_source(o.source, open_options(o.flags));
  const pipeline::IngestOptions ingest = ingest_options(o.flags, session);
  std::vector<dedup::HashKind> hashes;
  for (const std::string& name : ingest.hashes) hashes.push_back(dedup::find_hash(name));
  std::uint64_t hashed = 0;
  Progress progress{.done = 0, .total = source->entries().size(), .note = {}};
  {
    const ProgressSink bar = make_progress_bar("hash", "images", true);
    if (!o.json) fmt::print("{}\n", header(hashes));
    pipeline::hash_source(*source, hashes,
                          {.decode = ingest.decode,
                           .scale = dedup::common_scale(ingest.hashes),
                           .threads = ingest.work.threads,
                           .stop = session.stop},
                          [&](const HashedInput& input) {
                            const std::string name = source->entries().names()[input.position];
                            print_list((o.json ? json_of(input, name, hashes).dump()
                                               : csv_line(input, name, hashes)) +
                                       "\n");
                            if (input.problem.empty()) ++hashed;
                            ++progress.done;
                            bar(progress);
                          });
  }
  if (hashed == 0) throw RefusedError("none of the inputs could be read");
  say(session,
      fmt::format("{} of {} images hashed", grouped(hashed), grouped(source->entries().size())));
}

}  // namespace

Command add_hash(Verb program) {
  auto o = std::make_shared<HashOptions>();
  const Verb verb = program.add_verb("hash", "Print the perceptual hashes of a data set's images");
  verb.add_option("source", o->source, "Data set, as of ingest").required();
  verb.add_flag("--json", o->json, "Print a JSON object for each image instead of CSV");
  add_hashes_flag(verb, o->flags);
  add_reading_flags(verb, o->flags);
  verb.footer("Hashes:" + hash_lines() +
              "\n\nImages are printed in the order of their names, those that cannot be read with "
              "the reason.\n\n"
              "Examples:\n"
              "  winnow hash photos/ > hashes.csv\n"
              "  winnow hash photos/ --hash phash@1/8      # large JPEGs, faster\n"
              "  winnow hash photos.tar --hash phash,pdq --json | jq -r .hashes[1].hex");
  return {verb, false, [o](Session& session) { hash(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
