#include "pipeline/ingest/chunk.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include "common/error.h"
#include "common/resample.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::chunk_test {

FakeSource make_source() {
  std::mt19937_64 random(1);
  FakeSource source;
  for (int i = 0; i < 120; ++i) {
    const Image image = make_picture(random, 20 + i % 7, 30 + i % 5, i % 4 == 0 ? 1 : 3);
    switch (i % 6) {
      case 0:
        source.add("pixels", image);
        break;
      case 1:
        source.add("broken", Bytes(40));
        break;
      case 2:
        source.add("png", encode_picture(image, ".png"));
        break;
      case 3:
        source.add("large", encode_picture(make_picture(random, 400, 400, 3), ".png"));
        break;
      default:
        source.add("jpeg", encode_picture(image, ".jpg"));
    }
  }
  return source;
}

std::vector<ChunkPlan> make_plans(const FakeSource& source) {
  std::vector<ChunkPlan> plans;
  for (std::uint64_t begin = 0; begin < source.entries().size(); begin += 15) {
    plans.push_back({.shard = 0, .begin = begin, .end = begin + 15, .ends_shard = false});
  }
  return plans;
}

std::vector<PlacedSource> placed(const FakeSource& source) {
  const IngestSource one{&source, "pictures"};
  Manifest manifest;
  return place_sources(std::span(&one, 1), manifest);
}

// Reads the inputs of a chunk and makes it.
Chunk make(const ChunkMaker& maker, const std::vector<PlacedSource>& sources,
           const ChunkPlan& plan) {
  return maker.make(plan, read_chunk(plan, sources, {}));
}

void expect_same(const Chunk& a, const Chunk& b) {
  EXPECT_EQ(dedup::serialize(a.fingerprints), dedup::serialize(b.fingerprints));
  EXPECT_EQ(to_json_lines(a.ledger), to_json_lines(b.ledger));
  EXPECT_EQ(a.tally, b.tally);
  ASSERT_EQ(a.packs.size(), b.packs.size());
  for (std::size_t i = 0; i < a.packs.size(); ++i) EXPECT_TRUE(a.packs[i].pack == b.packs[i].pack);
}

// Uses threads of its own instead of TBB's, so that the thread sanitizer can check them.
TEST(ChunkMaker, ManyThreadsMakeTheSame) {
  const FakeSource source = make_source();
  const auto plans = make_plans(source);
  const auto sources = placed(source);
  Gates plenty(1u << 30);
  const ChunkMaker alone(sources, {}, plenty);
  std::vector<Chunk> want;
  for (const ChunkPlan& plan : plans) want.push_back(make(alone, sources, plan));

  Gates gates(1u << 30);
  const ChunkMaker shared(sources, {}, gates);
  std::vector<Chunk> got(plans.size());
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < plans.size(); i = next++)
        got[i] = make(shared, sources, plans[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < plans.size(); ++i) expect_same(got[i], want[i]);
}

TEST(ChunkMaker, ItCanBeEndedBeforeAnyInput) {
  const FakeSource source = make_source();
  const auto sources = placed(source);
  Gates gates(1u << 30);
  const ChunkMaker maker(sources, {}, gates);
  int asked = 0;
  const auto check = [&asked] {
    if (++asked == 6) throw StoppedError("stop");
  };
  const ChunkPlan plan = make_plans(source).front();
  EXPECT_THROW(maker.make(plan, read_chunk(plan, sources, {}), check), StoppedError);
  EXPECT_EQ(asked, 6);
}

TEST(ChunkMaker, PacksThatWereNotKeptAreMadeAgain) {
  const FakeSource source = make_source();
  const auto sources = placed(source);
  struct Case {
    Store store;
    int resize;
    VariantSettings variants{};
  };
  const VariantSettings variants{
      .copies = 7, .recipe = Recipe::kCifar, .height_px = 40, .width_px = 30, .seed = 2};
  for (const Case& c :
       {Case{Store::kOriginal, 0}, Case{Store::kRaw, 0}, Case{Store::kOriginal, 240},
        Case{Store::kRaw, 350}, Case{Store::kRaw, 0, variants}}) {
    Gates plenty(1u << 30);
    IngestOptions options;
    options.store = c.store;
    options.resize.short_side_px = c.resize;
    options.variants = c.variants;
    const ChunkMaker maker(sources, options, plenty);
    // 100 KB for keeping packs: less than those of a chunk, and less than one large pack
    Gates little(400'000);
    const ChunkMaker poor(sources, options, little);
    int lost = 0;
    int kept = 0;
    for (const ChunkPlan& plan : make_plans(source)) {
      const Chunk want = make(maker, sources, plan);
      Chunk got = make(poor, sources, plan);
      for (Pack& pack : got.packs) {
        (pack.pack.empty() ? lost : kept) += 1;
        EXPECT_EQ(pack.pack.size(), pack.credit.bytes());
        if (pack.pack.empty()) poor.make_again(got, pack);
      }
      expect_same(got, want);
    }
    EXPECT_GT(lost, 0);
    EXPECT_GT(kept, 0);
    EXPECT_TRUE(little.kept.none().try_grow_to(100'000));  // everything was given back
  }
}

// The rules of docs/formats/shard.md.
TEST(ChunkMaker, PacksAreCutByCountAndSize) {
  FakeSource source;
  for (int i = 0; i < 130; ++i) source.add("small", Image(4, 4, 1));
  source.add("over", Image(513, 512, 1));
  source.add("half", Image(256, 512, 1));
  source.add("half", Image(256, 512, 1));
  source.add("one more", Image(1, 1, 1));
  const auto sources = placed(source);
  Gates gates(1u << 30);
  const ChunkMaker maker(sources, {}, gates);
  const Chunk chunk = make(maker, sources, {.begin = 0, .end = 134, .ends_shard = true});
  std::vector<std::size_t> counts;
  for (const Pack& pack : chunk.packs) counts.push_back(unpack_records(pack.pack, "pack").size());
  EXPECT_EQ(counts, (std::vector<std::size_t>{64, 64, 2, 1, 2, 1}));
}

// Leaves out samples 2 and 4 of make_source().
LeftOut two_left_out(SampleId stands_for_4) {
  return {.decisions = {.name = {},
                        .settings = {},
                        .cache_digest = {},
                        .ids = {2, 4},
                        .weights = {0, 0},
                        .components = {0, 1},
                        .kept = {0, stands_for_4},
                        .distances = {3, 0},
                        .rules = {dedup::Rule::kDuplicate, dedup::Rule::kLeak}},
          .warnings = {{4, "2 extraneous bytes"}}};
}

TEST(ChunkMaker, BooksWhatIsLeftOutWithoutReadingIt) {
  FakeSource source = make_source();
  const ChunkPlan plan = make_plans(source).front();
  auto sources = placed(source);
  Gates gates(1u << 30);
  const Chunk all = make(ChunkMaker(sources, {}, gates), sources, plan);

  const LeftOut left_out = two_left_out(3);
  IngestOptions options;
  options.target.left_out = &left_out;
  sources.front().left_out = left_out.decisions.ids;
  std::vector<std::size_t> read;
  source.on_read = [&read](std::size_t position) -> std::optional<FakeSource::Answer> {
    read.push_back(position);
    return std::nullopt;
  };
  const Chunk chunk = make(ChunkMaker(sources, options, gates), sources, plan);
  EXPECT_EQ(read, (std::vector<std::size_t>{0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));

  auto ledger = all.ledger;
  ledger[2].fate = ledger[4].fate = Fate::kDuplicate;
  ledger[2].reason = "'pixels', id 0, stands for it: distance 3, rule duplicate";
  ledger[4].reason =
      "'large', id 3, stands for it: distance 0, rule leak; the decoder warned: 2 extraneous bytes";
  EXPECT_EQ(to_json_lines(chunk.ledger), to_json_lines(ledger));
  auto ids = all.fingerprints.ids;
  std::erase_if(ids, [](SampleId id) { return id == 2 || id == 4; });
  EXPECT_EQ(chunk.fingerprints.ids, ids);
  std::vector<SampleId> stored;
  for (const Pack& pack : chunk.packs) {
    for (const Pack::Item& item : pack.items) stored.push_back(item.position);
  }
  EXPECT_EQ(stored, ids);
}

TEST(ChunkMaker, RefusesToLeaveOutWhatNothingStandsFor) {
  const FakeSource source = make_source();
  auto sources = placed(source);
  Gates gates(1u << 30);
  const LeftOut left_out = two_left_out(1);  // an unreadable input
  IngestOptions options;
  options.target.left_out = &left_out;
  sources.front().left_out = left_out.decisions.ids;
  const ChunkMaker maker(sources, options, gates);
  EXPECT_THROW(make(maker, sources, make_plans(source).front()), Error);
}

TEST(ChunkMaker, RefusesAStandInThatNoSourceHas) {
  const FakeSource source = make_source();
  auto sources = placed(source);
  Gates gates(1u << 30);
  const LeftOut left_out = two_left_out(make_sample_id(3, 5));
  IngestOptions options;
  options.target.left_out = &left_out;
  sources.front().left_out = left_out.decisions.ids;
  const ChunkMaker maker(sources, options, gates);
  EXPECT_THROW(make(maker, sources, make_plans(source).front()), Error);
}

// The JPEG with an EXIF segment of this orientation.
Bytes with_orientation(const Bytes& jpeg, std::uint8_t orientation) {
  const std::array<std::uint8_t, 36> segment{
      0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M',         0, 42, 0, 0, 0, 8,
      0,    1,    1, 18, 0,   3,   0,   0,   0, 1, 0,   orientation, 0, 0,  0, 0, 0, 0};
  Bytes out = jpeg;
  const auto bytes = std::as_bytes(std::span(segment));
  out.insert(out.begin() + 2, bytes.begin(), bytes.end());
  return out;
}

TEST(ChunkMaker, KeepsThumbnailsOfTheSizeThatTheTableSays) {
  std::mt19937_64 random(8);
  FakeSource source;
  std::vector<Image> pictures;
  for (const auto& [height, width] : {std::pair{300, 400}, {40, 30}, {700, 9}, {333, 500}}) {
    pictures.push_back(make_picture(random, height, width, width % 2 == 0 ? 3 : 1));
    source.add(std::to_string(height), encode_picture(pictures.back(), ".png"));
  }
  source.add("broken", Bytes(40));
  const auto sources = placed(source);
  for (const bool wanted : {true, false}) {
    for (const std::string hash : {"phash", "phash@1/8"}) {
      Gates gates(1u << 30);
      IngestOptions options;
      options.hashes = {hash};
      options.target.thumbnails = wanted;
      const ChunkMaker maker(sources, options, gates);
      const dedup::Fingerprints table =
          make(maker, sources, {.begin = 0, .end = 5, .ends_shard = true}).fingerprints;
      ASSERT_EQ(table.size(), pictures.size());
      ASSERT_EQ(table.thumbnails.size(), wanted ? table.size() : 0U);
      EXPECT_NO_THROW(dedup::check_table(table, "the chunk's"));
      for (std::size_t row = 0; row < table.thumbnails.size() && hash == "phash"; ++row) {
        const auto blocks =
            dedup::to_blocks(dedup::thumbnail(to_gray(pictures[row].view()).view()));
        EXPECT_TRUE(std::ranges::equal(table.thumbnails[row], blocks)) << row;
      }
    }
  }
}

TEST(ChunkMaker, CountsWhatIsToBeTurnedWhetherItIsOrNot) {
  std::mt19937_64 random(7);
  const Bytes upright = encode_picture(make_picture(random, 20, 30, 3), ".jpg");
  FakeSource source;
  source.add("upright", upright);
  source.add("says so", with_orientation(upright, 1));
  source.add("turned", with_orientation(upright, 6));
  source.add("mirrored", with_orientation(upright, 2));
  source.add("broken", Bytes(40));
  const auto sources = placed(source);
  for (const Orientation orientation : {Orientation::kIgnore, Orientation::kApply}) {
    Gates gates(1u << 30);
    IngestOptions options;
    options.decode.orientation = orientation;
    const ChunkMaker maker(sources, options, gates);
    const Chunk chunk = make(maker, sources, {.begin = 0, .end = 5, .ends_shard = true});
    EXPECT_EQ(chunk.oriented, 2U);
    ASSERT_EQ(chunk.fingerprints.audit.size(), 4U);
    EXPECT_EQ(chunk.fingerprints.audit[1].orientation, 1U);
    EXPECT_EQ(chunk.fingerprints.audit[2].orientation, 6U);
    EXPECT_EQ(chunk.fingerprints.audit[3].orientation, 2U);
    EXPECT_EQ(chunk.fingerprints.widths_px[2], orientation == Orientation::kApply ? 20U : 30U);
  }
}

}  // namespace winnow::pipeline::chunk_test
