#include "pipeline/load/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/rng.h"
#include "pipeline/load/exchange_plan.h"
#include "pipeline/load/order.h"
#include "pipeline/store/memory.h"
#include "pipeline/store/shard_copy.h"
#include "tests/common/temporary_folder.h"
#include "tests/common/thread_ranks.h"
#include "tests/pipeline/test_cache.h"

namespace winnow::pipeline {
namespace {

using test::mixed_samples;
using test::Sample;
using test::TestCache;
using testing::ElementsAre;
using testing::HasSubstr;
using winnow::test::ThreadRanks;

using Held = std::vector<std::vector<std::uint32_t>>;

std::vector<ShardInfo> shards_of(std::size_t count, SampleId records) {
  std::vector<ShardInfo> shards;
  for (std::size_t i = 0; i < count; ++i) {
    shards.push_back(
        {"shards/" + std::to_string(i), i * records, (i + 1) * records - 1, records, 1, {}});
  }
  return shards;
}

// Shard s is on machine s modulo their number, and on `more` after it.
Held spread_out(std::size_t shards, std::size_t nodes, std::size_t more = 0) {
  Held held(nodes);
  for (std::size_t s = 0; s < shards; ++s) {
    for (std::size_t k = 0; k <= more; ++k) {
      held[(s + k) % nodes].push_back(static_cast<std::uint32_t>(s));
    }
  }
  return held;
}

TEST(Holders, ARecordComesFromAMachineThatHasIt) {
  const auto shards = shards_of(5, 10);
  const std::vector<int> nodes{0, 0, 1, 1, 2, 2};
  for (const std::size_t more : {0, 1}) {
    const Held held = spread_out(5, 3, more);
    const Holders holders(shards, nodes, held);
    EXPECT_FALSE(holders.all_have_all());
    for (int rank = 0; rank < 6; ++rank) {
      for (SampleId id = 0; id < 50; ++id) {
        const int holder = holders.holder(id, rank);
        const auto& there = held[static_cast<std::size_t>(nodes[static_cast<std::size_t>(holder)])];
        EXPECT_THAT(there, testing::Contains(id / 10));
        const auto& here = held[static_cast<std::size_t>(nodes[static_cast<std::size_t>(rank)])];
        if (std::ranges::find(here, id / 10) != here.end()) {
          EXPECT_EQ(holder, rank);
        }
      }
    }
    std::set<std::uint32_t> looked_into;
    for (int rank = 0; rank < 6; ++rank) {
      for (const std::uint32_t shard : holders.share_of(rank)) looked_into.insert(shard);
    }
    EXPECT_EQ(looked_into.size(), 5U);
  }
}

TEST(Holders, RanksOfOneMachineAskDifferentRanks) {
  const Holders holders(shards_of(2, 10), {0, 0, 1, 1}, {{0}, {1}});
  EXPECT_NE(holders.holder(15, 0), holders.holder(15, 1));
  EXPECT_NE(holders.holder(5, 2), holders.holder(5, 3));
}

TEST(Holders, RefuseWhatNobodyHas) {
  EXPECT_THROW(Holders(shards_of(2, 10), {0, 1}, {{0}, {}}), Error);
  // A machine without ranks gives nothing.
  EXPECT_THROW(Holders(shards_of(2, 10), {0, 0}, {{0}, {1}}), Error);
  const Holders all(shards_of(2, 10), {0, 1}, {{0, 1}, {0, 1}});
  EXPECT_TRUE(all.all_have_all());
  EXPECT_THROW(all.holder(20, 0), Error);
}

TEST(Holders, OfPartitionsGiveWhatIsInThem) {
  const auto shards = shards_of(5, 10);
  const std::vector<int> nodes{0, 0, 1, 2};
  const std::vector<Partitions> parts{{0, 2, 8}, {2, 5, 8}, {5, 8, 8}};
  const Held all = spread_out(5, 3, 2);
  const Holders holders(shards, nodes, all, parts);
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
  // Each machine looks into all of its shards once.
  EXPECT_EQ(holders.share_of(0).size() + holders.share_of(1).size(), 5U);
  EXPECT_EQ(holders.share_of(2).size(), 5U);
  EXPECT_THROW(Holders(shards, nodes, all, {{0, 2, 8}, {2, 5, 8}, {6, 8, 8}}), Error);
  // One that has none has no shard to look into.
  const Holders idle(shards, nodes, {all[0], all[1], {}}, {{0, 1, 2}, {1, 2, 2}, {2, 2, 2}});
  EXPECT_TRUE(idle.share_of(3).empty());
  EXPECT_NE(idle.holder(7, 3), 3);
}

struct Setting {
  int ranks = 1;
  std::uint64_t batches = 0;
  std::uint64_t batch = 0;  // of a rank
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
  const Holders holders(shards_of(7, 10), {0, 1, 1, 2}, spread_out(7, 3));
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
  // What `rank` loads: requests by the places of samples, as random_requests() has them.
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
  for (const int ranks : {1, 2, 3, 4}) {
    for (const std::size_t more : {0, 1}) {
      for (const std::size_t segment :
           {std::size_t{1}, std::size_t{40'000}, std::size_t{1} << 30}) {
        const auto nodes = static_cast<std::size_t>(ranks);
        const Held held = spread_out(5, nodes, std::min(more, nodes - 1));
        const Setting setting{.ranks = ranks, .batches = 9, .batch = 7};
        const RequestsOf requests = requests_of(setting);
        ThreadRanks(ranks).run([&](comm::Communicator& comm) {
          const auto over = spread(
              *cache, comm,
              {.shards_at = {}, .nodes = comm.placement().node_of, .held = held, .segment_bytes = segment});
          EXPECT_EQ(over == nullptr, ranks == 1 || (ranks == 2 && more == 1));
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

// Each machine has a copy of its partitions alone.
TEST_F(Exchanged, BatchesFromPartitionsAreThoseOfTheWholeCache) {
  const TemporaryFolder memory;
  const Setting setting{.ranks = 3, .batches = 9, .batch = 7};
  const RequestsOf requests = requests_of(setting);
  for (const int replicas : {1, 2}) {
    Placement placement{.shards_at = {}, .segment_bytes = 40'000};
    placement.held = spread_out(5, 3, 2);
    placement.partitions = hold_partitions(8, 3, replicas);
    ThreadRanks(3).run([&](comm::Communicator& comm) {
      Placement mine = placement;
      mine.nodes = comm.placement().node_of;
      const ShardCopy copy = ShardCopy::get(
          cache->paths().root,
          {.memory = memory.path(),
           .partitions = placement.partitions[static_cast<std::size_t>(comm.rank())]});
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

// As a run trains, evaluates and goes on, and stops in the middle.
TEST_F(Exchanged, OneIsSettledWhileAnotherIsUsed) {
  const Held held = spread_out(5, 3);
  const RequestsOf training = requests_of({.ranks = 3, .batches = 40, .batch = 4});
  const RequestsOf evaluation = requests_of({.ranks = 3, .batches = 7, .batch = 5});
  ThreadRanks(3).run([&](comm::Communicator& comm) {
    const auto over =
        spread(*cache, comm,
               {.shards_at = {}, .nodes = comm.placement().node_of, .held = held, .segment_bytes = 30'000});
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

// A planner that gives what it is given.
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
  EXPECT_THAT(refusal(samples[5].id, pack), HasSubstr("another record"));
  for (const std::size_t at : {std::size_t{20}, std::size_t{60}, pack.size() - 9}) {
    Bytes changed = pack;
    changed[at] ^= std::byte{4};
    EXPECT_THAT(refusal(samples[4].id, changed), HasSubstr("damaged")) << at;
  }
}

}  // namespace
}  // namespace winnow::pipeline
