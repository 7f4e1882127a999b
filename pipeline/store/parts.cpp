#include "pipeline/store/parts.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "common/error.h"

namespace winnow::pipeline {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t ids_in(IdRun run) noexcept { return run.last - run.first + 1; }

void check_replicas(int nodes, int replicas) {
  if (nodes >= 1 && replicas >= 1 && replicas <= nodes) return;
  throw UsageError(std::to_string(replicas) + " replicas of the shards do not fit on " +
                   std::to_string(nodes) + (nodes == 1 ? " machine" : " machines") +
                   ", because a machine holds a record only once; use --replicas 1 to " +
                   std::to_string(std::max(nodes, 1)));
}

std::uint64_t bytes_of(std::span<const ShardInfo> shards, const Blocks& blocks, std::size_t block) {
  return estimate_bytes(shards[blocks.shard_of(block)], ids_in(blocks.ids(block)));
}

// Gives each block to the machine that has least so far, so that machines never differ by more than
// the last block.
std::vector<std::uint32_t> deal(std::span<const ShardInfo> shards, const Blocks& blocks, int first,
                                int count) {
  std::vector<std::uint64_t> load(static_cast<std::size_t>(count), 0);
  std::vector<std::uint32_t> machine_of(blocks.size());
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const auto least = std::ranges::min_element(load);
    *least += bytes_of(shards, blocks, block);
    machine_of[block] = static_cast<std::uint32_t>(first + (least - load.begin()));
  }
  return machine_of;
}

bool is_held(const Parts& parts, std::size_t block, int node) {
  return std::ranges::any_of(parts.machine_of, [&](const auto& machine_of) {
    return std::cmp_equal(machine_of[block], node);
  });
}

}  // namespace

bool has_id(std::span<const IdRun> runs, SampleId id) noexcept { return has_any(runs, {id, id}); }

bool has_any(std::span<const IdRun> runs, IdRun ids) noexcept {
  const auto found = std::ranges::lower_bound(runs, ids.first, std::less<>(), &IdRun::last);
  return found != runs.end() && found->first <= ids.last;
}

std::uint64_t count_ids(std::span<const IdRun> runs) noexcept {
  std::uint64_t count = 0;
  for (const IdRun& run : runs) count += ids_in(run);
  return count;
}

std::uint64_t estimate_bytes(const ShardInfo& shard, std::uint64_t ids) noexcept {
  const Wide of = Wide{shard.last_id - shard.first_id} + 1;
  return static_cast<std::uint64_t>((Wide{shard.bytes} * ids + of - 1) / of);
}

Blocks::Blocks(std::span<const ShardInfo> shards, std::uint64_t most_bytes) {
  std::size_t end = 0;
  for (const ShardInfo& shard : shards) {
    const std::uint64_t more = shard.last_id - shard.first_id;  // number of ids, minus one
    // As many ids as fit, then as few per block as gives the same number of blocks.
    const Wide fit = Wide{most_bytes} * (Wide{more} + 1) / std::max<std::uint64_t>(shard.bytes, 1);
    const Wide count = more / std::max<Wide>(fit, 1) + 1;
    OfShard of{.ids = {shard.first_id, shard.last_id}};
    of.ids_of_block =
        static_cast<std::uint64_t>(std::min<Wide>(more / count + 1, ~std::uint64_t{0}));
    end += more / of.ids_of_block + 1;
    of.end = end;
    shards_.push_back(of);
  }
}

std::size_t Blocks::size() const noexcept { return shards_.empty() ? 0 : shards_.back().end; }

std::size_t Blocks::shard_of(std::size_t block) const noexcept {
  return static_cast<std::size_t>(
      std::ranges::upper_bound(shards_, block, std::less<>(), &OfShard::end) - shards_.begin());
}

IdRun Blocks::ids(std::size_t block) const noexcept {
  const std::size_t shard = shard_of(block);
  const OfShard& of = shards_[shard];
  const SampleId first = of.ids.first + (block - begin_of(shard)) * of.ids_of_block;
  return {first, first + std::min(of.ids.last - first, of.ids_of_block - 1)};
}

std::size_t Blocks::block_of(SampleId id) const noexcept {
  const auto found = std::ranges::lower_bound(shards_, id, std::less<>(),
                                              [](const OfShard& of) { return of.ids.last; });
  if (found == shards_.end() || id < found->ids.first) return size();
  return begin_of(static_cast<std::size_t>(found - shards_.begin())) +
         static_cast<std::size_t>((id - found->ids.first) / found->ids_of_block);
}

std::uint64_t block_bytes(std::span<const ShardInfo> shards, int nodes) noexcept {
  Wide bytes = 0;
  for (const ShardInfo& shard : shards) bytes += shard.bytes;
  const Wide of_block = bytes / (kBlocksOfPart * static_cast<std::uint64_t>(std::max(nodes, 1)));
  return static_cast<std::uint64_t>(std::clamp<Wide>(of_block, 1, kMostBlockBytes));
}

Parts hold_blocks(std::span<const ShardInfo> shards, int nodes, int replicas) {
  check_replicas(nodes, replicas);
  Parts parts{.machines = static_cast<std::uint32_t>(nodes),
              .blocks = Blocks(shards, block_bytes(shards, nodes)),
              .machine_of = {}};
  for (int group = 0; group < replicas; ++group) {
    const auto begin = static_cast<int>(std::int64_t{group} * nodes / replicas);
    const auto end = static_cast<int>((std::int64_t{group} + 1) * nodes / replicas);
    parts.machine_of.push_back(deal(shards, parts.blocks, begin, end - begin));
  }
  return parts;
}

std::vector<IdRun> runs_of(const Parts& parts, int node) {
  std::vector<IdRun> runs;
  for (std::size_t block = 0; block < parts.blocks.size(); ++block) {
    if (!is_held(parts, block, node)) continue;
    const IdRun ids = parts.blocks.ids(block);
    if (!runs.empty() && runs.back().last + 1 == ids.first) {
      runs.back().last = ids.last;
    } else {
      runs.push_back(ids);
    }
  }
  return runs;
}

std::vector<std::uint32_t> shards_of(const Parts& parts, int node) {
  std::vector<std::uint32_t> shards;
  for (std::size_t block = 0; block < parts.blocks.size(); ++block) {
    if (!is_held(parts, block, node)) continue;
    const auto shard = static_cast<std::uint32_t>(parts.blocks.shard_of(block));
    if (shards.empty() || shards.back() != shard) shards.push_back(shard);
  }
  return shards;
}

std::vector<std::uint64_t> bytes_of_machines(const Parts& parts,
                                             std::span<const ShardInfo> shards) {
  std::vector<std::uint64_t> bytes(parts.machines);
  for (const auto& machine_of : parts.machine_of) {
    for (std::size_t block = 0; block < machine_of.size(); ++block) {
      bytes[machine_of[block]] += bytes_of(shards, parts.blocks, block);
    }
  }
  return bytes;
}

std::vector<std::uint32_t> holders_of(const Parts& parts, IdRun ids) {
  std::vector<std::uint32_t> holders;
  const std::size_t end = std::min(parts.blocks.block_of(ids.last) + 1, parts.blocks.size());
  for (std::size_t block = parts.blocks.block_of(ids.first); block < end; ++block) {
    for (const auto& machine_of : parts.machine_of) holders.push_back(machine_of[block]);
  }
  std::ranges::sort(holders);
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  return holders;
}

std::vector<Partitions> hold_partitions(int partitions, int nodes, int replicas) {
  check_replicas(nodes, replicas);
  // The machines of a group are `replicas` apart, so that neighbours hold the same part.
  std::vector<Partitions> held;
  for (std::int64_t node = 0; node < nodes; ++node) {
    const std::int64_t of_group = (nodes - 1 - node % replicas) / replicas + 1;
    const std::int64_t place = node / replicas;
    held.push_back({.begin = static_cast<int>(place * partitions / of_group),
                    .end = static_cast<int>((place + 1) * partitions / of_group),
                    .of = partitions});
  }
  return held;
}

}  // namespace winnow::pipeline
