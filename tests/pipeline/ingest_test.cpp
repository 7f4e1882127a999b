#include "pipeline/ingest/ingest.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json_text.h"
#include "common/resample.h"
#include "dedup/hash/features.h"
#include "dedup/hash/hashes.h"
#include "pipeline/decode/decode.h"
#include "pipeline/ingest/part.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/tally.h"
#include "tests/common/temporary_folder.h"
#include "tests/pipeline/fake_source.h"
#include "tests/pipeline/joint_reads.h"

namespace winnow::pipeline::ingest_test {

namespace fs = std::filesystem;
using datasets::ReadError;

// A source of `count` inputs with files of all kinds and every way to be unreadable. The same for
// the same seed.
FakeSource make_source(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  FakeSource source;
  source.mutable_class_names() = {"cat", "dog", "caf\xE9"};
  for (int i = 0; i < count; ++i) {
    const auto height = static_cast<int>(8 + random() % 60);
    const auto width = static_cast<int>(8 + random() % 60);
    const int channels = random() % 4 == 0 ? 1 : 3;
    const auto split = static_cast<Split>(random() % kSplitCount);
    std::vector<std::int32_t> labels;
    for (std::uint64_t k = random() % 3; k > 0; --k)
      labels.push_back(static_cast<int>(random() % 3));
    const std::string group = random() % 3 == 0 ? "group" + std::to_string(random() % 5) : "";
    const std::string name = "folder/" + std::to_string(i);
    const Image image = make_picture(random, height, width, channels);
    switch (i % 16) {
      case 3:
        source.add(name, encode_picture(image, ".png"), split, labels, group);
        break;
      case 5:
        source.add(name, image, split, labels, group);
        break;
      case 7:
        source.add(name, encode_picture(image, ".bmp"), split, labels, group);
        break;
      case 8: {
        Bytes cut = encode_picture(image, ".jpg");
        cut.resize(cut.size() * 2 / 3);
        source.add(name, cut, split);
        break;
      }
      case 9:
        source.add(name, Bytes(50, std::byte{'x'}), split);
        break;
      case 10:
        source.add_error(name, {ReadError::Kind::kMissing, "no such file"}, split);
        break;
      case 11:
        source.add(name, Bytes(), split);
        break;
      case 12: {
        // One image large enough for a pack of its own.
        const Image large = make_picture(random, 300, 400, 3);
        source.add(name, encode_picture(large, ".png"), split, labels, group);
        break;
      }
      case 13: {
        Bytes broken = encode_picture(image, ".png");
        broken[broken.size() / 2] ^= std::byte{0xFF};
        source.add(name, broken, split);
        break;
      }
      default:
        source.add(name, encode_picture(image, ".jpg"), split, labels, group);
    }
  }
  return source;
}

// Every file below `root` by name. Links are followed.
std::map<std::string, Bytes> read_tree(const fs::path& root) {
  std::map<std::string, Bytes> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(root, fs::directory_options::follow_directory_symlink)) {
    if (entry.is_regular_file()) {
      files[entry.path().lexically_relative(root).string()] = read_file(entry.path());
    }
  }
  return files;
}

std::vector<std::string> names_of(const std::map<std::string, Bytes>& files) {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files) names.push_back(name);
  return names;
}

// EXPECT_EQ would print megabytes.
void expect_same(const std::map<std::string, Bytes>& a, const std::map<std::string, Bytes>& b,
                 const std::string& what) {
  ASSERT_EQ(names_of(a), names_of(b)) << what;
  for (const auto& [name, bytes] : a) EXPECT_TRUE(bytes == b.at(name)) << what << ": " << name;
}

IngestOptions small_shards() {
  IngestOptions options;
  options.shard_bytes = 1'500'000;
  options.work.threads = 2;
  return options;
}

IngestResult run(const FakeSource& source, const fs::path& out, const IngestOptions& options) {
  return ingest(source, "/somewhere/pictures/", out, options, {});
}

template <class E, class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

FakeSource random_source(std::mt19937_64& random, std::uint64_t scale) {
  FakeSource source;
  for (auto count = random() % 900; count > 0; --count) source.add("", Bytes());
  source.change_entries([&](datasets::Entry& entry) {
    entry.input_bytes = scale * (random() % 5 == 0 ? random() % 9000 : random() % 90);
  });
  return source;
}

// Sources as placed in a new cache.
std::vector<PlacedSource> placed(std::initializer_list<const FakeSource*> sources) {
  std::vector<IngestSource> all;
  for (const FakeSource* source : sources) all.push_back({source, "pictures"});
  Manifest manifest;
  return place_sources(all, manifest);
}

TEST(PlanShards, CutsByInputBytes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const FakeSource source = random_source(random, 1);
    const datasets::Listing& entries = source.entries();
    const std::uint64_t bytes = 1 + random() % 5000;
    const auto size_of = [&](std::uint64_t begin, std::uint64_t end) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = begin; i < end; ++i) sum += entries.input_bytes(i);
      return sum;
    };
    std::uint64_t next = 0;
    for (const ShardPlan& shard : plan_shards(placed({&source}), bytes)) {
      ASSERT_EQ(shard.begin, next);
      ASSERT_LT(shard.begin, shard.end);
      next = shard.end;
      EXPECT_TRUE(shard.end - shard.begin == 1 || size_of(shard.begin, shard.end) <= bytes);
      if (shard.end < entries.size()) {  // nor is it smaller than necessary
        EXPECT_GT(size_of(shard.begin, shard.end + 1), bytes);
      }
    }
    EXPECT_EQ(next, entries.size());
  }
}

TEST(PlanChunks, CoverEveryShardInOrder) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    const FakeSource first = random_source(random, 500);
    const FakeSource second = random_source(random, 500);
    const auto sources = placed({&first, &second});
    const auto shards = plan_shards(sources, 1 + random() % 3'000'000);
    std::size_t shard = 0;
    std::vector<std::uint64_t> next(2);
    for (const ChunkPlan& chunk : plan_chunks(sources, shards, Store::kOriginal)) {
      ASSERT_LT(shard, shards.size());
      EXPECT_EQ(chunk.shard, shard);
      ASSERT_EQ(chunk.source, shards[shard].source);
      ASSERT_EQ(chunk.begin, next[chunk.source]);
      ASSERT_LT(chunk.begin, chunk.end);
      ASSERT_LE(chunk.end, shards[shard].end);
      EXPECT_LE(chunk.end - chunk.begin, kChunkEntries);
      EXPECT_EQ(chunk.ends_shard, chunk.end == shards[shard].end);
      next[chunk.source] = chunk.end;
      if (chunk.ends_shard) ++shard;
    }
    EXPECT_EQ(shard, shards.size());
    EXPECT_EQ(next[0], first.entries().size());
    EXPECT_EQ(next[1], second.entries().size());
  }
}

TEST(PlaceSources, ClassesKeepTheLabelsTheyHave) {
  FakeSource first;
  first.mutable_class_names() = {"cat", "dog"};
  FakeSource second;
  second.mutable_class_names() = {"ant", "cat", "eel"};
  FakeSource third;
  const std::vector<IngestSource> sources{{&first, "a/b/"}, {&second, "c"}, {&third, "./d"}};
  Manifest manifest;
  const auto all = place_sources(sources, manifest);
  EXPECT_EQ(manifest.classes, (std::vector<std::string>{"cat", "dog", "ant", "eel"}));
  EXPECT_TRUE(all[0].training_labels.empty());
  EXPECT_EQ(all[1].training_labels, (std::vector<std::int32_t>{2, 0, 3}));
  EXPECT_TRUE(all[2].training_labels.empty());
  EXPECT_EQ(all[2].ordinal, 2u);
  EXPECT_EQ(manifest.sources[0].name, "b");
  EXPECT_EQ(manifest.sources[2].name, "d");
  EXPECT_EQ(shard_name(all[0], {.source = 0, .number = 7}), "00007");
  EXPECT_EQ(shard_name(all[2], {.source = 2, .number = 123456}), "2-123456");
}

TEST(Tally, EqualsTheSumsWrittenOut) {
  std::mt19937_64 random(3);
  for (const bool with_train : {true, false}) {
    Tally whole;
    Tally halves[2];
    PixelSums want;
    for (int i = 0; i < 60; ++i) {
      const Image image = make_picture(random, static_cast<int>(1 + random() % 40),
                                       static_cast<int>(1 + random() % 70), i % 3 == 0 ? 1 : 3);
      const Split split = with_train && i % 2 == 0 ? Split::kTrain : Split::kTest;
      whole.add(image.view(), split);
      halves[i % 2].add(image.view(), split);
      if (with_train && split != Split::kTrain) continue;
      for (std::size_t p = 0; p < image.pixels.size();
           p += static_cast<std::size_t>(image.channels)) {
        ++want.pixels;
        for (std::size_t c = 0; c < 3; ++c) {
          const std::uint64_t value = image.pixels[p + (image.channels == 3 ? c : 0)];
          want.sum[c] += value;
          want.sum_of_squares[c] += value * value;
        }
      }
    }
    halves[0].add(halves[1]);
    EXPECT_EQ(whole, halves[0]);
    const ImageSummary got = summary_of(whole);
    EXPECT_EQ(got.pixel_sums, want);
    EXPECT_EQ(got.channels, 3);
    EXPECT_EQ(got.height_px, 0);
  }
}

// A white image with more bytes than 32-bit lanes can sum without being drained.
TEST(Tally, LargeWhiteImage) {
  Image white(2200, 2400, 1);
  std::fill(white.pixels.begin(), white.pixels.end(), std::uint8_t{255});
  Tally tally;
  tally.add(white.view(), Split::kNone);
  Manifest manifest;
  manifest.images = summary_of(tally);
  EXPECT_EQ(manifest.images.pixel_sums.sum[0], 255u * white.pixels.size());
  EXPECT_EQ(manifest.images.pixel_sums.sum_of_squares[0],
            std::uint64_t{255 * 255} * white.pixels.size());
  EXPECT_EQ(manifest.images.channels, 1);
  EXPECT_EQ(manifest.images.height_px, 2200);
  EXPECT_EQ(manifest.images.width_px, 2400);
}

TEST(Ingest, SameBytesForAnyThreadsAndMemory) {
  const TemporaryFolder folder;
  const FakeSource source = make_source(1, 400);
  for (const Store store : {Store::kOriginal, Store::kRaw, Store::kNone}) {
    IngestOptions options = small_shards();
    options.store = store;
    options.work.threads = 1;
    const fs::path first = folder / "first";
    const std::string digest = run(source, first, options).digest;
    const auto want = read_tree(first);
    EXPECT_GE(want.size(), store == Store::kNone ? 3u : 6u);
    for (const auto& [threads, memory] : {std::pair{2, 1u << 30}, {8, 1u << 30}, {8, 1u << 20}}) {
      options.work.threads = threads;
      options.work.memory_bytes = memory;
      const fs::path again = folder / "again";
      EXPECT_EQ(run(source, again, options).digest, digest);
      expect_same(read_tree(again), want,
                  std::to_string(threads) + " threads, " + std::to_string(memory) + " bytes");
      remove_cache(again);
      EXPECT_FALSE(fs::exists(again));
    }
    remove_cache(first);
  }
}

TEST(Ingest, CacheHoldsWhatTheSourceHas) {
  const TemporaryFolder folder;
  const FakeSource source = make_source(2, 300);
  for (const Store store : {Store::kOriginal, Store::kRaw}) {
    IngestOptions options = small_shards();
    options.store = store;
    const fs::path out = folder / (store == Store::kRaw ? "raw" : "original");
    const IngestResult result = run(source, out, options);
    const Cache cache = Cache::open(out, {Verify::kBlocks});
    EXPECT_EQ(cache.digest(), result.digest);
    EXPECT_EQ(cache.manifest().sources[0].name, "pictures");
    EXPECT_GE(cache.manifest().shards.size(), 2u);
    const dedup::Fingerprints table = cache.read_fingerprints();
    const auto ledger = cache.read_ledger();
    ASSERT_EQ(ledger.size(), source.entries().size());
    std::size_t row = 0;
    Tally tally;
    for (std::size_t i = 0; i < ledger.size(); ++i) {
      const datasets::Entry entry = source.entries()[i];
      EXPECT_EQ(ledger[i].id, i);
      EXPECT_EQ(ledger[i].name, entry.name);
      EXPECT_EQ(ledger[i].split, entry.split);
      const auto answer = source.read(i);
      std::optional<Image> image;
      const Bytes* encoded = answer ? std::get_if<Bytes>(&*answer) : nullptr;
      if (encoded != nullptr) {
        const auto decoded = decode(*encoded, {});
        if (decoded) image = *decoded;
      } else if (answer) {
        image = std::get<Image>(*answer);
      }
      EXPECT_EQ(ledger[i].fate == Fate::kOk, image.has_value()) << entry.name;
      EXPECT_EQ(ledger[i].reason.empty(), image.has_value()) << entry.name;
      if (!image) {
        EXPECT_THROW(cache.record(i), Error);
        continue;
      }
      tally.add(image->view(), entry.split);
      const RecordView record = cache.record(i);
      const bool raw = store == Store::kRaw || encoded == nullptr;
      EXPECT_EQ(record.coding, raw ? Coding::kRaw : Coding::kEncoded);
      EXPECT_EQ(record.split, entry.split);
      EXPECT_EQ(std::vector(record.labels.begin(), record.labels.end()), entry.labels);
      EXPECT_EQ(record.group, entry.group);
      EXPECT_EQ(record.height_px, image->height_px);
      EXPECT_EQ(record.width_px, image->width_px);
      EXPECT_EQ(record.channels, image->channels);
      const BytesView want = raw ? as_bytes(image->pixels) : BytesView(*encoded);
      EXPECT_TRUE(
          std::equal(want.begin(), want.end(), record.payload.begin(), record.payload.end()));

      ASSERT_LT(row, table.size());
      EXPECT_EQ(table.ids[row], i);
      EXPECT_EQ(table.splits[row], entry.split);
      EXPECT_EQ(std::vector(table.labels[row].begin(), table.labels[row].end()), entry.labels);
      EXPECT_EQ(std::string(table.group_keys[row].begin(), table.group_keys[row].end()),
                entry.group);
      EXPECT_EQ(table.heights_px[row], static_cast<std::uint32_t>(image->height_px));
      EXPECT_EQ(table.widths_px[row], static_cast<std::uint32_t>(image->width_px));
      EXPECT_EQ(table.file_bytes[row], encoded ? encoded->size() : image->pixels.size());
      ByteWriter pixels;
      pixels.put(image->height_px);
      pixels.put(image->width_px);
      pixels.put(image->channels);
      pixels.put_bytes(as_bytes(image->pixels));
      const Hash128 pixel_hash = xxh3_128(std::move(pixels).take());
      EXPECT_EQ(table.pixel_hashes[row], pixel_hash);
      EXPECT_EQ(table.file_hashes[row], encoded ? xxh3_128(*encoded) : pixel_hash);
      const Image gray = to_gray(image->view());
      EXPECT_EQ(table.sharpness[row], dedup::sharpness(gray.view()));
      EXPECT_EQ(table.quality[row], dedup::quality(gray.view()));
      for (const char* hash : {"phash", "phash16"}) {
        const auto code = dedup::compute_hash(image->view(), dedup::find_hash(hash));
        EXPECT_TRUE(std::ranges::equal(table.find_codes(hash)->code(row), code.words)) << hash;
      }
      ++row;
    }
    EXPECT_EQ(row, table.size());
    const ImageSummary want = summary_of(tally);
    EXPECT_EQ(cache.manifest().images.pixel_sums, want.pixel_sums);
    EXPECT_EQ(cache.manifest().images.split_counts, want.split_counts);
    EXPECT_THROW(cache.record(ledger.size()), Error);
    EXPECT_THROW(cache.record(make_sample_id(1, 0)), Error);
  }
}

TEST(Ingest, LedgerAddsUp) {
  const TemporaryFolder folder;
  FakeSource source = make_source(3, 160);
  source.add_error("io", {ReadError::Kind::kIo, "stale"});
  source.add_error("damaged", {ReadError::Kind::kCorrupt, "a wrong checksum"});
  std::mt19937_64 random(1);
  source.add("large", encode_picture(make_picture(random, 100, 101, 3), ".png"));
  IngestOptions options = small_shards();
  options.decode.max_pixels = 300 * 400;
  const Manifest all = run(source, folder / "all", options).manifest;
  options.decode.max_pixels = 10'000;
  const Manifest m = run(source, folder / "some", options).manifest;
  for (const Manifest& manifest : {all, m}) {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : manifest.inputs.by_fate) sum += count;
    EXPECT_EQ(sum, source.entries().size());
    EXPECT_EQ(manifest.inputs.total, source.entries().size());
    EXPECT_EQ(manifest.inputs.by_fate.at("truncated"), 10u);
    EXPECT_EQ(manifest.inputs.by_fate.at("unsupported") + manifest.inputs.by_fate.at("corrupt"),
              21u);
    EXPECT_EQ(manifest.inputs.by_fate.at("missing"), 10u);
    EXPECT_EQ(manifest.inputs.by_fate.at("empty"), 10u);
    EXPECT_EQ(manifest.inputs.by_fate.at("unreadable"), 1u);
  }
  EXPECT_EQ(all.inputs.by_fate.at("too_large"), 0u);
  EXPECT_EQ(m.inputs.by_fate.at("too_large"), 11u);
  EXPECT_EQ(all.inputs.by_fate.at("ok"), m.inputs.by_fate.at("ok") + 11);
}

TEST(Ingest, AnIoErrorThatPassesIsNoDamage) {
  const TemporaryFolder folder;
  FakeSource source = make_source(4, 3);
  std::atomic<int> failures{0};
  source.on_read = [&failures](std::size_t) -> std::optional<FakeSource::Answer> {
    if (++failures <= 2) return FakeSource::Answer(ReadError{ReadError::Kind::kIo, "busy"});
    return std::nullopt;
  };
  IngestOptions options = small_shards();
  options.work.threads = 1;
  EXPECT_EQ(run(source, folder / "cache", options).manifest.inputs.by_fate.at("ok"), 3u);
}

TEST(Ingest, EmptyListing) {
  const TemporaryFolder folder;
  const FakeSource source;
  run(source, folder / "cache", small_shards());
  const Cache cache = Cache::open(folder / "cache", {Verify::kBlocks});
  EXPECT_EQ(cache.read_fingerprints().size(), 0u);
  EXPECT_THROW(cache.record(0), Error);
}

TEST(Ingest, ShardsWithNothingReadable) {
  const TemporaryFolder folder;
  FakeSource source;
  for (int i = 0; i < 5; ++i) source.add("x", Bytes(500'000));
  std::mt19937_64 random(5);
  source.add("good", encode_picture(make_picture(random, 20, 20, 3), ".png"));
  run(source, folder / "cache", small_shards());
  const Cache cache = Cache::open(folder / "cache", {Verify::kBlocks});
  EXPECT_GT(cache.manifest().shards.size(), 1u);
  EXPECT_EQ(cache.manifest().shards[0].records, 0u);
  EXPECT_THROW(cache.record(0), Error);
  EXPECT_EQ(cache.record(5).id, 5u);
}

TEST(Ingest, NothingReadableIsRefusedAndLeavesNothing) {
  const TemporaryFolder folder;
  FakeSource source;
  for (int i = 0; i < 5; ++i) source.add("x" + std::to_string(i), Bytes(9));
  for (const Store store : {Store::kOriginal, Store::kNone}) {
    IngestOptions options = small_shards();
    options.store = store;
    try {
      run(source, folder / "cache", options);
      ADD_FAILURE() << "made a cache without images";
    } catch (const RefusedError& error) {
      EXPECT_NE(
          std::string(error.what()).find("none of the 5 inputs could be read: the first, x0,"),
          std::string::npos);
    }
    EXPECT_FALSE(fs::exists(folder / "cache"));
  }
}

TEST(Ingest, BytesInFlightAreBounded) {
  const TemporaryFolder folder;
  FakeSource source;
  std::mt19937_64 random(5);
  const Bytes png = encode_picture(make_picture(random, 400, 400, 3), ".png");
  const Bytes jpeg = encode_picture(make_picture(random, 90, 90, 3), ".jpg");
  for (int i = 0; i < 24; ++i) source.add("a", i % 4 == 0 ? jpeg : png);
  for (const Store store : {Store::kOriginal, Store::kRaw}) {
    for (const std::uint64_t memory : {2u << 20, 4u << 20}) {
      IngestOptions options;
      options.store = store;
      options.work.threads = 8;
      options.work.memory_bytes = memory;
      const IngestResult result = run(source, folder / "cache", options);
      EXPECT_EQ(result.manifest.inputs.by_fate.at("ok"), 24u);
      // One image (640 KB with its grey copy) fits into half of 2 MiB. In addition there may be a
      // transaction of packs that were made again, and one such pack with its pixels.
      EXPECT_LE(result.peak_in_flight_bytes, memory + (4u << 20) + 2 * 480'000);
      EXPECT_GE(result.peak_in_flight_bytes, 640'000u);
      remove_cache(folder / "cache");
    }
  }
}

TEST(Ingest, OptionsAreChecked) {
  const TemporaryFolder folder;
  const FakeSource source = make_source(1, 3);
  const auto refused = [&](auto change) {
    IngestOptions options = small_shards();
    change(options);
    EXPECT_THROW(run(source, folder / "cache", options), UsageError);
    EXPECT_FALSE(fs::exists(folder / "cache"));
  };
  refused([](IngestOptions& o) { o.hashes = {"nonsense"}; });
  refused([](IngestOptions& o) { o.hashes = {"phash", "phash"}; });
  refused([](IngestOptions& o) { o.shard_bytes = 0; });
  refused([](IngestOptions& o) { o.work.memory_bytes = 1000; });
  refused([](IngestOptions& o) { o.work.threads = -1; });
}

TEST(Ingest, RefusesWhatIsNotItsOwn) {
  const TemporaryFolder folder;
  const FakeSource source = make_source(1, 20);
  run(source, folder / "cache", small_shards());
  EXPECT_NE(message_of<UsageError>([&] {
              run(source, folder / "cache", small_shards());
            }).find("already contains a finished cache"),
            std::string::npos);
  EXPECT_NO_THROW(Cache::open(folder / "cache", {Verify::kBlocks}));
  EXPECT_FALSE(fs::exists(CachePaths{folder / "cache"}.unfinished()));

  fs::create_directories(folder / "photos");
  std::ofstream(folder / "photos/mine.txt") << "keep me";
  EXPECT_THROW(run(source, folder / "photos", small_shards()), UsageError);
  EXPECT_THROW(remove_cache(folder / "photos"), UsageError);
  EXPECT_EQ(read_text(folder / "photos/mine.txt"), "keep me");
  EXPECT_THROW(run(source, folder / "photos/mine.txt", small_shards()), UsageError);
  EXPECT_THROW(remove_cache(folder / "nothing"), UsageError);

  fs::create_directories(folder / "empty");
  EXPECT_NO_THROW(run(source, folder / "empty", small_shards()));
  std::ofstream(folder / "empty/notes.txt") << "mine";
  remove_cache(folder / "empty");
  EXPECT_EQ(read_tree(folder / "empty").size(), 1u);  // the notes
}

TEST(Ingest, OneAtATime) {
  const TemporaryFolder folder;
  FakeSource source = make_source(1, 20);
  const fs::path out = folder / "cache";
  std::once_flag once;
  source.on_read = [&](std::size_t) -> std::optional<FakeSource::Answer> {
    std::call_once(once, [&] {
      const FakeSource other = make_source(2, 3);
      EXPECT_NE(message_of<UsageError>([&] {
                  run(other, out, small_shards());
                }).find("another winnow is working"),
                std::string::npos);
      EXPECT_THROW(remove_cache(out), UsageError);
    });
    return std::nullopt;
  };
  EXPECT_EQ(run(source, out, small_shards()).manifest.inputs.total, 20u);
}

TEST(Ingest, WhatASourceThrowsEndsItInOrder) {
  const TemporaryFolder folder;
  const FakeSource good = make_source(6, 400);
  run(good, folder / "want", small_shards());
  FakeSource bad = make_source(6, 400);
  bad.on_read = [](std::size_t position) -> std::optional<FakeSource::Answer> {
    if (position == 250 || position == 390)
      throw SystemError("position " + std::to_string(position));
    return std::nullopt;
  };
  for (const int threads : {1, 8}) {
    IngestOptions options = small_shards();
    options.work.threads = threads;
    const fs::path out = folder / ("out" + std::to_string(threads));
    EXPECT_EQ(message_of<SystemError>([&] { run(bad, out, options); }), "position 250");
    EXPECT_NE(message_of<UsageError>([&] { Cache::open(out); }).find("was not finished"),
              std::string::npos);
    run(good, out, options);
    expect_same(read_tree(out), read_tree(folder / "want"), "rerun");
  }
}

// An ingest that stops at input 350, and the inputs that a rerun then reads.
class Rerun : public testing::Test {
 protected:
  void SetUp() override {
    run(source_, want_, small_shards());
    shards_ = plan_shards(placed({&source_}), small_shards().shard_bytes);
    begin_ = std::find_if(shards_.begin(), shards_.end(), [](const ShardPlan& shard) {
               return shard.end > 350;
             })->begin;  // start of the unfinished shard
    ASSERT_GT(begin_, shards_[1].begin);
  }
  void die(std::set<std::size_t> unreadable = {}) {
    source_.on_read = [unreadable](std::size_t position) -> std::optional<FakeSource::Answer> {
      if (position == 350) throw SystemError("stop");
      if (unreadable.contains(position)) {
        return FakeSource::Answer(ReadError{ReadError::Kind::kIo, "stale"});
      }
      return std::nullopt;
    };
    EXPECT_THROW(run(source_, out_, small_shards()), SystemError);
  }
  std::set<std::size_t> rerun(const IngestOptions& options) {
    std::set<std::size_t> read;
    std::mutex mutex;
    source_.on_read = [&](std::size_t position) -> std::optional<FakeSource::Answer> {
      const std::lock_guard lock(mutex);
      read.insert(position);
      return std::nullopt;
    };
    run(source_, out_, options);
    source_.on_read = nullptr;
    return read;
  }
  void expect_as_uninterrupted() const {
    expect_same(read_tree(out_), read_tree(want_), "rerun");
    EXPECT_NO_THROW(Cache::open(out_, {Verify::kBlocks}));
  }

  const TemporaryFolder folder_;
  FakeSource source_ = make_source(6, 400);
  fs::path want_ = folder_ / "want";
  fs::path out_ = folder_ / "out";
  std::vector<ShardPlan> shards_;
  std::uint64_t begin_ = 0;
};

TEST_F(Rerun, GoesOnAfterTheFinishedShards) {
  die();
  const auto read = rerun(small_shards());
  EXPECT_EQ(*read.begin(), begin_);
  EXPECT_EQ(read.size(), 400 - begin_);
  expect_as_uninterrupted();
}

TEST_F(Rerun, AStopSaysWhatIsKept) {
  IngestOptions options = small_shards();
  const auto count_kept = [this] {
    std::size_t kept = 0;
    std::error_code none;
    for (const auto& part : fs::directory_iterator(out_ / "parts", none)) {
      kept += part.path().extension().empty() ? 1U : 0U;
    }
    return kept;
  };
  options.work.stop = [&] { return count_kept() > 0; };
  const std::string said = message_of<StoppedError>([&] { run(source_, out_, options); });
  const std::size_t kept = count_kept();
  EXPECT_GT(kept, 0U);
  EXPECT_NE(said.find(std::to_string(kept) + " of " + std::to_string(shards_.size()) +
                      " shards are finished and kept"),
            std::string::npos)
      << said;
  rerun(small_shards());
  expect_as_uninterrupted();
  options.shard_bytes = 1u << 30;  // a single shard, of which nothing can be kept
  options.work.stop = [] { return true; };
  const std::string small =
      message_of<StoppedError>([&] { run(source_, folder_ / "small", options); });
  EXPECT_NE(small.find("0 of 1 shard is finished"), std::string::npos) << small;
  EXPECT_NE(small.find("cut at 1024 MiB of input"), std::string::npos) << small;
}

// Three sources. The second has classes that the first lacks.
class Sources : public testing::Test {
 protected:
  void SetUp() override {
    second_.mutable_class_names() = {"ant", "cat", "eel"};
    ingest_all({{&first_, "a/one"}, {&second_, "two"}, {&third_, "three"}}, want_, small_shards());
  }
  static IngestResult ingest_all(std::vector<IngestSource> sources, const fs::path& out,
                                 IngestOptions options, bool into = false) {
    options.target.into = into;
    return ingest(sources, out, options, {}, *comm::make_single());
  }
  // Ingests the first source alone; add_others() adds the rest.
  void ingest_first() { ingest_all({{&first_, "one"}}, out_, small_shards()); }
  IngestResult add_others(const IngestOptions& options = small_shards()) {
    return ingest_all({{&second_, "/else/two/"}, {&third_, "three"}}, out_, options, true);
  }

  const TemporaryFolder folder_;
  FakeSource first_ = make_source(21, 150);
  FakeSource second_ = make_source(22, 200);
  FakeSource third_ = make_source(23, 60);
  fs::path want_ = folder_ / "want";
  fs::path out_ = folder_ / "out";
};

TEST_F(Sources, HaveIdsAndLabelsOfTheirOwn) {
  const Cache cache = Cache::open(want_, {Verify::kBlocks});
  const Manifest& m = cache.manifest();
  EXPECT_EQ(m.inputs.total, 410u);
  EXPECT_EQ(m.classes, (std::vector<std::string>{"cat", "dog", "caf\xE9", "ant", "eel"}));
  EXPECT_EQ(m.sources[2].name, "three");
  const dedup::Fingerprints table = cache.read_fingerprints();
  std::set<std::uint32_t> seen;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const SampleId id = table.ids[row];
    seen.insert(source_of(id));
    const RecordView record = cache.record(id);
    EXPECT_TRUE(std::ranges::equal(record.labels, table.labels[row]));
    const FakeSource& source = source_of(id) == 0 ? first_ : source_of(id) == 1 ? second_ : third_;
    const auto labels = source.entries().labels(position_of(id));
    ASSERT_EQ(labels.size(), record.labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      EXPECT_EQ(m.classes[static_cast<std::size_t>(record.labels[i])],
                source.class_names()[static_cast<std::size_t>(labels[i])]);
    }
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST_F(Sources, AddedLaterGiveWhatAllAtOnceGives) {
  ingest_first();
  const auto before = read_tree(out_);
  EXPECT_EQ(add_others().inputs_done, 260u);
  expect_same(read_tree(out_), read_tree(want_), "added");
  for (const auto& [name, bytes] : before) {
    EXPECT_TRUE(!name.starts_with("shards/") || read_tree(out_).at(name) == bytes) << name;
  }
  // Adding them again does nothing.
  const IngestResult again = add_others();
  EXPECT_EQ(again.inputs_done, 0u);
  EXPECT_EQ(again.sources_there, 2u);
  EXPECT_EQ(again.digest, Cache::open(want_).digest());
  expect_same(read_tree(out_), read_tree(want_), "added twice");
}

TEST_F(Sources, AddingThatDiesLeavesTheCacheAsItWasAndIsGoneOnWith) {
  ingest_first();
  const std::string digest = Cache::open(out_).digest();
  second_.on_read = [](std::size_t position) -> std::optional<FakeSource::Answer> {
    if (position == 190) throw SystemError("stop");
    return std::nullopt;
  };
  EXPECT_THROW(add_others(), SystemError);
  EXPECT_EQ(Cache::open(out_, {Verify::kBlocks}).digest(), digest);
  EXPECT_THROW(ingest_first(), UsageError);
  std::atomic<int> reads{0};
  second_.on_read = [&](std::size_t) -> std::optional<FakeSource::Answer> {
    ++reads;
    return std::nullopt;
  };
  add_others();
  EXPECT_LT(reads, 200);
  EXPECT_GT(reads, 9);
  expect_same(read_tree(out_), read_tree(want_), "gone on");
}

TEST_F(Sources, WhatDiedIsClearedForOthers) {
  ingest_first();
  third_.on_read = [](std::size_t) -> std::optional<FakeSource::Answer> {
    throw SystemError("stop");
  };
  EXPECT_THROW(add_others(), SystemError);
  third_.on_read = nullptr;
  ingest_all({{&second_, "two"}}, out_, small_shards(), true);
  ingest_all({{&third_, "three"}}, out_, small_shards(), true);
  expect_same(read_tree(out_), read_tree(want_), "one by one");
}

// The state after a kill between writing the manifest and finishing.
TEST_F(Sources, TablesThatWereNotYetMovedAreFound) {
  ingest_first();
  add_others();
  const CachePaths paths{out_};
  const Manifest manifest = Cache::open(out_).manifest();
  fs::rename(paths.fingerprints(), paths.added_fingerprints(manifest.tables.fingerprints_hash));
  fs::rename(paths.ledger(), paths.added_ledger(manifest.tables.ledger_hash));
  std::ofstream(paths.fingerprints()) << "old";
  std::ofstream(paths.ledger()) << "old";
  std::ofstream(paths.unfinished()) << "marker";
  const Cache cache = Cache::open(out_);
  EXPECT_EQ(cache.read_fingerprints().size(), manifest.inputs.by_fate.at("ok"));
  EXPECT_EQ(cache.read_ledger().size(), manifest.inputs.total);
  EXPECT_EQ(add_others().inputs_done, 0u);
  expect_same(read_tree(out_), read_tree(want_), "caught up on");
}

TEST_F(Sources, ChangedOnesAndOtherSettingsAreRefused) {
  ingest_first();
  const auto before = read_tree(out_);
  const FakeSource changed = make_source(99, 150);
  EXPECT_NE(message_of<UsageError>([&] {
              ingest_all({{&changed, "one"}}, out_, small_shards(), true);
            }).find("has a source called 'one' with other files"),
            std::string::npos);
  IngestOptions other = small_shards();
  other.hashes = {"dhash"};
  EXPECT_NE(message_of<UsageError>([&] { add_others(other); }).find("made with other settings"),
            std::string::npos);
  other = small_shards();
  other.target.thumbnails = false;
  EXPECT_NE(message_of<UsageError>([&] { add_others(other); }).find("made with other settings"),
            std::string::npos);
  FakeSource broken;
  broken.add("x", Bytes(10, std::byte{'x'}));
  EXPECT_THROW(ingest_all({{&broken, "broken"}}, out_, small_shards(), true), RefusedError);
  expect_same(read_tree(out_), before, "refused");
  EXPECT_THROW(ingest_all({{&second_, "two"}}, folder_ / "none", small_shards(), true), UsageError);
}

TEST_F(Sources, OptionsOfACacheAreThoseItWasMadeWith) {
  const IngestOptions options = options_of(Cache::open(want_).manifest());
  EXPECT_EQ(options.hashes, small_shards().hashes);
  EXPECT_EQ(options.shard_bytes, small_shards().shard_bytes);
  EXPECT_EQ(options.store, Store::kOriginal);
  EXPECT_EQ(options.decode, DecodeSettings{});
  EXPECT_TRUE(options.target.thumbnails);
}

TEST_F(Sources, WithoutThumbnailsGiveTheSameButForThem) {
  IngestOptions options = small_shards();
  options.target.thumbnails = false;
  ingest_all({{&first_, "one"}}, out_, options);
  add_others(options);
  const Cache without = Cache::open(out_);
  const Cache with = Cache::open(want_);
  EXPECT_EQ(without.open_thumbnails(), nullptr);
  EXPECT_EQ(without.thumbnail_bytes(), 0U);
  EXPECT_FALSE(options_of(without.manifest()).target.thumbnails);
  dedup::Fingerprints table = with.read_fingerprints();
  EXPECT_EQ(with.thumbnail_bytes(), table.thumbnails.values.size() * 64);
  ASSERT_EQ(table.thumbnails.size(), table.size());
  const dedup::Ragged<dedup::ThumbnailBlock> some = with.open_thumbnails()(7, 5);
  for (std::size_t row = 0; row < 5; ++row) {
    EXPECT_TRUE(std::ranges::equal(some[row], table.thumbnails[row + 7]));
  }
  table.thumbnails = {};
  EXPECT_EQ(dedup::serialize(without.read_fingerprints()), dedup::serialize(table));
}

// Storage with latency is read by more threads, with the same result. If memory is short, readers
// wait for it.
TEST_F(Sources, ManyReadersGiveTheSame) {
  JointReads reads;
  for (FakeSource* const source : {&first_, &second_, &third_}) {
    source->on_read = [&](std::size_t) -> std::optional<FakeSource::Answer> {
      reads.read();
      return std::nullopt;
    };
  }
  IngestOptions options = small_shards();
  options.work.readers = 7;
  for (const std::uint64_t memory_bytes : {64u << 20, 1u << 20}) {
    options.work.memory_bytes = memory_bytes;
    const fs::path out = folder_ / std::to_string(memory_bytes);
    const IngestResult result =
        ingest_all({{&first_, "one"}, {&second_, "two"}, {&third_, "three"}}, out, options);
    EXPECT_TRUE(reads.joint());
    EXPECT_GE(result.times[Stage::kRead].threads, memory_bytes > 1u << 20 ? 2 : 1);
    EXPECT_LE(result.times[Stage::kRead].threads, 7);
    expect_same(read_tree(out), read_tree(want_), "many readers");
    // Makes it likely that threads wait for memory.
    for (FakeSource* const source : {&first_, &second_, &third_}) {
      source->on_read = [](std::size_t) -> std::optional<FakeSource::Answer> {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return std::nullopt;
      };
    }
  }
}

TEST(Ingest, RemarksAreOnAllInputsAfterAnInterruptionToo) {
  const TemporaryFolder folder;
  FakeSource source;
  std::mt19937_64 random(2);
  for (int i = 0; i < 400; ++i) {
    Bytes jpeg = encode_picture(make_picture(random, 40, 40, 3), ".jpg");
    if (i % 5 == 0) jpeg.insert(jpeg.end() - 2, 50, std::byte{0x11});  // before its end marker
    source.add(std::to_string(i), i % 7 == 0 ? Bytes(20, std::byte{'x'}) : jpeg);
  }
  IngestOptions options = small_shards();
  options.shard_bytes = 20'000;
  source.on_read = [](std::size_t position) -> std::optional<FakeSource::Answer> {
    if (position == 350) throw SystemError("stop");
    return std::nullopt;
  };
  EXPECT_THROW(run(source, folder / "warned", options), SystemError);
  source.on_read = nullptr;
  const IngestResult result = run(source, folder / "warned", options);
  EXPECT_LT(result.inputs_done, 300U);
  EXPECT_EQ(result.manifest.inputs.by_fate.at("ok"), 342U);
  EXPECT_EQ(result.remarks.warned, 68U);  // 80, of which 12 are no images
  ASSERT_EQ(result.remarks.unsupported.size(), 1U);
  EXPECT_EQ(result.remarks.unsupported.begin()->second, 58U);
  std::uint64_t rows = 0;
  for (const LedgerRow& row : Cache::open(folder / "warned").read_ledger()) {
    rows += row.fate == Fate::kOk && !row.reason.empty() ? 1 : 0;
  }
  EXPECT_EQ(rows, 68U);
}

TEST_F(Rerun, InputsTheSystemWouldNotGiveAreTriedAgain) {
  die({shards_[0].end});
  const auto read = rerun(small_shards());
  EXPECT_EQ(*read.begin(), shards_[1].begin);
  EXPECT_EQ(read.size(), 400 - begin_ + shards_[1].end - shards_[1].begin);
  expect_as_uninterrupted();
}

TEST_F(Rerun, DamagedPartsAndShardsAreDoneAgain) {
  die();
  const CachePaths paths{out_};
  const fs::path part = parts_folder(paths) / "00000";
  ASSERT_TRUE(fs::exists(part));
  fs::resize_file(part, fs::file_size(part) - 1);
  fs::resize_file(out_ / "shards/00001.mdb", 100);
  const auto read = rerun(small_shards());
  EXPECT_TRUE(read.contains(0));
  EXPECT_TRUE(read.contains(shards_[1].begin));
  expect_as_uninterrupted();
}

TEST_F(Rerun, OtherOptionsOrAnotherListingBeginAnew) {
  die();
  IngestOptions options = small_shards();
  options.hashes = {"dhash"};
  EXPECT_EQ(rerun(options).size(), 400u);
  run(source_, folder_ / "fresh", options);
  expect_same(read_tree(out_), read_tree(folder_ / "fresh"), "other options");
  remove_cache(out_);

  die();
  source_.change_entries([](datasets::Entry& entry) { entry.name += "x"; });
  EXPECT_EQ(rerun(small_shards()).size(), 400u);
}

// With little memory, the writer makes packs again. If an input has changed by then, that is an
// error; the record would not match its fingerprints.
TEST(Ingest, ASourceThatChangesUnderneathIsNoticed) {
  const TemporaryFolder folder;
  FakeSource source;
  std::mt19937_64 random(9);
  const Bytes first = encode_picture(make_picture(random, 700, 700, 3), ".png");
  const Bytes second = encode_picture(make_picture(random, 700, 700, 3), ".png");
  ASSERT_GT(first.size(), 1u << 18);
  source.add("a", first);
  source.add("b", first);
  std::map<std::size_t, int> reads;
  std::mutex mutex;
  source.on_read = [&](std::size_t position) -> std::optional<FakeSource::Answer> {
    const std::lock_guard lock(mutex);
    if (++reads[position] > 1) return FakeSource::Answer(second);
    return std::nullopt;
  };
  IngestOptions options = small_shards();
  options.work.memory_bytes = 1u << 20;
  options.work.threads = 1;
  options.shard_bytes = 1u << 30;
  EXPECT_NE(message_of<Error>([&] {
              run(source, folder / "cache", options);
            }).find("input 'b' changed while"),
            std::string::npos);
}

TEST(Ingest, ReportsProgress) {
  const TemporaryFolder folder;
  const FakeSource source = make_source(1, 300);
  std::vector<std::uint64_t> done;
  ingest(source, "pictures", folder / "cache", small_shards(), [&done](const Progress& progress) {
    EXPECT_EQ(progress.total, 300u);
    done.push_back(progress.done);
  });
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  ASSERT_FALSE(done.empty());
  EXPECT_EQ(done.back(), 300u);
}

class InMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory("/dev/shm") || ::access("/dev/shm", W_OK) != 0) {
      GTEST_SKIP() << "there is no /dev/shm to write into here";
    }
  }
  const TemporaryFolder folder_;
};

TEST_F(InMemory, SameBytesBehindALink) {
  const FakeSource source = make_source(1, 200);
  IngestOptions options = small_shards();
  run(source, folder_ / "disk", options);
  options.target.memory = true;
  const fs::path out = folder_ / "memory";
  run(source, out, options);
  const fs::path link = CachePaths{out}.shards();
  ASSERT_TRUE(fs::is_symlink(link));
  const fs::path target = fs::read_symlink(link);
  EXPECT_EQ(target.parent_path(), "/dev/shm");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_all);
  expect_same(read_tree(out), read_tree(folder_ / "disk"), "memory");

  // As after a reboot.
  const fs::path moved = target.string() + ".moved";
  fs::rename(target, moved);
  EXPECT_NE(message_of<FormatError>([&] { Cache::open(out); }).find("were kept in memory at"),
            std::string::npos);
  fs::rename(moved, target);
  EXPECT_NO_THROW(Cache::open(out, {Verify::kBlocks}));
  remove_cache(out);
  EXPECT_FALSE(fs::exists(target));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(InMemory, LeftoversOfADeadRunAreCleared) {
  FakeSource source = make_source(1, 200);
  IngestOptions options = small_shards();
  options.target.memory = true;
  const fs::path out = folder_ / "cache";
  source.on_read = [](std::size_t position) -> std::optional<FakeSource::Answer> {
    if (position == 150) throw SystemError("stop");
    return std::nullopt;
  };
  EXPECT_THROW(run(source, out, options), SystemError);
  const fs::path target = fs::read_symlink(CachePaths{out}.shards());
  EXPECT_TRUE(fs::exists(target));
  fs::remove_all(CachePaths{out}.shards());  // the link; the folder is found by its name
  std::ofstream(target / "leftover.mdb") << "x";
  source.on_read = nullptr;
  run(source, out, options);
  EXPECT_EQ(fs::read_symlink(CachePaths{out}.shards()), target);
  EXPECT_FALSE(fs::exists(target / "leftover.mdb"));
  EXPECT_NO_THROW(Cache::open(out, {Verify::kBlocks}));
  remove_cache(out);
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(InMemory, RefusedBeforeAnythingIsWritten) {
  FakeSource source = make_source(1, 20);
  source.change_entries([](datasets::Entry& entry) { entry.input_bytes = std::uint64_t{1} << 45; });
  IngestOptions options = small_shards();
  options.target.memory = true;
  const std::string message =
      message_of<UsageError>([&] { run(source, folder_ / "cache", options); });
  EXPECT_NE(message.find("MiB of memory, but only "), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
}

// If another user made a folder of that name (anyone can), it is not used.
TEST_F(InMemory, AForeignFolderIsNotUsed) {
  const FakeSource source = make_source(1, 20);
  IngestOptions options = small_shards();
  options.target.memory = true;
  const fs::path out = folder_ / "cache";
  run(source, out, options);
  const fs::path target = fs::read_symlink(CachePaths{out}.shards());
  remove_cache(out);
  fs::create_directories(folder_ / "victim");
  std::ofstream(folder_ / "victim/file") << "keep me";
  fs::create_symlink(folder_ / "victim", target);
  EXPECT_THROW(run(source, out, options), SystemError);
  EXPECT_EQ(read_tree(folder_ / "victim").size(), 1u);
  fs::remove(target);
}

TEST(FullDisk, IsASentence) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "small");
  const fs::path mount = folder / "small";
  if (::mount("winnow-test", mount.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a small tmpfs is not allowed here: " << std::strerror(errno);
  }
  const FakeSource source = make_source(1, 400);
  std::string message = message_of<SystemError>([&] { run(source, mount, small_shards()); });
  EXPECT_NE(message.find("o space left"), std::string::npos) << message;
  EXPECT_THROW(Cache::open(mount), UsageError);
  // With more room, the same command succeeds.
  ASSERT_EQ(::mount("winnow-test", mount.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  run(source, mount, small_shards());
  run(source, folder / "want", small_shards());
  expect_same(read_tree(mount), read_tree(folder / "want"), "after a full disk");
  ASSERT_EQ(::umount(mount.c_str()), 0);
}

class OpenCache : public testing::Test {
 protected:
  void SetUp() override {
    source_ = make_source(7, 200);
    run(source_, out_, small_shards());
    paths_ = {out_};
    shard_ = out_ / "shards/00001.mdb";
    ASSERT_TRUE(fs::exists(shard_));
  }
  std::string refusal(Verify verify = Verify::kSizes) {
    return message_of<FormatError>([&] { Cache::open(out_, {verify}); });
  }
  static void flip(const fs::path& file, std::uint64_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const int byte = stream.get();
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(static_cast<char>(byte ^ 0x10));
  }

  const TemporaryFolder folder_;
  FakeSource source_;
  fs::path out_ = folder_ / "cache";
  CachePaths paths_;
  fs::path shard_;
};

TEST_F(OpenCache, NoCacheThere) {
  EXPECT_NE(
      message_of<UsageError>([&] { Cache::open(folder_ / "none"); }).find("there is no cache at"),
      std::string::npos);
  fs::create_directories(folder_ / "other");
  EXPECT_NE(
      message_of<UsageError>([&] { Cache::open(folder_ / "other"); }).find("no manifest.json"),
      std::string::npos);
}

TEST_F(OpenCache, ACutShard) {
  fs::resize_file(shard_, fs::file_size(shard_) - 1);
  EXPECT_NE(refusal().find("00001.mdb is damaged: it has"), std::string::npos);
}

TEST_F(OpenCache, AMissingShard) {
  fs::remove(shard_);
  EXPECT_NE(refusal().find("00001.mdb"), std::string::npos);
  fs::remove_all(paths_.shards());
  EXPECT_NE(refusal().find("is missing"), std::string::npos);
}

TEST_F(OpenCache, EveryFlippedByteIsFoundByItsBlock) {
  std::mt19937_64 random(1);
  const std::uint64_t size = fs::file_size(shard_);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t at = random() % size;
    flip(shard_, at);
    EXPECT_NE(refusal(Verify::kBlocks).find("is damaged: bytes 0 to"), std::string::npos);
    flip(shard_, at);
  }
  EXPECT_EQ(refusal(Verify::kBlocks), "");
}

// Not all blocks are verified: a record is read correctly or not at all, and nothing crashes.
TEST_F(OpenCache, AFlippedByteNeverGivesAWrongRecord) {
  std::mt19937_64 random(2);
  const std::uint64_t size = fs::file_size(shard_);
  const std::uint64_t count = source_.entries().size();
  std::vector<Bytes> want(count);
  {
    const Cache cache = Cache::open(out_);
    for (std::uint64_t id = 0; id < count; ++id) {
      try {
        const BytesView payload = cache.record(id).payload;
        want[id].assign(payload.begin(), payload.end());
      } catch (const Error&) {
      }
    }
  }
  int noticed = 0;
  for (int i = 0; i < 150; ++i) {
    const std::uint64_t at = i < 50 ? random() % 300 : random() % size;
    flip(shard_, at);
    try {
      const Cache cache = Cache::open(out_);
      for (std::uint64_t id = 0; id < count; ++id) {
        try {
          const BytesView payload = cache.record(id).payload;
          EXPECT_TRUE(std::equal(payload.begin(), payload.end(), want[id].begin(), want[id].end()));
        } catch (const Error&) {
          noticed += want[id].empty() ? 0 : 1;
        }
      }
    } catch (const FormatError&) {
      ++noticed;
    }
    flip(shard_, at);
  }
  EXPECT_GT(noticed, 50);
}

TEST_F(OpenCache, ChangedFingerprintsAndLedger) {
  flip(paths_.fingerprints(), 100);
  flip(paths_.ledger(), 40);
  const Cache cache = Cache::open(out_);
  EXPECT_THROW(cache.read_fingerprints(), FormatError);
  EXPECT_THROW(cache.read_ledger(), FormatError);
  fs::remove(paths_.ledger());
  EXPECT_THROW(cache.read_ledger(), FormatError);
}

// A later version may add fields to the manifest without changing the others.
TEST_F(OpenCache, FieldsThatNobodyKnowsArePartOfTheDigest) {
  std::string text = read_text(paths_.manifest());
  text.erase(2, text.find('\n', 2) - 1);  // the line with the digest
  text.insert(2, "  \"later\": [1, 2],\n");
  write_file_durably(paths_.manifest(), with_digest_line(text));
  const Cache cache = Cache::open(paths_.root);
  EXPECT_EQ(cache.digest(), digest_of_json(text));
  EXPECT_NE(cache.digest(), digest(cache.manifest()));
}

TEST_F(OpenCache, ANewerManifest) {
  std::string text = read_text(paths_.manifest());
  const std::size_t at = text.find("\"version\": 1");
  ASSERT_NE(at, std::string::npos);
  text[at + 11] = '9';
  std::ofstream(paths_.manifest()) << text;
  EXPECT_NE(refusal().find("written by a newer winnow (manifest version 9"), std::string::npos);
}

TEST_F(OpenCache, Selections) {
  const Cache cache = Cache::open(out_);
  const dedup::Fingerprints table = cache.read_fingerprints();
  dedup::Selection selection;
  selection.name = "strict";
  selection.settings = "{}";
  selection.cache_digest = cache.digest();
  for (std::size_t i = 0; i < table.size(); ++i) {
    selection.ids.push_back(table.ids[i]);
    selection.weights.push_back(1);
    selection.components.push_back(static_cast<std::uint32_t>(i));
    selection.kept.push_back(table.ids[i]);
    selection.distances.push_back(0);
    selection.rules.push_back(dedup::Rule::kKept);
  }
  EXPECT_NE(message_of<UsageError>([&] { cache.read_selection("strict"); }).find("it has none"),
            std::string::npos);
  cache.write_selection(selection);
  EXPECT_EQ(dedup::serialize(cache.read_selection("strict")), dedup::serialize(selection));
  EXPECT_NE(message_of<UsageError>([&] { cache.read_selection("loose"); }).find("it has strict"),
            std::string::npos);
  for (const char* name : {"", "../x", ".hidden", "a/b", "a b"}) {
    EXPECT_THROW(cache.read_selection(name), UsageError) << name;
    selection.name = name;
    EXPECT_THROW(cache.write_selection(selection), UsageError) << name;
    write_file_durably(paths_.selection("forged"), dedup::serialize(selection));
    EXPECT_NE(message_of<FormatError>([&] { cache.read_selection("forged"); }).find("damaged"),
              std::string::npos)
        << name;
  }
  selection.name = "other";
  selection.cache_digest = std::string(32, '0');
  EXPECT_THROW(cache.write_selection(selection), UsageError);
  write_file_durably(paths_.selection("other"), dedup::serialize(selection));
  EXPECT_NE(message_of<UsageError>([&] { cache.read_selection("other"); }).find("another cache"),
            std::string::npos);
}

}  // namespace winnow::pipeline::ingest_test
