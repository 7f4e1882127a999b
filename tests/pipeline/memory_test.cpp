#include "pipeline/store/memory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <latch>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "common/error.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/shard_part.h"
#include "tests/common/temporary_folder.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::memory_test {

namespace fs = std::filesystem;
using Numbers = std::vector<std::uint32_t>;

template <class E>
std::string message_of(const auto& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Storage, IsKnownByTheNumberOfTheFileSystem) {
  for (const std::uint64_t magic : {0x6969ULL, 0xff534d42ULL, 0xfe534d42ULL, 0x0bd00bd0ULL,
                                    0x65735546ULL, 0x01021997ULL, 0x47504653ULL}) {
    EXPECT_EQ(storage_of(magic), Storage::kNetwork) << std::hex << magic;
  }
  EXPECT_EQ(storage_of(0x01021994), Storage::kMemory);  // tmpfs
  for (const std::uint64_t magic : {0xef53ULL, 0x58465342ULL, 0x9123683eULL, 0x794c7630ULL}) {
    EXPECT_EQ(storage_of(magic), Storage::kDisk) << std::hex << magic;  // ext4 XFS Btrfs overlay
  }
}

class Copy : public testing::Test {
 protected:
  void SetUp() override {
    make(root_, 200'000);
    fs::create_directories(memory_);
    manifest_ = Cache::open(root_).manifest();
    ASSERT_GE(manifest_.shards.size(), 4U);
  }

  static void make(const fs::path& root, std::uint64_t shard_bytes) {
    std::mt19937_64 random(3);
    FakeSource source;
    source.mutable_class_names() = {"cat", "dog"};
    for (int i = 0; i < 120; ++i) {
      source.add("picture" + std::to_string(i), make_picture(random, 48, 48, 3), Split::kTrain,
                 {static_cast<std::int32_t>(i % 2)});
    }
    IngestOptions options;
    options.work.threads = 1;
    options.shard_bytes = shard_bytes;
    options.store = Store::kRaw;
    ingest(source, "/somewhere/pictures/", root, options, {});
  }

  ShardCopy get(CopyOptions options = {}) {
    options.memory = memory_;
    options.note = [this](const std::string& sentence) { notes_ += sentence + "\n"; };
    return ShardCopy::get(root_, options);
  }

  std::size_t folders() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(memory_), fs::directory_iterator()));
  }

  const TemporaryFolder folder_;
  const fs::path root_ = folder_ / "cache";
  const fs::path memory_ = folder_ / "memory";
  Manifest manifest_;
  std::string notes_;
};

TEST_F(Copy, HasTheRecordsOfTheCacheAndIsShared) {
  const ShardCopy first = get();
  EXPECT_FALSE(first.joined());
  const ShardCopy second = get();
  EXPECT_TRUE(second.joined());
  EXPECT_EQ(first.folder(), second.folder());
  EXPECT_EQ(fs::status(first.folder()).permissions(), fs::perms::owner_all);
  const Cache disk = Cache::open(root_);
  fs::rename(root_ / "shards", root_ / "shards.away");  // nothing is read from there
  const Cache memory = Cache::open(root_, {.shards_at = first.folder()});
  for (SampleId id = 0; id < 120; ++id) {
    const RecordView a = disk.record(id);
    const RecordView b = memory.record(id);
    EXPECT_TRUE(std::ranges::equal(a.payload, b.payload)) << id;
    EXPECT_TRUE(memory.holds(id));
  }
}

TEST_F(Copy, OfAPartHoldsThatAndNamesWhatItDoesNot) {
  const ShardCopy part = get({.shards = Numbers{1, 3}});
  EXPECT_EQ(part.bytes(), manifest_.shards[1].bytes + manifest_.shards[3].bytes);
  const Cache cache =
      Cache::open(root_, {.shards_at = part.folder(), .held = std::vector<std::uint32_t>{1, 3}});
  for (std::size_t i = 0; i < manifest_.shards.size(); ++i) {
    const SampleId id = manifest_.shards[i].first_id;
    EXPECT_EQ(cache.holds(id), i == 1 || i == 3) << i;
    if (cache.holds(id)) {
      EXPECT_NO_THROW(cache.record(id));
    } else {
      const std::string message = message_of<Error>([&] { cache.record(id); });
      EXPECT_TRUE(has(message, "is not stored on this machine")) << message;
      EXPECT_TRUE(has(message, manifest_.shards[i].file)) << message;
    }
  }
  EXPECT_FALSE(cache.holds(5000));
  // Another part is another folder. A whole copy serves for any part.
  EXPECT_NE(get({.shards = Numbers{0}}).folder(), part.folder());
  const ShardCopy whole = get();
  EXPECT_EQ(get({.shards = Numbers{0, 2}}).folder(), whole.folder());
}

TEST_F(Copy, OfPartitionsHasTheirRecordsAlone) {
  const Cache disk = Cache::open(root_);
  std::uint64_t bytes = 0;
  std::vector<int> times(120, 0);
  for (const Partitions part : {Partitions{0, 1, 3}, Partitions{1, 3, 3}}) {
    const ShardCopy copy = get({.partitions = part});
    EXPECT_FALSE(copy.joined());
    EXPECT_TRUE(get({.partitions = part}).joined());
    bytes += copy.bytes();
    const Cache cache = Cache::open(root_, {.verify = Verify::kBlocks, .shards_at = copy.folder()});
    for (SampleId id = 0; id < 120; ++id) {
      ASSERT_EQ(cache.holds(id), part.has(id)) << id;
      if (part.has(id)) {
        ++times[id];
        EXPECT_TRUE(std::ranges::equal(cache.record(id).payload, disk.record(id).payload)) << id;
      } else {
        EXPECT_THROW(cache.record(id), Error) << id;
      }
    }
    const auto rows = list_copies(memory_);
    EXPECT_EQ(std::ranges::count(rows, part, &CopyRow::partitions), 1);
  }
  EXPECT_EQ(times, std::vector<int>(120, 1));
  std::uint64_t whole = 0;
  for (const ShardInfo& shard : manifest_.shards) whole += shard.bytes;
  EXPECT_LT(bytes, whole + whole / 3);  // LMDB's pages are not full
  EXPECT_EQ(folders(), 2U);
  // A machine with nothing to hold has no partition.
  EXPECT_FALSE(Cache::open(root_, {.shards_at = get({.partitions = {1, 1, 3}}).folder()}).holds(0));
  // A file of another size is damaged. The manifest knows only the size of the whole shard.
  const ShardCopy copy = get({.partitions = {0, 1, 3}});
  fs::resize_file(copy.folder() / "00001.mdb", 4096);
  EXPECT_THROW(Cache::open(root_, {.shards_at = copy.folder()}), FormatError);
  EXPECT_THROW(get({.partitions = {0, 1, 3}}), FormatError);
}

TEST_F(Copy, OfPartitionsOfADamagedShardIsRefusedAndNothingStays) {
  std::fstream file(root_ / manifest_.shards[1].file,
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(5000);
  file.put('!');
  file.close();
  EXPECT_THROW(get({.partitions = {0, 1, 2}}), FormatError);
  EXPECT_EQ(folders(), 0U);
}

TEST_F(Copy, OfIdsHasTheirRecordsAloneInPacksOfTheCache) {
  const Cache disk = Cache::open(root_);
  std::vector<int> times(120, 0);
  // A whole shard and the ends of two packs, and then the rest.
  const SampleId first = manifest_.shards[1].first_id;
  const SampleId last = manifest_.shards[1].last_id;
  const std::vector<IdRun> some{{first - 3, last + 5}, {100, 100}};
  const std::vector<IdRun> others{{0, first - 4}, {last + 6, 99}, {101, 119}};
  for (const std::vector<IdRun>& runs : {some, others}) {
    Numbers shards;
    for (std::uint32_t i = 0; i < manifest_.shards.size(); ++i) {
      const ShardInfo& shard = manifest_.shards[i];
      if (has_any(runs, {shard.first_id, shard.last_id})) shards.push_back(i);
    }
    const ShardCopy copy = get({.shards = shards, .runs = runs});
    EXPECT_FALSE(copy.joined());
    EXPECT_TRUE(get({.shards = shards, .runs = runs}).joined());
    const Cache cache =
        Cache::open(root_, {.verify = Verify::kBlocks, .shards_at = copy.folder(), .held = shards});
    for (SampleId id = 0; id < 120; ++id) {
      ASSERT_EQ(cache.holds(id), has_id(runs, id)) << id;
      if (!cache.holds(id)) {
        const std::string message = message_of<Error>([&] { cache.record(id); });
        EXPECT_TRUE(has(message, "is not stored on this machine")) << message;
        continue;
      }
      ++times[id];
      EXPECT_TRUE(std::ranges::equal(cache.record(id).payload, disk.record(id).payload)) << id;
    }
    // The files contain nothing else.
    std::size_t found = 0;
    for (const std::uint32_t shard : shards) {
      cache.for_each_packed_size(shard, [&](SampleId id, std::size_t) {
        EXPECT_TRUE(has_id(runs, id));
        ++found;
      });
    }
    EXPECT_EQ(found, count_ids(runs));
    const auto rows = list_copies(memory_);
    EXPECT_EQ(std::ranges::count(rows, std::optional(count_ids(runs)), &CopyRow::ids), 1);
    EXPECT_EQ(rows.front().of_ids, 120U);
  }
  EXPECT_EQ(times, std::vector<int>(120, 1));
  // A machine with nothing to hold gets an empty copy.
  const ShardCopy none = get({.shards = Numbers(), .runs = std::vector<IdRun>()});
  EXPECT_EQ(none.bytes(), 0U);
  EXPECT_FALSE(Cache::open(root_, {.shards_at = none.folder(), .held = Numbers()}).holds(0));
  EXPECT_EQ(folders(), 3U);
  // A whole copy serves for any ids.
  const ShardCopy whole = get();
  EXPECT_EQ(get({.shards = Numbers{0}, .runs = std::vector<IdRun>{{0, 1}}}).folder(),
            whole.folder());
}

// A machine reads only its own part: damage elsewhere does not matter.
TEST_F(Copy, OfIdsReadsTheirPacksAlone) {
  const fs::path root = folder_ / "larger";
  make(root, 100'000'000);
  const ShardInfo shard = Cache::open(root).manifest().shards.front();
  const InputFile file(root / shard.file);
  const std::vector<PackPlace> packs = find_packs(file, shard);
  ASSERT_GE(packs.size(), 3U);
  const PackPlace& spoiled = packs.back();
  std::fstream out(file.path(), std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(static_cast<std::streamoff>(spoiled.begin + spoiled.bytes / 2));
  out << "!?!?";
  out.close();
  const auto of = [&](SampleId first, SampleId last) {
    return ShardCopy::get(
        root, {.memory = memory_, .shards = Numbers{0}, .runs = std::vector<IdRun>{{first, last}}});
  };
  EXPECT_NO_THROW(of(shard.first_id, spoiled.ids.first - 1));
  const std::string message = message_of<FormatError>([&] { of(shard.first_id, shard.last_id); });
  EXPECT_TRUE(has(message, (root / shard.file).string())) << message;
  EXPECT_TRUE(has(message, "damaged")) << message;
  EXPECT_EQ(folders(), 1U);
  fs::resize_file(file.path(), shard.bytes - 4096);
  EXPECT_TRUE(has(message_of<FormatError>([&] { of(shard.last_id, shard.last_id); }), "it has "));
  EXPECT_EQ(folders(), 1U);
}

TEST_F(Copy, IsMadeOnceByManyAtATimeThatKeepIt) {
  for (int round = 0; round < 5; ++round) {
    constexpr int kUsers = 6;
    std::latch all_have_it(kUsers);
    std::vector<std::thread> threads;
    std::vector<int> made(kUsers, 0);
    for (int& by_this : made) {
      threads.emplace_back([&] {
        const ShardCopy copy = ShardCopy::get(root_, {.memory = memory_});
        by_this = copy.joined() ? 0 : 1;
        all_have_it.arrive_and_wait();  // no copy is released before all have it
        EXPECT_NO_THROW(
            Cache::open(root_, {.verify = Verify::kBlocks, .shards_at = copy.folder()}));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::accumulate(made.begin(), made.end(), 0), 1);
    EXPECT_EQ(folders(), 1U);
    drop_copies(root_, "", memory_);
  }
}

TEST_F(Copy, IsPinnedByManyAtATime) {
  for (int round = 0; round < 20; ++round) {
    const ShardCopy unpinned = get();
    EXPECT_FALSE(list_copies(memory_).at(0).pinned);
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&] {
        EXPECT_TRUE(ShardCopy::get(root_, {.memory = memory_, .pinned = true}).joined());
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(list_copies(memory_).at(0).pinned);
    fs::remove(unpinned.folder() / "pinned");
  }
}

TEST_F(Copy, OfAnotherVersionIsLeftAlone) {
  const fs::path other = get({.shards = Numbers{0}}).folder();
  std::ofstream(other / "copy.json") << R"({"version": 2})";
  EXPECT_FALSE(get().joined());
  EXPECT_TRUE(fs::exists(other / "copy.json"));
  EXPECT_EQ(list_copies(memory_).size(), 1U);
  drop_copies(root_, "", memory_);
  EXPECT_TRUE(
      has(message_of<FormatError>([&] { get({.shards = Numbers{0}}); }), "another version"));
}

TEST_F(Copy, OfADamagedShardIsRefusedAndNothingStays) {
  const fs::path shard = root_ / manifest_.shards[2].file;
  std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(5000);
  file.put('!');
  file.close();
  const std::string message = message_of<FormatError>([&] { get(); });
  EXPECT_TRUE(has(message, shard.string() + " is damaged: bytes 0 to ")) << message;
  EXPECT_EQ(folders(), 0U);
  fs::resize_file(shard, 8192);
  EXPECT_TRUE(has(message_of<FormatError>([&] { get(); }), "it has 8192 bytes instead of "));
  EXPECT_EQ(folders(), 0U);
  EXPECT_NO_THROW(get({.shards = Numbers{0, 1}}));  // these shards are undamaged
}

TEST_F(Copy, IsDroppedWhenNobodyUsesIt) {
  {
    const ShardCopy used = get({.pinned = true});
    const std::string message =
        message_of<UsageError>([&] { drop_copies(root_, used.cache_digest(), memory_); });
    EXPECT_TRUE(has(message, "process " + std::to_string(::getpid()))) << message;
    EXPECT_EQ(folders(), 1U);
    const auto rows = list_copies(memory_);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows[0].in_use && rows[0].pinned);
    EXPECT_EQ(rows[0].users, std::vector<int>{::getpid()});
    EXPECT_EQ(rows[0].cache, fs::canonical(root_));
    EXPECT_EQ(rows[0].shards, manifest_.shards.size());
  }
  // An open cache that reads the copy also counts as a user.
  const fs::path folder = get().folder();
  {
    const Cache cache = Cache::open(root_, {.shards_at = folder});
    EXPECT_THROW(drop_copies(root_, "", memory_), UsageError);
  }
  EXPECT_EQ(drop_copies(folder_ / "another", "", memory_).size(), 0U);
  EXPECT_EQ(drop_copies(root_, "", memory_).size(), 1U);
  EXPECT_EQ(folders(), 0U);
  EXPECT_NO_THROW(Cache::open(root_, {Verify::kBlocks}));
}

TEST_F(Copy, LeftHalfMadeByADeadProcessIsMadeAgain) {
  const fs::path folder = get().folder();
  fs::remove(folder / "copy.json");
  fs::resize_file(folder / "00000.mdb", 4096);
  std::ofstream(folder / "00001.mdb.tmp") << "begun";
  EXPECT_EQ(list_copies(memory_).at(0).state, CopyRow::State::kHalfMade);
  const ShardCopy again = get();
  EXPECT_FALSE(again.joined());
  EXPECT_FALSE(fs::exists(folder / "00001.mdb.tmp"));
  EXPECT_NO_THROW(Cache::open(root_, {.verify = Verify::kBlocks, .shards_at = again.folder()}));
}

TEST_F(Copy, OfAnotherCacheIsRemovedWhereItWasLeftHalfMade) {
  const fs::path part = get({.shards = Numbers{0}}).folder();
  const fs::path kept = get({.shards = Numbers{1}}).folder();
  fs::remove(part / "copy.json");
  get();
  EXPECT_FALSE(fs::exists(part));
  EXPECT_TRUE(fs::exists(kept));  // there is room
  EXPECT_TRUE(has(notes_, "removed " + part.string())) << notes_;
}

TEST_F(Copy, IsNotMadeOverWhatIsNotOurs) {
  const fs::path folder = get().folder();
  fs::rename(folder, memory_ / "elsewhere");
  fs::create_directory_symlink(memory_ / "elsewhere", folder);
  EXPECT_TRUE(has(message_of<UsageError>([&] { get(); }), "is a link or belongs to another user"));
}

TEST_F(Copy, OfACacheThatWasReplacedIsNotReadFor) {
  const ShardCopy copy = get();
  std::mt19937_64 random(4);
  FakeSource source;
  source.mutable_class_names() = {"cat", "dog"};
  source.add("another", make_picture(random, 48, 48, 3), Split::kTrain, {0});
  remove_cache(root_);
  ingest(source, "/somewhere/else/", root_, {}, {});
  EXPECT_TRUE(
      has(message_of<FormatError>([&] { Cache::open(root_, {.shards_at = copy.folder()}); }),
          "which has been replaced since"));
}

TEST_F(Copy, ThatLostAShardSaysHowToGetItBack) {
  const fs::path folder = get().folder();
  fs::remove(folder / "00001.mdb");
  EXPECT_TRUE(has(message_of<FormatError>([&] { get(); }), "winnow cache drop"));
}

TEST_F(Copy, StopsWhenAsked) {
  EXPECT_THROW(get({.stop = [] { return true; }}), StoppedError);
  EXPECT_EQ(folders(), 0U);
}

TEST_F(Copy, ACacheInUseIsNotRemoved) {
  {
    const Cache cache = Cache::open(root_);
    EXPECT_TRUE(has(message_of<UsageError>([&] { remove_cache(root_); }), "process "));
    EXPECT_NO_THROW(cache.record(0));
  }
  remove_cache(root_);
  EXPECT_FALSE(fs::exists(root_));
}

}  // namespace winnow::pipeline::memory_test
