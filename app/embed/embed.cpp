#include "app/embed/embed.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>

#include "app/embed/given_vectors.h"
#include "app/load/load_shards.h"
#include "app/words.h"
#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/npy.h"
#include "common/utf8.h"
#include "dedup/features/whiten.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/features.h"

namespace winnow::app {
namespace {

// The result.
struct Made {
  dedup::FeatureTable table;
  Json source;
  std::uint64_t left_out = 0;  // images whose vector has no direction
  std::optional<double> images_per_second{};
};

Made from_matrix(const EmbedRequest& o, const pipeline::Cache& cache) {
  const std::filesystem::path& npy = o.embed.source;
  const bool about_nets = !o.embed.file.net.name.empty() || o.embed.file.image_side_px > 0 ||
                          o.embed.file.eval_resize_px || !o.embed.checkpoint.name.empty() ||
                          o.embed.checkpoint.ema;
  if (about_nets) {
    throw UsageError(npy.string() +
                     " holds finished vectors, so no net is needed; leave out --net, --image-size, "
                     "--eval-resize, --checkpoint and --ema");
  }
  if (o.names.empty()) {
    throw UsageError("name the image of each row of " + npy.string() +
                     " with --names FILE: one name a line, as in ledger.jsonl of the cache");
  }
  Made made;
  made.table = given_vectors(npy, o.names, dedup::parse_feature_type(o.dtype), cache);
  made.source = {{"npy", to_utf8(npy.filename().string())},
                 {"digest", to_hex(xxh3_128(InputFile(npy)))}};
  return made;
}

Json to_json(const train::Embedded& embedded, const EmbedRequest& o) {
  Json json{{"net", to_utf8(std::filesystem::path(embedded.net).filename().string())},
            {"digest", embedded.digest},
            {"backend", o.embed.backend},
            {"compute_dtype", o.compute_dtype}};
  if (embedded.checkpoint.empty()) {
    json["weights"] = to_utf8(o.embed.source.filename().string());
    return json;
  }
  const std::filesystem::path run = std::filesystem::weakly_canonical(o.embed.source);
  json["run"] = to_utf8(run.filename().string());
  json["checkpoint"] = embedded.checkpoint;
  json["ema"] = embedded.ema;
  return json;
}

Made from_net(const EmbedRequest& o, const pipeline::Cache& cache, Session& session) {
  if (!o.names.empty()) {
    throw UsageError("--names is for the vectors of a .npy file, but " + o.embed.source.string() +
                     " is not one; leave out --names");
  }
  if (cache.manifest().shards.empty()) {
    throw UsageError(cache.paths().root.string() +
                     " holds fingerprints only, but a net needs the images; ingest with --store "
                     "original, or give vectors in a .npy file");
  }
  train::EmbedOptions options = o.embed;
  options.dtype = train::parse_dtype(o.compute_dtype);
  options.threads = thread_plan(session, o.threads);
  const pipeline::PlacedShards placed = place_shards(options.cache, MemoryOptions(), session);
  options.placement = placed.placement;
  const ProgressSink watch = stopping_bar(session, "embed", "batches",
                                          "stopped; nothing is kept, run the same command again");
  const dedup::FeatureType type = dedup::parse_feature_type(o.dtype);
  Made made;
  const auto take = [&](SampleId id, std::span<const float> vector) {
    if (made.table.dimensions == 0) {
      made.table = dedup::empty_features(type, vector.size(), o.embed.source.string());
    }
    const std::string why = dedup::why_no_feature(vector);
    if (why.empty()) return dedup::append_feature(made.table, id, vector);
    if (why.starts_with("is all")) return static_cast<void>(++made.left_out);
    throw Error(fmt::format("the features of '{}' are not finite: the weights of {} are broken",
                            cache.read_names()(id), o.embed.source.string()));
  };
  const train::Embedded embedded =
      train::embed_images(options, session.comm, take, watch,
                          [&](const std::string& sentence) { say(session, sentence); });
  made.source = to_json(embedded, o);
  made.images_per_second = embedded.images_per_second;
  return made;
}

void tell(const EmbedRequest& o, const Session& session, const pipeline::Cache& cache,
          const Made& made) {
  const std::filesystem::path file = pipeline::features_path(cache.paths(), o.name);
  const std::uint64_t images = cache.manifest().inputs.by_fate.at("ok");
  const std::uint64_t without = images - made.table.size();
  say(session,
      fmt::format("features '{}' written: {} of {}, {} dimensions, {}, {}", o.name,
                  grouped(made.table.size()), count_of(images, "image"), made.table.dimensions,
                  o.dtype, in_bytes(std::filesystem::file_size(file))));
  if (made.left_out > 0) {
    say(session, fmt::format("{} zero and left out, because a zero vector has no direction",
                             count_of(made.left_out, "vector is", "vectors are")));
  } else if (without > 0) {
    say(session, fmt::format("{} no vector and will have no duplicates by these features",
                             count_of(without, "image has", "images have")));
  }
  if (!o.json) return;
  Json json{{"schema", "winnow.embed/1"},
            {"name", o.name},
            {"images", made.table.size()},
            {"without", without},
            {"dimensions", made.table.dimensions},
            {"dtype", o.dtype},
            {"bytes", std::filesystem::file_size(file)},
            {"source", made.source}};
  if (made.images_per_second) json["images_per_second"] = *made.images_per_second;
  print(session, fmt::format("{}\n", json.dump()));
}

bool is_matrix(const std::filesystem::path& source) {
  std::error_code ignored;
  if (!std::filesystem::exists(source, ignored)) {
    throw UsageError("there is nothing at " + source.string() +
                     "; name a run, a safetensors file or a .npy file");
  }
  return std::filesystem::is_regular_file(source, ignored) &&
         (source.extension() == ".npy" || NpyMatrix::is_one(source));
}

}  // namespace

void run_embed(const EmbedRequest& o, Session& session) {
  pipeline::check_features_name(o.name);
  const bool given = is_matrix(o.embed.source);
  const pipeline::Cache cache =
      pipeline::Cache::open(o.embed.cache, pipeline::OpenOptions::without_shards());
  Made made = given ? from_matrix(o, cache) : from_net(o, cache, session);
  if (made.table.size() == 0) {
    throw RefusedError("all vectors are zero, so there is nothing to compare");
  }
  if (o.whiten) {
    const std::size_t before = made.table.size();
    made.table = dedup::whitened(made.table);
    made.left_out += before - made.table.size();
    made.source["whitened"] = true;
  }
  made.table.name = o.name;
  made.table.source = made.source.dump();
  made.table.cache_digest = cache.digest();
  pipeline::write_features(cache, made.table);
  tell(o, session, cache, made);
}

}  // namespace winnow::app
