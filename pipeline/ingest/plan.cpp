#include "pipeline/ingest/plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using datasets::Listing;
using datasets::Source;

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bytes;
};

// Divides [begin, end) into runs of at most `bytes` and `count`, at least one entry each.
std::vector<Range> cut(const PlacedSource& source, std::uint64_t first, std::uint64_t last,
                       std::uint64_t bytes, std::uint64_t count) {
  std::vector<Range> runs;
  std::uint64_t begin = first;
  std::uint64_t held = 0;
  for (std::uint64_t i = first; i < last; ++i) {
    const std::uint64_t more = source.input_bytes(i);
    const bool full = more > bytes || held > bytes - more || i - begin >= count;
    if (i > begin && full) {
      runs.push_back({begin, i, held});
      begin = i;
      held = 0;
    }
    held += more;
  }
  if (begin < last) runs.push_back({begin, last, held});
  return runs;
}

// The last part of the path, however it was written; never an absolute path.
std::string source_name(const fs::path& path) {
  fs::path whole = fs::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.filename().string();
}

std::uint64_t bytes_not_read(const PlacedSource& source, const Range& run) {
  if (source.left_out.empty() && source.base == nullptr) return 0;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = run.begin; i < run.end; ++i) {
    if (!source.is_read(i)) bytes += source.input_bytes(i);
  }
  return bytes;
}

}  // namespace

std::string listing_hash(const Source& source, const OtherBytes& other_bytes) {
  Xxh3Stream stream;
  ByteWriter row;
  const auto put_text = [&row](std::string_view text) {
    row.put<std::uint64_t>(text.size());
    row.put_text(text);
  };
  const auto flush = [&] {
    stream.update(row.bytes());
    row.bytes().clear();
  };
  row.put<std::uint64_t>(source.class_names().size());
  for (const std::string& name : source.class_names()) put_text(name);
  const Listing& entries = source.entries();
  auto other = other_bytes.begin();
  row.put<std::uint64_t>(entries.size());
  std::size_t position = 0;
  for (const std::string& name : entries.names()) {
    put_text(name);
    row.put(entries.split(position));
    row.put<std::uint64_t>(entries.labels(position).size());
    row.put_array(entries.labels(position));
    put_text(entries.group(position));
    const bool is_other = other != other_bytes.end() && other->first == position;
    row.put(is_other ? (other++)->second : entries.input_bytes(position));
    flush();
    ++position;
  }
  flush();
  return to_hex(stream.digest());
}

std::vector<std::int32_t> map_classes(std::span<const std::string> names,
                                      std::vector<std::string>& classes) {
  std::unordered_map<std::string, std::int32_t> known;
  for (const std::string& name : classes) {
    known.emplace(name, static_cast<std::int32_t>(known.size()));
  }
  std::vector<std::int32_t> map;
  for (const std::string& name : names) {
    const auto [at, is_new] = known.emplace(name, static_cast<std::int32_t>(known.size()));
    map.push_back(at->second);
    if (is_new) classes.push_back(name);
  }
  std::vector<std::int32_t> same(map.size());
  std::iota(same.begin(), same.end(), 0);
  if (map == same) map.clear();
  return map;
}

DescribedSource describe(const IngestSource& in) {
  const Source& source = *in.source;
  return {.source = in.source,
          .info = {.name = source_name(in.path),
                   .format = std::string(source.format()),
                   .inputs = source.entries().size(),
                   .listing_hash = listing_hash(source),
                   .class_names = {source.class_names().begin(), source.class_names().end()}}};
}

bool is_same(const SourceInfo& a, const SourceInfo& b) noexcept {
  return a.name == b.name && a.format == b.format && a.listing_hash == b.listing_hash;
}

std::vector<PlacedSource> place_sources(std::vector<DescribedSource> sources, Manifest& manifest) {
  constexpr std::size_t kMost = std::size_t{1} << (64 - kPositionBits);
  if (manifest.sources.size() + sources.size() > kMost) {
    throw UsageError("a cache holds at most " + std::to_string(kMost) + " sources");
  }
  std::vector<PlacedSource> placed;
  for (DescribedSource& described : sources) {
    const SourceInfo& info = described.info;
    placed.push_back({.source = described.source,
                      .ordinal = static_cast<std::uint32_t>(manifest.sources.size()),
                      .info = info,
                      .training_labels = map_classes(info.class_names, manifest.classes)});
    manifest.inputs.total += info.inputs;
    manifest.sources.push_back(std::move(described.info));
  }
  return placed;
}

std::vector<PlacedSource> place_sources(std::span<const IngestSource> sources, Manifest& manifest) {
  std::vector<DescribedSource> described;
  for (const IngestSource& source : sources) described.push_back(describe(source));
  return place_sources(std::move(described), manifest);
}

std::string shard_name(const PlacedSource& source, const ShardPlan& shard) {
  std::string name = std::to_string(shard.number);
  if (name.size() < 5) name.insert(0, 5 - name.size(), '0');
  return source.ordinal == 0 ? name : std::to_string(source.ordinal) + "-" + name;
}

std::vector<ShardPlan> plan_shards(std::span<const PlacedSource> sources,
                                   std::uint64_t shard_bytes) {
  std::vector<ShardPlan> shards;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    const std::size_t inputs = sources[source].source->entries().size();
    std::size_t number = 0;
    for (const Range& run : cut(sources[source], 0, inputs, shard_bytes, inputs)) {
      shards.push_back({source, number++, run.begin, run.end});
    }
  }
  return shards;
}

std::vector<ChunkPlan> plan_chunks(std::span<const PlacedSource> sources,
                                   std::span<const ShardPlan> shards, Store store,
                                   const VariantSettings& variants) {
  const std::uint64_t most_entries =
      variants.copies == 0 ? kChunkEntries
                           : std::clamp<std::uint64_t>(kChunkVariantBytes / variant_bytes(variants),
                                                       1, kChunkEntries);
  std::vector<ChunkPlan> chunks;
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    const ShardPlan& in = shards[shard];
    const PlacedSource& source = sources[in.source];
    for (const Range& run : cut(source, in.begin, in.end, chunk_bytes(store), most_entries)) {
      chunks.push_back({.shard = shard,
                        .source = in.source,
                        .begin = run.begin,
                        .end = run.end,
                        .input_bytes = run.bytes - bytes_not_read(source, run),
                        .ends_shard = run.end == in.end});
    }
  }
  return chunks;
}

}  // namespace winnow::pipeline
