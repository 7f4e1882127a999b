#include "pipeline/ingest/retry.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "common/counted.h"
#include "common/error.h"
#include "pipeline/store/shard_file.h"

namespace winnow::pipeline {
namespace {

// The inputs that a cache could not read.
struct Booked {
  std::vector<SampleId> ids;         // ascending
  std::vector<SampleId> unreadable;  // the ones that storage could not deliver
  std::vector<OtherBytes> bytes;     // listed sizes, by source
};

Booked booked_in(const Cache& base) {
  Booked booked;
  booked.bytes.resize(base.manifest().sources.size());
  base.for_each_remark([&](const LedgerRow& row) {
    if (row.fate == Fate::kOk) return;
    booked.ids.push_back(row.id);
    if (row.fate == Fate::kUnreadable) booked.unreadable.push_back(row.id);
    if (row.bytes) booked.bytes.at(source_of(row.id)).emplace(position_of(row.id), *row.bytes);
  });
  return booked;
}

void check_nothing_is_left_out(const Cache& base) {
  if (base.manifest().settings.dropped.empty()) return;
  throw UsageError(
      base.paths().root.string() +
      " was made without duplicates, and new inputs may change which images are duplicates; retry "
      "in the cache that it was compacted from and compact that again, or ingest into a new cache");
}

bool is_as_it_was(const DescribedSource& source, const SourceInfo& old, const OtherBytes& bytes) {
  if (is_same(source.info, old)) return true;
  return source.info.name == old.name && source.info.format == old.format &&
         source.info.inputs == old.inputs &&
         listing_hash(*source.source, bytes) == old.listing_hash;
}

[[noreturn]] void refuse(const SourceInfo& source, const Cache& base) {
  const std::string root = base.paths().root.string();
  const auto& olds = base.manifest().sources;
  const auto old = std::ranges::find(olds, source.name, &SourceInfo::name);
  if (old == olds.end()) {
    std::string names;
    for (const SourceInfo& one : olds) names += (names.empty() ? "'" : ", '") + one.name + "'";
    throw UsageError(root + " has no source called '" + source.name +
                     "'; give the sources that it was made of: " + names);
  }
  throw UsageError("'" + source.name + "' is not the source that " + root +
                   " was made of: it had " + count_of(old->inputs, "input") + " and now has " +
                   std::to_string(source.inputs) +
                   ", and only inputs that could not be read may change; give the same flags as "
                   "then, or ingest it into a new cache");
}

std::vector<PlacedSource> place(const Cache& base, std::vector<DescribedSource> sources,
                                const Booked& booked, Manifest& manifest) {
  const std::vector<SourceInfo>& olds = base.manifest().sources;
  std::vector<PlacedSource> placed;
  std::set<std::size_t> taken;
  for (DescribedSource& source : sources) {
    std::size_t ordinal = 0;
    while (ordinal < olds.size() && (taken.contains(ordinal) ||
                                     !is_as_it_was(source, olds[ordinal], booked.bytes[ordinal]))) {
      ++ordinal;
    }
    if (ordinal == olds.size()) refuse(source.info, base);
    taken.insert(ordinal);
    manifest.sources[ordinal] = source.info;
    placed.push_back({.source = source.source,
                      .ordinal = static_cast<std::uint32_t>(ordinal),
                      .info = source.info,
                      .training_labels = map_classes(source.info.class_names, manifest.classes),
                      .base = &base});
  }
  std::ranges::sort(placed, {}, &PlacedSource::ordinal);
  return placed;
}

bool any_within(std::span<const SampleId> ids, SampleId first, SampleId last) {
  const auto at = std::ranges::lower_bound(ids, first);
  return at != ids.end() && *at <= last;
}

// Where the chunks of each shard of one source end. Together with its content, that determines
// every byte.
std::vector<std::vector<std::uint64_t>> ends_of_chunks(const PlacedSource& source,
                                                       std::span<const ShardPlan> shards,
                                                       const IngestOptions& options) {
  std::vector<std::vector<std::uint64_t>> ends(shards.size());
  for (const ChunkPlan& chunk :
       plan_chunks(std::span(&source, 1), shards, options.store, options.variants)) {
    ends[chunk.shard].push_back(chunk.end);
  }
  return ends;
}

// For each shard of one source: whether `base` has it, byte for byte, if none of its unreadable
// inputs is readable now.
std::vector<bool> those_there(const PlacedSource& source, std::span<const ShardPlan> shards,
                              const OtherBytes& bytes, const IngestOptions& options) {
  PlacedSource before = source;
  before.other_bytes = &bytes;
  const std::vector<ShardPlan> olds = plan_shards(std::span(&before, 1), options.shard_bytes);
  const auto old_ends = ends_of_chunks(before, olds, options);
  const auto ends = ends_of_chunks(source, shards, options);
  std::map<std::string, SampleId> last_ids;
  for (const ShardInfo& shard : source.base->manifest().shards) {
    last_ids.emplace(shard.file, shard.last_id);
  }
  std::vector<bool> there(shards.size());
  for (std::size_t i = 0; i < std::min(shards.size(), olds.size()); ++i) {
    const auto old = last_ids.find(shard_file(shard_name(source, shards[i])));
    there[i] = old != last_ids.end() && old->second == source.id_of(shards[i].end - 1) &&
               olds[i].begin == shards[i].begin && old_ends[i] == ends[i];
  }
  return there;
}

}  // namespace

RetryPlan plan_retry(const Cache& base, std::vector<DescribedSource> sources,
                     const IngestOptions& options, Manifest& manifest) {
  check_nothing_is_left_out(base);
  const Booked booked = booked_in(base);
  RetryPlan plan;
  plan.sources = place(base, std::move(sources), booked, manifest);
  for (const PlacedSource& source : plan.sources) {
    std::ranges::copy_if(booked.ids, std::back_inserter(plan.ids),
                         [&](SampleId id) { return source_of(id) == source.ordinal; });
  }
  for (std::size_t s = 0; s < plan.sources.size(); ++s) {
    PlacedSource& source = plan.sources[s];
    source.again = plan.ids;
    const std::vector<ShardPlan> shards = plan_shards(std::span(&source, 1), options.shard_bytes);
    const std::vector<bool> there =
        those_there(source, shards, booked.bytes[source.ordinal], options);
    for (std::size_t i = 0; i < shards.size(); ++i) {
      ShardPlan shard = shards[i];
      shard.source = s;
      const SampleId first = source.id_of(shard.begin);
      const SampleId last = source.id_of(shard.end - 1);
      plan.files.insert(shard_file(shard_name(source, shard)));
      // Inputs that storage could not deliver are probably readable now, so probing first is
      // pointless.
      const bool made_anew = options.store != Store::kNone &&
                             (!there[i] || any_within(booked.unreadable, first, last));
      if (!made_anew && !any_within(plan.ids, first, last)) continue;
      plan.shards.push_back(shard);
      plan.made_anew.push_back(made_anew);
    }
  }
  return plan;
}

}  // namespace winnow::pipeline
