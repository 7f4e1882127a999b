#include "pipeline/copies/peer_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <ranges>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "dedup/table/selection.h"
#include "pipeline/copies/peer_copy_internal.h"
#include "pipeline/copies/peer_plan.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/shard_part.h"
#include "tests/common/temporary_folder.h"
#include "tests/common/thread_ranks.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::peer_copy_test {

namespace fs = std::filesystem;
using Numbers = std::vector<std::uint32_t>;

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(GivingRounds, GiveEveryBlockOnceInOrderAndInBounds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t ranks = 1 + random() % 6;
    GivingPlan plan;
    const std::size_t files = 1 + random() % 12;
    for (std::size_t i = 0; i < files; ++i) {
      plan.bytes.push_back(random() % 4 == 0 ? random() % 3 : random() % (3 * kBlockBytes));
    }
    plan.of_first = static_cast<std::uint32_t>(random() % (files + 1));
    plan.most_bytes = random() % (5 * kBlockBytes);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (random() % 2 == 0) plan.givers.push_back(static_cast<int>(rank));
    }
    if (plan.givers.empty()) plan.givers.push_back(static_cast<int>(random() % ranks));
    plan.takes.resize(ranks);
    for (Numbers& takes : plan.takes) {
      for (std::uint32_t file = 0; file < files; ++file) {
        if (random() % 2 == 0) takes.push_back(file);
      }
    }
    GivingRounds rounds(plan);
    std::vector<std::vector<std::pair<std::uint32_t, std::uint64_t>>> got(ranks);  // file, bytes
    for (std::vector<GivenBlock> blocks = rounds.next(); !blocks.empty(); blocks = rounds.next()) {
      std::map<int, std::uint64_t> given, taken;
      for (const GivenBlock& block : blocks) {
        EXPECT_TRUE(std::ranges::binary_search(plan.givers, block.giver));
        if (block.file >= plan.of_first) {
          EXPECT_EQ(block.giver, plan.givers.front());
        } else if (std::ranges::binary_search(plan.givers, block.taker)) {
          EXPECT_EQ(block.giver, block.taker);
        }
        EXPECT_LE(block.bytes, kBlockBytes);
        EXPECT_EQ(block.begin % kBlockBytes, 0U);
        for (auto* sums : {&given, &taken}) {
          std::uint64_t& sum = (*sums)[sums == &given ? block.giver : block.taker];
          EXPECT_TRUE(sum == 0 || sum + block.bytes <= plan.most_bytes);
          sum += block.bytes;
        }
        auto& files_of = got[static_cast<std::size_t>(block.taker)];
        if (block.begin == 0) files_of.emplace_back(block.file, 0);
        ASSERT_FALSE(files_of.empty());
        EXPECT_EQ(files_of.back().first, block.file);
        EXPECT_EQ(files_of.back().second, block.begin);  // the next block of the file
        files_of.back().second += block.bytes;
      }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      ASSERT_EQ(got[rank].size(), plan.takes[rank].size());
      for (std::size_t i = 0; i < got[rank].size(); ++i) {
        const std::uint32_t file = plan.takes[rank][i];
        EXPECT_EQ(got[rank][i], std::pair(file, plan.bytes[file]));
      }
    }
  }
}

TEST(GivingRounds, SpreadOverThoseWhoHaveIt) {
  GivingPlan plan{.bytes = {64 * kBlockBytes},
                  .takes = {{}, {}, {}, {0}, {0}},
                  .givers = {0, 1, 2},
                  .of_first = 1,
                  .most_bytes = 6 * kBlockBytes};
  GivingRounds rounds(plan);
  std::map<int, std::uint64_t> given;
  std::size_t count = 0;
  for (auto blocks = rounds.next(); !blocks.empty(); blocks = rounds.next(), ++count) {
    for (const GivenBlock& block : blocks) given[block.giver] += block.bytes / kBlockBytes;
  }
  EXPECT_EQ(count, 11U);  // 64 blocks to each taker, 6 per round
  const auto [least, most] = std::ranges::minmax(std::views::values(given));
  EXPECT_EQ(given.size(), 3U);
  EXPECT_LE(most - least, count);
}

TEST(GivenParts, OfAllRanksFitTogether) {
  const std::vector<GivenBlock> round{{0, 1, 7, 0, 5}, {2, 1, 7, 5, 6},  {0, 2, 3, 0, 8},
                                      {0, 1, 8, 0, 0}, {2, 2, 4, 0, 10}, {0, 1, 9, 4, 3}};
  constexpr int kRanks = 3;
  std::vector<GivenParts> parts;
  for (int rank = 0; rank < kRanks; ++rank) parts.push_back(lay_out(round, rank, kRanks));
  std::size_t received = 0;
  for (std::size_t from = 0; from < kRanks; ++from) {
    for (std::size_t to = 0; to < kRanks; ++to) {
      const auto& out = parts[from].sent_offsets;
      const auto& in = parts[to].received_offsets;
      ASSERT_EQ(out.size(), kRanks + 1U);
      ASSERT_EQ(in.size(), kRanks + 1U);
      EXPECT_EQ(out[to] % 4, 0U);
      EXPECT_EQ(out[to + 1] - out[to], in[from + 1] - in[from]);
      for (const GivenParts::Piece& piece : parts[to].received) {
        if (piece.block.giver != static_cast<int>(from)) continue;
        const auto same =
            std::ranges::find(parts[from].sent, piece.block, &GivenParts::Piece::block);
        ASSERT_NE(same, parts[from].sent.end());
        EXPECT_EQ(same->at - out[to], piece.at - in[from]);
        ++received;
      }
    }
  }
  EXPECT_EQ(received, round.size());
}

TEST(GivenFiles, AreReadStrictly) {
  const std::vector<SharedCache::File> files{{"ledger.jsonl", 7, std::string(32, 'a')},
                                             {"selections/x.selection", 0, ""}};
  const std::vector<SharedCache::File> read = parse_files(to_json(files), "what rank 0 gives");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name, files[0].name);
  EXPECT_EQ(read[0].bytes, files[0].bytes);
  EXPECT_EQ(read[0].hash, files[0].hash);
  for (const char* bad :
       {"", "{}", "7", "[7]", R"([{"name":"a","bytes":1}])", R"([{"name":7,"bytes":1,"hash":""}])",
        R"([{"name":"a","bytes":-1,"hash":""}])", R"([{"name":"a","bytes":"1","hash":""}])",
        R"([{"name":"a","bytes":1,"hash":null}])"}) {
    try {
      parse_files(bad, "what rank 0 gives");
      ADD_FAILURE() << bad << " was read";
    } catch (const FormatError& error) {
      EXPECT_TRUE(has(error.what(), "what rank 0 gives")) << bad;
    }
  }
}

constexpr int kRanks = 3;

// Three machines. Some have a cache of four or more shards at "N/cache".
class PeerCopy : public testing::Test {
 protected:
  void SetUp() override {
    make(folder_ / "made", 3);
    manifest_ = Cache::open(folder_ / "made").manifest();
    ASSERT_GE(manifest_.shards.size(), 4U);
    for (int rank = 0; rank < kRanks; ++rank) fs::create_directories(memory(rank));
  }

  static void make(const fs::path& root, unsigned seed) {
    std::mt19937_64 random(seed);
    FakeSource source;
    source.mutable_class_names() = {"cat", "dog"};
    for (int i = 0; i < 120; ++i) {
      source.add("picture" + std::to_string(i), make_picture(random, 48, 48, 3), Split::kTrain,
                 {static_cast<std::int32_t>(i % 2)});
    }
    IngestOptions options;
    options.work.threads = 1;
    options.shard_bytes = 200'000;
    options.store = Store::kRaw;
    ingest(source, "/somewhere/pictures/", root, options, {});
    select(root, "first");
  }

  static void select(const fs::path& root, const std::string& name) {
    const Cache cache = Cache::open(root);
    dedup::Selection selection;
    selection.name = name;
    selection.cache_digest = cache.digest();
    cache.write_selection(selection);
  }

  fs::path cache(int rank) const { return folder_ / std::to_string(rank) / "cache"; }
  fs::path memory(int rank) const { return folder_ / std::to_string(rank) / "memory"; }
  void put(int rank, const std::string& which = "made") const {
    fs::remove_all(cache(rank));
    fs::copy(folder_ / which, cache(rank), fs::copy_options::recursive);
  }

  // The copies that the ranks get, or the messages of those that fail.
  struct Outcome {
    std::map<int, SharedCopy> copies;
    std::map<int, std::string> failures;
    int peers_failed = 0;
  };
  Outcome share(const std::function<void(int rank, ShareOptions&)>& adjust = {}) {
    Outcome outcome;
    std::mutex mutex;
    test::ThreadRanks(kRanks).run([&](comm::Communicator& comm) {
      const int rank = comm.rank();
      try {
        const auto has = find_cache(cache(rank), comm);
        const SharedCache shared = share_cache(cache(rank), memory(rank), has, comm);
        ShareOptions options{.segment_bytes = 1};
        options.copy.memory = memory(rank);
        options.copy.shards = Numbers();
        for (std::uint32_t shard = 0; shard < shared.manifest.shards.size(); ++shard) {
          if (shard % kRanks == static_cast<std::uint32_t>(rank))
            options.copy.shards->push_back(shard);
        }
        if (adjust) adjust(rank, options);
        SharedCopy copy = share_copies(cache(rank), shared, options, comm);
        const std::lock_guard lock(mutex);
        outcome.copies.emplace(rank, std::move(copy));
      } catch (const comm::PeerError&) {
        const std::lock_guard lock(mutex);
        ++outcome.peers_failed;
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        outcome.failures[rank] = error.what();
      }
    });
    return outcome;
  }

  // Everything in a rank's copy equals the original cache.
  void expect_as_made(int rank, const SharedCopy& got) const {
    const fs::path made = folder_ / "made";
    const fs::path root = got.files_at.empty() ? cache(rank) : got.files_at;
    for (const char* file :
         {"manifest.json", "ledger.jsonl", "fingerprints/table", "selections/first.selection"}) {
      EXPECT_EQ(read_file(root / file), read_file(made / file)) << file;
    }
    ASSERT_TRUE(got.copy);
    std::uint64_t bytes = 0;
    for (const auto& file : fs::directory_iterator(got.copy->folder())) {
      if (file.path().extension() != ".mdb") continue;
      EXPECT_EQ(read_file(file.path()), read_file(made / "shards" / file.path().filename()));
      bytes += file.file_size();
    }
    EXPECT_EQ(bytes, got.copy->bytes());
  }

  std::size_t folders(int rank) const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(memory(rank)), fs::directory_iterator()));
  }

  const TemporaryFolder folder_;
  Manifest manifest_;
};

TEST_F(PeerCopy, GiveWhatOthersLack) {
  for (const std::vector<int>& givers : {std::vector{0}, {2}, {0, 1}, {1, 2}}) {
    for (int rank = 0; rank < kRanks; ++rank) {
      fs::remove_all(cache(rank));
      drop_copies(cache(rank), "", memory(rank));
      EXPECT_EQ(folders(rank), 0U);
    }
    for (const int rank : givers) put(rank);
    const Outcome outcome = share();
    ASSERT_EQ(outcome.copies.size(), static_cast<std::size_t>(kRanks))
        << outcome.failures.begin()->second;
    for (const auto& [rank, got] : outcome.copies) {
      EXPECT_EQ(got.files_at.empty(), std::ranges::binary_search(givers, rank));
      EXPECT_FALSE(got.copy->joined());
      EXPECT_GT(got.given_bytes, 0U);
      expect_as_made(rank, got);
      // The copy can be used like the cache.
      const fs::path root = got.files_at.empty() ? cache(rank) : got.files_at;
      Numbers held;
      for (std::uint32_t i = static_cast<std::uint32_t>(rank); i < manifest_.shards.size();
           i += kRanks) {
        held.push_back(i);
      }
      const Cache opened = Cache::open(
          root, {.verify = Verify::kBlocks, .shards_at = got.copy->folder(), .held = held});
      EXPECT_EQ(opened.read_fingerprints().size(), 120U);
      EXPECT_EQ(opened.read_ledger().size(), 120U);
      EXPECT_EQ(opened.selections(), std::vector<std::string>{"first"});
      EXPECT_NO_THROW(opened.record(manifest_.shards[held.front()].first_id));
    }
  }
}

TEST_F(PeerCopy, JoinWhatIsThereWithThemOrWithout) {
  put(1);
  EXPECT_EQ(share().copies.size(), 3U);
  Outcome again = share();
  ASSERT_EQ(again.copies.size(), 3U);
  for (const auto& [rank, got] : again.copies) {
    EXPECT_TRUE(got.copy->joined());
    EXPECT_EQ(got.given_bytes, 0U);
    expect_as_made(rank, got);
  }
  again.copies.clear();
  // Rank 1 made its copy while it had the cache, so it has no other files.
  fs::remove_all(cache(1));
  const Outcome alone = share();
  EXPECT_EQ(alone.copies.size(), 0U);
  EXPECT_TRUE(has(alone.failures.at(1), "there is no cache at " + cache(1).string()));
  EXPECT_EQ(alone.peers_failed, 2);
  put(0);
  drop_copies(cache(1), "", memory(1));
  EXPECT_EQ(share().copies.size(), 3U);
  fs::remove_all(cache(0));
  drop_copies(cache(0), "", memory(0));
  put(2);  // now every rank has been without a cache
  EXPECT_EQ(share().copies.size(), 3U);
  fs::remove_all(cache(2));
  const Outcome none_has_it = share();
  ASSERT_EQ(none_has_it.copies.size(), 3U) << none_has_it.failures.begin()->second;
  for (const auto& [rank, got] : none_has_it.copies) {
    EXPECT_TRUE(got.copy->joined());
    expect_as_made(rank, got);
  }
  // Shards that no copy has cannot be had from anywhere.
  const Outcome others = share([](int rank, ShareOptions& options) {
    if (rank == 1) options.copy.shards = Numbers{0, 1, 2};
  });
  EXPECT_EQ(others.copies.size(), 0U);
  EXPECT_TRUE(has(others.failures.at(1), "no machine of this job has ")) << others.failures.at(1);
}

TEST_F(PeerCopy, BringASelectionThatWasMadeLater) {
  put(0);
  const Outcome first = share();
  select(cache(0), "later");
  fs::resize_file(first.copies.at(2).files_at / "selections" / "first.selection", 3);
  const Outcome second = share();  // while the first is in use
  ASSERT_EQ(second.copies.size(), 3U);
  for (const auto& [rank, got] : second.copies) {
    EXPECT_TRUE(got.copy->joined());
    expect_as_made(rank, got);
    const fs::path root = got.files_at.empty() ? cache(rank) : got.files_at;
    EXPECT_EQ(read_file(root / "selections" / "later.selection"),
              read_file(cache(0) / "selections" / "later.selection"));
  }
}

TEST_F(PeerCopy, ShareAFolderAsProcessesOfAMachineDo) {
  put(2);
  const auto all_in_one = [&](int, ShareOptions& options) {
    options.copy.memory = memory(0);
    options.copy.shards.reset();
  };
  const Outcome outcome = share(all_in_one);
  ASSERT_EQ(outcome.copies.size(), 3U) << outcome.failures.begin()->second;
  int made = 0;
  for (const auto& [rank, got] : outcome.copies) {
    made += got.copy->joined() ? 0 : 1;
    expect_as_made(rank, got);
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(folders(0), 1U);
}

TEST_F(PeerCopy, KeepTheRecordsOfPartitions) {
  put(1);
  const Outcome outcome = share([](int rank, ShareOptions& options) {
    options.copy.shards.reset();
    options.copy.partitions = {.begin = rank, .end = rank + 1, .of = kRanks};
  });
  ASSERT_EQ(outcome.copies.size(), 3U) << outcome.failures.begin()->second;
  const Cache whole = Cache::open(folder_ / "made");
  int held = 0;
  for (const auto& [rank, got] : outcome.copies) {
    const Cache part = Cache::open(got.files_at.empty() ? cache(rank) : got.files_at,
                                   {.shards_at = got.copy->folder()});
    for (SampleId id = 0; id < 120; ++id) {
      if (!part.holds(id)) continue;
      EXPECT_TRUE(std::ranges::equal(part.record(id).payload, whole.record(id).payload));
      ++held;
    }
  }
  EXPECT_EQ(held, 120);
}

TEST_F(PeerCopy, KeepTheRecordsOfTheirBlocks) {
  const Cache whole = Cache::open(folder_ / "made");
  for (const std::vector<int>& givers : {std::vector{1}, {0, 2}}) {
    for (int rank = 0; rank < kRanks; ++rank) {
      fs::remove_all(cache(rank));
      drop_copies(cache(rank), "", memory(rank));
    }
    for (const int rank : givers) put(rank);
    const auto parts =
        std::make_shared<const Parts>(hold_blocks(manifest_.shards, kRanks, /*replicas=*/1));
    const auto of_blocks = [&](int rank, ShareOptions& options) {
      options.parts = parts;
      options.machine = rank;
      options.copy.shards = shards_of(*parts, rank);
      options.copy.runs = runs_of(*parts, rank);
    };
    const Outcome outcome = share(of_blocks);
    ASSERT_EQ(outcome.copies.size(), 3U) << outcome.failures.begin()->second;
    std::uint64_t held = 0;
    std::uint64_t whole_bytes = 0;
    for (const ShardInfo& shard : manifest_.shards) whole_bytes += shard.bytes;
    for (const auto& [rank, got] : outcome.copies) {
      const std::vector<IdRun> runs = runs_of(*parts, rank);
      const Cache part = Cache::open(got.files_at.empty() ? cache(rank) : got.files_at,
                                     {.verify = Verify::kBlocks,
                                      .shards_at = got.copy->folder(),
                                      .held = shards_of(*parts, rank)});
      for (SampleId id = 0; id < 120; ++id) {
        ASSERT_EQ(part.holds(id), has_id(runs, id));
        if (!part.holds(id)) continue;
        EXPECT_TRUE(std::ranges::equal(part.record(id).payload, whole.record(id).payload));
        ++held;
      }
      // The same bytes as a copy made from disk.
      const fs::path alone = folder_ / "alone";
      fs::create_directories(alone);
      const ShardCopy from_disk = ShardCopy::get(
          folder_ / "made", {.memory = alone, .shards = shards_of(*parts, rank), .runs = runs});
      for (const auto& file : fs::directory_iterator(from_disk.folder())) {
        if (file.path().extension() != ".mdb") continue;
        EXPECT_EQ(read_file(file.path()), read_file(got.copy->folder() / file.path().filename()));
      }
    }
    EXPECT_EQ(held, 120U);
    // The parts that are kept are sent, and packs that the border of a block cuts in two.
    EXPECT_GT(outcome.copies.at(0).given_bytes, 120U * 48 * 48 * 3 / kRanks);
    const Outcome again = share(of_blocks);
    ASSERT_EQ(again.copies.size(), 3U);
    EXPECT_TRUE(again.copies.at(0).copy->joined());
    EXPECT_EQ(again.copies.at(0).given_bytes, 0U);
  }
}

// The record's checksum detects damage in a part, and nothing is left behind.
TEST_F(PeerCopy, OfBlocksRefuseADamagedPack) {
  put(1);
  const auto parts = std::make_shared<const Parts>(hold_blocks(manifest_.shards, kRanks, 1));
  const ShardInfo& shard = manifest_.shards.front();
  const fs::path path = cache(1) / shard.file;
  const std::vector<PackPlace> packs = find_packs(InputFile(path), shard);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(packs.back().begin + packs.back().bytes / 2));
  file << "!?!?";
  file.close();
  const Outcome outcome = share([&](int rank, ShareOptions& options) {
    options.parts = parts;
    options.machine = rank;
    options.copy.shards = shards_of(*parts, rank);
    options.copy.runs = runs_of(*parts, rank);
  });
  EXPECT_EQ(outcome.copies.size(), 0U);
  ASSERT_TRUE(outcome.failures.contains(1));
  EXPECT_TRUE(has(outcome.failures.at(1), path.string() + ", record ")) << outcome.failures.at(1);
  EXPECT_EQ(outcome.peers_failed, 2);
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(folders(rank), 0U) << rank;
}

TEST_F(PeerCopy, OnlyGive) {
  put(0);
  const Outcome outcome =
      share([](int rank, ShareOptions& options) { options.wants_copy = rank != 0; });
  ASSERT_EQ(outcome.copies.size(), 3U);
  EXPECT_FALSE(outcome.copies.at(0).copy);
  EXPECT_EQ(folders(0), 0U);
  expect_as_made(1, outcome.copies.at(1));
}

TEST_F(PeerCopy, RefuseAnotherCacheByName) {
  make(folder_ / "another", 4);
  put(0);
  put(2, "another");
  const Outcome outcome = share();
  EXPECT_EQ(outcome.copies.size(), 0U);
  EXPECT_TRUE(has(outcome.failures.at(2),
                  "rank 2 has another cache at " + cache(2).string() + " than rank 0"));
  EXPECT_EQ(outcome.peers_failed, 2);
}

TEST_F(PeerCopy, LeaveNothingWhereOneFails) {
  const auto fails = [&](int on, const std::string& words,
                         const std::function<void(int, ShareOptions&)>& adjust = {}) {
    const Outcome outcome = share(adjust);
    EXPECT_EQ(outcome.copies.size(), 0U);
    ASSERT_TRUE(outcome.failures.contains(on));
    EXPECT_TRUE(has(outcome.failures.at(on), words)) << outcome.failures.at(on);
    EXPECT_EQ(outcome.failures.size() + static_cast<std::size_t>(outcome.peers_failed), 3U);
    for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(folders(rank), 0U) << rank;
  };
  put(1);
  {  // a shard that differs from what was written
    const fs::path shard = cache(1) / manifest_.shards.back().file;
    std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000);
    file.put('!');
    file.close();
    fails(1, shard.string() + " is damaged: bytes 0 to ");
    fs::resize_file(shard, 8192);
    fails(1, "it has 8192 bytes instead of ");
    fs::remove(shard);
    fails(1, shard.string());
  }
  put(1);
  fs::resize_file(cache(1) / "fingerprints" / "table", 100);
  fails(1, "is damaged: its hash is not the one in the manifest");
  put(1);
  fs::remove_all(cache(1) / "shards");
  fails(1, (cache(1) / "shards").string());
  put(1);
  fails(0, "there is no folder ", [&](int rank, ShareOptions& options) {
    if (rank == 0) options.copy.memory = folder_ / "nowhere";
  });
  for (int stops = 0; stops < kRanks; ++stops) {
    for (const int after : {0, 2}) {
      fails(stops, "stopped on request", [&](int rank, ShareOptions& options) {
        if (rank != stops) return;
        options.copy.stop = [left = std::make_shared<int>(after)] { return (*left)-- <= 0; };
      });
    }
  }
  EXPECT_EQ(share().copies.size(), 3U);
}

}  // namespace winnow::pipeline::peer_copy_test
