#include "pipeline/load/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/rng.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/load/exchange_plan.h"
#include "pipeline/load/order.h"
#include "pipeline/load/place_shards.h"
#include "pipeline/store/parts.h"
#include "tests/common/temporary_folder.h"
#include "tests/common/thread_ranks.h"
#include "tests/pipeline/test_cache.h"

namespace winnow::pipeline::exchange_test {

using test::mixed_samples;
using test::Sample;
using test::TestCache;
using testing::HasSubstr;
using winnow::test::ThreadRanks;

using Numbers = std::vector<std::uint32_t>;

std::vector<ShardInfo> shards_of(std::size_t count, SampleId records) {
  std::vector<ShardInfo> shards;
  for (std::size_t i = 0; i < count; ++i) {
    shards.push_back(
        {"shards/" + std::to_string(i), i * records, (i + 1) * records - 1, records, 1, {}});
  }
  return shards;
}

// Puts shard s on machine s modulo `nodes`, and on the next `more` machines.
Parts spread_out(std::span<const ShardInfo> shards, std::size_t nodes, std::size_t more = 0) {
  Parts parts{.machines = static_cast<std::uint32_t>(nodes),
              .blocks = Blocks(shards, ~std::uint64_t{0}),
              .machine_of = {}};
  for (std::size_t k = 0; k <= more; ++k) {
    parts.machine_of.emplace_back();
    for (std::size_t s = 0; s < shards.size(); ++s) {
      parts.machine_of.back().push_back(static_cast<std::uint32_t>((s + k) % nodes));
    }
  }
  return parts;
}

Placement placement_of(Parts parts, std::vector<int> nodes, std::size_t segment_bytes = 0) {
  Placement placement{.shards_at = {}, .nodes = std::move(nodes), .segment_bytes = segment_bytes};
  for (std::uint32_t node = 0; node < parts.machines; ++node) {
    placement.held.push_back(shards_of(parts, static_cast<int>(node)));
  }
  placement.parts = std::make_shared<const Parts>(std::move(parts));
  return placement;
}

Placement placement_of(std::size_t shards, std::vector<Partitions> partitions,
                       std::vector<int> nodes) {
  Numbers all(shards);
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  Placement placement{.shards_at = {}, .nodes = std::move(nodes)};
  for (const Partitions& part : partitions) {
    placement.held.push_back(part.begin < part.end ? all : Numbers());
  }
  placement.partitions = std::move(partitions);
  return placement;
}

void expect_holders(std::span<const ShardInfo> shards, const Parts& parts,
                    const std::vector<int>& nodes) {
  const Holders holders(shards, placement_of(parts, nodes));
  EXPECT_FALSE(holders.all_have_all());
  const auto has = [&](int rank, SampleId id) {
    return has_id(runs_of(parts, nodes[static_cast<std::size_t>(rank)]), id);
  };
  std::set<std::uint32_t> looked_into;
  for (int rank = 0; rank < holders.ranks(); ++rank) {
    for (SampleId id = 0; id <= shards.back().last_id; ++id) {
      const int holder = holders.holder(id, rank);
      EXPECT_TRUE(has(holder, id));
      EXPECT_EQ(holder == rank, has(rank, id));
    }
    for (const std::uint32_t shard : holders.share_of(rank)) looked_into.insert(shard);
  }
  EXPECT_EQ(looked_into.size(), shards.size());
}

TEST(Holders, ARecordComesFromAMachineThatHasIt) {
  const auto shards = shards_of(5, 10);
  const std::vector<int> nodes{0, 0, 1, 1, 2, 2};
  for (const std::size_t more : {0U, 1U})
    expect_holders(shards, spread_out(shards, 3, more), nodes);
  for (const int replicas : {1, 2}) expect_holders(shards, hold_blocks(shards, 3, replicas), nodes);
  const auto one = shards_of(1, 23);
  expect_holders(one, hold_blocks(one, 3, 1), nodes);
}

TEST(Holders, RanksOfOneMachineAskDifferentRanks) {
  const auto shards = shards_of(2, 10);
  const Holders holders(shards, placement_of(spread_out(shards, 2), {0, 0, 1, 1}));
  EXPECT_NE(holders.holder(15, 0), holders.holder(15, 1));
  EXPECT_NE(holders.holder(5, 2), holders.holder(5, 3));
  // Each rank also asks both of them.
  EXPECT_NE(holders.holder(15, 0), holders.holder(16, 0));
}

TEST(Holders, RefuseWhatNobodyHas) {
  const auto shards = shards_of(2, 10);
  // A machine without ranks cannot give anything.
  EXPECT_THROW(Holders(shards, placement_of(spread_out(shards, 2), {0, 0})), Error);
  const Holders all(shards, placement_of(spread_out(shards, 2, 1), {0, 1}));
  EXPECT_TRUE(all.all_have_all());
  EXPECT_THROW(all.holder(20, 0), Error);
}

TEST(Holders, OfPartitionsGiveWhatIsInThem) {
  const auto shards = shards_of(5, 10);
  const std::vector<int> nodes{0, 0, 1, 2};
  const std::vector<Partitions> parts{{0, 2, 8}, {2, 5, 8}, {5, 8, 8}};
  const Holders holders(shards, placement_of(5, parts, nodes));
  EXPECT_FALSE(holders.all_have_all());
  for (int rank = 0; rank < 4; ++rank) {
    for (SampleId id = 0; id < 50; ++id) {
      const auto here = static_cast<std::size_t>(nodes[static_cast<std::size_t>(rank)]);
      const int holder = holders.holder(id, rank);
      const auto there = static_cast<std::size_t>(nodes[static_cast<std::size_t>(holder)]);
      EXPECT_TRUE(parts[there].has(id));
      EXPECT_EQ(holder == rank, parts[here].has(id));
    }
  }
  EXPECT_THROW(holders.holder(50, 0), Error);
  // Each machine scans all of its shards once.
  EXPECT_EQ(holders.share_of(0).size() + holders.share_of(1).size(), 5U);
  EXPECT_EQ(holders.share_of(2).size(), 5U);
  EXPECT_THROW(Holders(shards, placement_of(5, {{0, 2, 8}, {2, 5, 8}, {6, 8, 8}}, nodes)), Error);
  // A machine without partitions has no shard to scan.
  const Holders idle(shards, placement_of(5, {{0, 1, 2}, {1, 2, 2}, {2, 2, 2}}, nodes));
  EXPECT_TRUE(idle.share_of(3).empty());
  EXPECT_NE(idle.holder(7, 3), 3);
}

struct Setting {
  int ranks = 1;
  std::uint64_t batches = 0;
  std::uint64_t batch = 0;  // per rank
};

RequestsOf random_requests(const Setting& setting, SampleId ids) {
  return [=](int rank, std::uint64_t batch) {
    std::vector<Request> requests;
    if (batch >= setting.batches) return requests;
    CounterRng rng(3, static_cast<std::uint32_t>(batch), static_cast<std::uint64_t>(rank),
                   RandomUse::kTest);
    for (std::uint64_t i = 0; i < setting.batch; ++i) {
      const auto id = static_cast<SampleId>(rng.below(static_cast<std::uint32_t>(ids)));
      requests.push_back({id, static_cast<std::uint32_t>(batch), i % 5 == 4 ? 0.0F : 1.0F});
    }
    return requests;
  };
}

TEST(ExchangePlan, WhatOneSendsTheOtherGetsAndEachRecordOnce) {
  const Setting setting{.ranks = 4, .batches = 23, .batch = 6};
  const RequestsOf requests_of = random_requests(setting, 70);
  RecordSizes sizes;
  for (SampleId id = 0; id < 70; ++id) {
    sizes.ids.push_back(id);
    sizes.bytes.push_back(static_cast<std::int32_t>(8 * (1 + id % 9)));
  }
  const auto shards = shards_of(7, 10);
  const Holders holders(shards, placement_of(hold_blocks(shards, 3, 1), {0, 1, 1, 2}));
  for (const SegmentLimits limits : {SegmentLimits{1, 100}, SegmentLimits{2000, 100},
                                     SegmentLimits{1 << 20, 4}, SegmentLimits{1 << 20, 1000}}) {
    std::uint64_t first = 0;
    std::size_t segments = 0;
    for (;; ++segments) {
      std::vector<Segment> of_rank;
      for (int rank = 0; rank < 4; ++rank) {
        of_rank.push_back(plan_segment(rank, first, limits, requests_of, holders, sizes));
      }
      const std::uint64_t end = of_rank[0].end;
      for (int to = 0; to < 4; ++to) {
        const Segment& mine = of_rank[static_cast<std::size_t>(to)];
        ASSERT_EQ(mine.first, first);
        ASSERT_EQ(mine.end, end);
        if (end - first > 1) {
          EXPECT_LE(mine.sent_offsets.back() + mine.received_offsets.back(), limits.bytes);
        }
        EXPECT_LE(end - first, limits.batches);
        std::set<std::pair<std::uint64_t, std::uint32_t>> got;
        for (const Parcel& parcel : mine.received) got.insert({parcel.batch, parcel.row});
        EXPECT_EQ(got.size(), mine.received.size());
        for (std::uint64_t b = first; b < end; ++b) {
          const auto& requests = mine.requests[b - first];
          for (std::uint32_t row = 0; row < requests.size(); ++row) {
            const bool comes =
                requests[row].weight != 0 && holders.holder(requests[row].id, to) != to;
            EXPECT_EQ(got.contains({b, row}), comes);
          }
        }
        for (int from = 0; from < 4; ++from) {
          const auto part = [](const std::vector<Parcel>& parcels,
                               const std::vector<std::size_t>& offsets, int rank) {
            const std::size_t begin = offsets[static_cast<std::size_t>(rank)];
            const std::size_t end_of = offsets[static_cast<std::size_t>(rank) + 1];
            std::vector<std::tuple<SampleId, std::uint64_t, std::size_t, std::size_t>> out;
            for (const Parcel& p : parcels) {
              if (p.begin < begin || p.begin >= end_of) continue;
              out.emplace_back(p.request.id, p.batch, p.begin - begin, p.bytes);
            }
            return out;
          };
          const Segment& other = of_rank[static_cast<std::size_t>(from)];
          EXPECT_EQ(part(other.sent, other.sent_offsets, to),
                    part(mine.received, mine.received_offsets, from));
        }
      }
      if (end == first) break;
      first = end;
    }
    EXPECT_EQ(first, setting.batches);
    EXPECT_EQ(segments == setting.batches, limits.bytes == 1);
    EXPECT_EQ(segments == 1, limits.batches == 1000);
  }
}

LoadOptions load_options() {
  LoadOptions options;
  options.geometry = {24, 24, 3};
  options.recipe = Recipe::kCifar;
  options.seed = 5;
  options.threads = 2;
  return options;
}

void expect_equal(const Batch& a, const Batch& b) {
  EXPECT_TRUE(a.pixels == b.pixels) << "pixels differ";
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.label_offsets, b.label_offsets);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.groups, b.groups);
}

class Exchanged : public testing::Test {
 protected:
  // The requests of a rank, as random_requests() draws them from the places of samples.
  RequestsOf requests_of(const Setting& setting) const {
    return
        [this, places = random_requests(setting, samples.size())](int rank, std::uint64_t batch) {
          std::vector<Request> requests = places(rank, batch);
          for (Request& request : requests) request.id = samples[request.id].id;
          return requests;
        };
  }

  const std::vector<Sample> samples = mixed_samples(60);
  const TestCache cache{samples, "original", 5};
};

TEST_F(Exchanged, BatchesAreThoseOfTheWholeCache) {
  const std::vector<ShardInfo>& shards = cache->manifest().shards;
  for (const int ranks : {1, 2, 3, 4}) {
    for (const int replicas : {1, 2}) {
      for (const std::size_t segment :
           {std::size_t{1}, std::size_t{40'000}, std::size_t{1} << 30}) {
        const Parts parts = hold_blocks(shards, ranks, std::min(replicas, ranks));
        const Setting setting{.ranks = ranks, .batches = 9, .batch = 7};
        const RequestsOf requests = requests_of(setting);
        ThreadRanks(ranks).run([&](comm::Communicator& comm) {
          const auto over =
              spread(*cache, comm, placement_of(parts, comm.placement().node_of, segment));
          EXPECT_EQ(over == nullptr, ranks <= replicas);
          Loader loader(*cache, load_options(),
                        make_planner(over, comm.rank(), requests, load_options().seed));
          Batch batch;
          for (std::uint64_t b = 0; b < setting.batches; ++b) {
            batch = loader.next(std::move(batch));
            expect_equal(batch, load_batch(*cache, requests(comm.rank(), b), load_options()));
          }
          EXPECT_EQ(loader.next().size(), 0U);
          loader.settle();
        });
      }
    }
  }
}

// Each machine has a copy of its own blocks or partitions only.
TEST_F(Exchanged, BatchesFromPartsAreThoseOfTheWholeCache) {
  const TemporaryFolder memory;
  const Setting setting{.ranks = 3, .batches = 9, .batch = 7};
  const RequestsOf requests = requests_of(setting);
  const std::vector<int> nodes{0, 1, 2};
  for (const int replicas : {1, 2, -1, -2}) {  // positive: blocks; negative: partitions
    Placement placement =
        replicas > 0
            ? placement_of(hold_blocks(cache->manifest().shards, 3, replicas), nodes, 40'000)
            : placement_of(5, hold_partitions(8, 3, -replicas), nodes);
    placement.segment_bytes = 40'000;
    ThreadRanks(3).run([&](comm::Communicator& comm) {
      const auto node = static_cast<std::size_t>(comm.rank());
      Placement mine = placement;
      CopyOptions options{.memory = memory.path(), .shards = mine.held[node]};
      if (mine.parts) options.runs = runs_of(*mine.parts, comm.rank());
      if (!mine.parts) options.partitions = mine.partitions[node];
      const ShardCopy copy = ShardCopy::get(cache->paths().root, options);
      mine.shards_at = copy.folder();
      const auto part = open_cache(cache->paths().root, mine, comm.rank());
      const auto over = spread(*part, comm, mine);
      ASSERT_NE(over, nullptr);
      Loader loader(*part, load_options(),
                    make_planner(over, comm.rank(), requests, load_options().seed));
      for (std::uint64_t b = 0; b < setting.batches; ++b) {
        expect_equal(loader.next(), load_batch(*cache, requests(comm.rank(), b), load_options()));
      }
      EXPECT_EQ(loader.next().size(), 0U);
      loader.settle();
    });
  }
}

// One shard on four machines becomes four parts. Either only the second machine has the cache, or
// all have it.
TEST(Placed, AShardIsAPartOnEachMachineAndBatchesAreThoseOfTheCache) {
  const std::vector<Sample> samples = mixed_samples(90);
  const TestCache cache(samples, "original", 1);
  const TemporaryFolder folder;
  const RequestsOf places = random_requests({.ranks = 4, .batches = 5, .batch = 6}, 90);
  const RequestsOf requests = [&](int rank, std::uint64_t batch) {
    std::vector<Request> of_rank = places(rank, batch);
    for (Request& request : of_rank) request.id = samples[request.id].id;
    return of_rank;
  };
  for (const bool all_have_it : {false, true}) {
    std::array<std::uint64_t, 4> bytes{};
    std::array<std::uint64_t, 4> received{};
    std::array<std::string, 4> said;
    ThreadRanks(4).run([&](comm::Communicator& comm) {
      const auto rank = static_cast<std::size_t>(comm.rank());
      const std::filesystem::path own =
          folder / (std::to_string(rank) + (all_have_it ? "-all" : "-one"));
      std::filesystem::create_directories(own / "memory");
      const bool has_it = all_have_it || rank == 1;
      const std::filesystem::path root = has_it ? cache->paths().root : own / "cache";
      PlaceOptions options{.when = CopyWhen::kAlways, .segment_bytes = 50'000};
      options.copy.memory = own / "memory";
      options.copy.note = [&](const std::string& sentence) { said[rank] += sentence + "\n"; };
      const PlacedShards placed = place_shards(root, options, comm);
      ASSERT_TRUE(placed.copy);
      bytes[rank] = placed.copy->bytes();
      EXPECT_EQ(placed.given_bytes == 0, all_have_it);
      const auto part = open_cache(root, placed.placement, comm.rank());
      auto planner = make_planner(spread(*part, comm, placed.placement), comm.rank(), requests,
                                  load_options().seed);
      Loader loader(*part, load_options(), planner);
      for (std::uint64_t b = 0; b < 5; ++b) {
        expect_equal(loader.next(), load_batch(*cache, requests(comm.rank(), b), load_options()));
      }
      EXPECT_EQ(loader.next().size(), 0U);
      loader.settle();
      received[rank] = planner->received_bytes();
    });
    for (std::size_t rank = 0; rank < 4; ++rank) {
      EXPECT_GT(received[rank], 0U) << rank;
      EXPECT_THAT(said[rank], HasSubstr("4 machines hold the shards, each its part: about "));
      EXPECT_LT(bytes[rank], cache->manifest().shards[0].bytes / 2) << rank;
    }
  }
}

// A run trains, evaluates and resumes training, and stops in the middle.
TEST_F(Exchanged, OneIsSettledWhileAnotherIsUsed) {
  const Parts parts = hold_blocks(cache->manifest().shards, 3, 1);
  const RequestsOf training = requests_of({.ranks = 3, .batches = 40, .batch = 4});
  const RequestsOf evaluation = requests_of({.ranks = 3, .batches = 7, .batch = 5});
  ThreadRanks(3).run([&](comm::Communicator& comm) {
    const auto over = spread(*cache, comm, placement_of(parts, comm.placement().node_of, 30'000));
    const auto loader_of = [&](const RequestsOf& requests) {
      return Loader(*cache, load_options(),
                    make_planner(over, comm.rank(), requests, load_options().seed));
    };
    Loader train = loader_of(training);
    std::uint64_t step = 0;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 5 + round; ++i, ++step) {
        expect_equal(train.next(), load_batch(*cache, training(comm.rank(), step), load_options()));
      }
      train.settle();
      Loader eval = loader_of(evaluation);
      for (std::uint64_t b = 0; b < 7; ++b) {
        expect_equal(eval.next(), load_batch(*cache, evaluation(comm.rank(), b), load_options()));
      }
      eval.settle();
    }
    train.settle();
  });
}

// A planner that returns a given plan.
class Fixed final : public Planner {
 public:
  explicit Fixed(Planned planned) : planned_(std::move(planned)) {}
  Planned plan(std::uint64_t batch) override { return batch == 0 ? planned_ : Planned{}; }

 private:
  Planned planned_;
};

TEST_F(Exchanged, WhatCameIsChecked) {
  const RecordView record = cache->record(samples[4].id);
  Bytes pack(packed_bytes(record));
  pack_record(record, pack);
  const auto load = [&](SampleId id, const Bytes& came) {
    Loader loader(*cache, load_options(),
                  std::make_shared<Fixed>(Planned{.requests = {{.id = id}}, .packs = {came}}));
    return loader.next();
  };
  expect_equal(load(samples[4].id, pack),
               load_batch(*cache, {{.id = samples[4].id}}, load_options()));
  const auto refusal = [&](SampleId id, const Bytes& came) {
    try {
      load(id, came);
    } catch (const FormatError& e) {
      return std::string(e.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(refusal(samples[5].id, pack), HasSubstr("is another record"));
  for (const std::size_t at : {std::size_t{20}, std::size_t{60}, pack.size() - 9}) {
    Bytes changed = pack;
    changed[at] ^= std::byte{4};
    EXPECT_THAT(refusal(samples[4].id, changed), HasSubstr("damaged")) << at;
  }
}

}  // namespace winnow::pipeline::exchange_test
