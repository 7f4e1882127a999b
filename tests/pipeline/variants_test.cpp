// Variants that an ingest makes: how they are stored, which of them training sees, and that nothing
// else changes.
#include "pipeline/augment/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "pipeline/compact/compact.h"
#include "pipeline/decode/decode.h"
#include "pipeline/ingest/chunk.h"
#include "pipeline/ingest/drop.h"
#include "pipeline/ingest/estimate.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/order.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/json_internal.h"
#include "pipeline/store/verify.h"
#include "tests/common/temporary_folder.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::variants_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kCopies = 5;
constexpr VariantSettings kVariants{
    .copies = kCopies, .recipe = Recipe::kCifar, .height_px = 24, .width_px = 20, .seed = 9};

// Inputs of all splits: grey and colour, encoded and raw, of the stored size and others, some
// broken.
FakeSource make_source(int count = 40) {
  std::mt19937_64 random(3);
  FakeSource source;
  source.mutable_class_names() = {"cat", "dog"};
  for (int i = 0; i < count; ++i) {
    const auto split = i % 2 == 0 ? Split::kTrain : static_cast<Split>(i / 2 % kSplitCount);
    const Image image = i % 5 == 0 ? make_picture(random, 24, 20, i % 3 == 0 ? 1 : 3)
                                   : make_picture(random, 10 + i, 90 - i, i % 3 == 0 ? 1 : 3);
    const std::string name = "picture " + std::to_string(100 + i);
    if (i == 7 || i == 12) {
      source.add(name, Bytes(30), split);
    } else if (i % 4 == 0) {
      source.add(name, image, split, {i % 2}, "group " + std::to_string(i / 8));
    } else {
      source.add(name, encode_picture(image, i % 2 == 0 ? ".jpg" : ".png"), split, {i % 2});
    }
  }
  return source;
}

Image decoded(const FakeSource& source, SampleId id) {
  const datasets::Payload payload = *source.read(position_of(id));
  if (const auto* image = std::get_if<Image>(&payload)) return *image;
  return *decode(std::get<Bytes>(payload), {});
}

IngestOptions with_variants(const VariantSettings& variants = kVariants) {
  IngestOptions options;
  options.store = Store::kRaw;
  options.variants = variants;
  options.work.threads = 2;
  return options;
}

std::map<std::string, Bytes> tree_of(const fs::path& root) {
  std::map<std::string, Bytes> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), root).string()] = read_file(entry.path());
  }
  return files;
}

// The expected variant k of a sample whose stored size is `geometry`.
std::vector<std::uint8_t> expected(const Image& image, Split split, SampleId id, int k,
                                   int channels) {
  const Geometry geometry{kVariants.height_px, kVariants.width_px, channels};
  std::vector<std::uint8_t> out(static_cast<std::size_t>(24 * 20 * channels));
  const bool train = split == Split::kTrain;
  augment(image.view(), train ? kVariants.recipe : Recipe::kNone, geometry,
          {.seed = kVariants.seed, .epoch = static_cast<std::uint32_t>(k), .id = id}, out);
  return out;
}

class Variants : public testing::Test {
 protected:
  Variants() : source_(make_source()) {
    ingest(source_, "pictures", folder_ / "cache", with_variants(), {});
  }
  Cache open() const { return Cache::open(folder_ / "cache"); }

  TemporaryFolder folder_;
  FakeSource source_;
};

TEST_F(Variants, AreWhatTheRecipeMakesOfTheOriginal) {
  const Cache cache = open();
  const dedup::Fingerprints table = cache.read_fingerprints();
  ASSERT_EQ(table.size(), 38U);
  std::set<Split> splits;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const SampleId id = table.ids[row];
    const RecordView record = cache.record(id);
    const Image image = decoded(source_, id);
    const Split split = source_.entries().split(id);
    splits.insert(split);
    EXPECT_EQ(record.split, split);
    EXPECT_EQ(record.variants, split == Split::kTrain ? kCopies : 1);
    EXPECT_EQ(record.coding, Coding::kRaw);
    EXPECT_EQ(record.height_px, 24);
    EXPECT_EQ(record.width_px, 20);
    EXPECT_EQ(record.channels, image.channels);
    EXPECT_TRUE(std::ranges::equal(record.labels, source_.entries().labels(id)));
    EXPECT_EQ(record.group, source_.entries().group(id));
    std::vector<std::uint8_t> all;
    for (int k = 0; k < record.variants; ++k) {
      const auto one = expected(image, split, id, k, image.channels);
      all.insert(all.end(), one.begin(), one.end());
      const RecordView picked = cache.record(id, [&](int) { return k; });
      EXPECT_TRUE(std::ranges::equal(picked.payload, as_bytes(one)));
    }
    EXPECT_TRUE(std::ranges::equal(record.payload, as_bytes(all)));
  }
  EXPECT_EQ(splits.size(), 4U);
}

TEST_F(Variants, ChangeNothingElse) {
  IngestOptions options;
  options.work.threads = 2;
  const Manifest plain = ingest(source_, "pictures", folder_ / "plain", options, {}).manifest;
  const Cache cache = open();
  const Manifest& m = cache.manifest();
  EXPECT_EQ(m.tables.fingerprints_hash, plain.tables.fingerprints_hash);
  EXPECT_EQ(m.tables.ledger_hash, plain.tables.ledger_hash);
  EXPECT_EQ(m.images.pixel_sums, plain.images.pixel_sums);
  EXPECT_EQ(m.images.split_counts, plain.images.split_counts);
  EXPECT_EQ(m.inputs.by_fate, plain.inputs.by_fate);
  EXPECT_EQ(m.classes, plain.classes);
  EXPECT_EQ(variant_settings(m.settings.variants), kVariants);
  EXPECT_EQ(variant_settings(plain.settings.variants), VariantSettings{});
  EXPECT_EQ(options_of(m).variants, kVariants);
  EXPECT_EQ(options_of(m).store, Store::kRaw);
}

// The central promise: each block of epochs has every variant once, on any number of threads. Its
// pixels are those that augment() makes from the original with the key of the variant.
TEST_F(Variants, TrainingSeesEachOnceInAsManyEpochs) {
  const Cache cache = open();
  const SampleSet samples = select_samples(cache, Split::kTrain, "");
  ASSERT_GT(samples.size(), 15U);
  const int channels = 3;
  std::map<SampleId, std::multiset<int>> seen;
  std::map<SampleId, std::vector<int>> orders;
  for (std::uint32_t epoch = 0; epoch < 2 * kCopies; ++epoch) {
    std::vector<Request> requests;
    for (const SampleId id : samples.ids) requests.push_back({.id = id, .epoch = epoch});
    LoadOptions options{.geometry = {24, 20, channels}, .seed = 4};
    const Batch batch = load_batch(cache, requests, options);
    options.threads = 4;
    const Batch by_four = load_batch(cache, requests, options);
    EXPECT_TRUE(batch.pixels == by_four.pixels);
    EXPECT_EQ(batch.ids, by_four.ids);
    EXPECT_EQ(batch.labels, by_four.labels);
    const std::size_t bytes = batch.pixels.size() / batch.size();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const SampleId id = batch.ids[i];
      const int variant = variant_at(4, epoch, id, kCopies);
      const auto want = expected(decoded(source_, id), Split::kTrain, id, variant, channels);
      EXPECT_TRUE(std::ranges::equal(std::span(batch.pixels).subspan(i * bytes, bytes), want))
          << "sample " << id << ", epoch " << epoch;
      if (epoch < kCopies) seen[id].insert(variant);
      orders[id].push_back(variant);
    }
    EXPECT_EQ(batch.size(), samples.size());
  }
  std::set<std::vector<int>> different;
  for (const auto& [id, variants] : seen) {
    EXPECT_THAT(variants, testing::ElementsAre(0, 1, 2, 3, 4)) << id;
    different.insert(orders[id]);
  }
  EXPECT_GT(different.size(), samples.size() / 2);
}

TEST_F(Variants, TheRunsRecipeAndSizeComeOnTop) {
  const Cache cache = open();
  const SampleId id = select_samples(cache, Split::kTrain, "").ids.at(3);
  for (const Geometry geometry : {Geometry{24, 20, 3}, Geometry{16, 16, 3}}) {
    const LoadOptions options{.geometry = geometry, .recipe = Recipe::kCifar, .seed = 4};
    const Batch batch = load_batch(cache, {{.id = id, .epoch = 2}}, options);
    const RecordView record =
        cache.record(id, [&](int variants) { return variant_at(4, 2, id, variants); });
    std::vector<std::uint8_t> want(batch.pixels.size());
    augment({reinterpret_cast<const std::uint8_t*>(record.payload.data()), 24, 20, record.channels,
             std::ptrdiff_t{20} * record.channels},
            Recipe::kCifar, geometry, {.seed = 4, .epoch = 2, .id = id}, want);
    EXPECT_EQ(std::vector<std::uint8_t>(batch.pixels.begin(), batch.pixels.end()), want);
  }
}

TEST_F(Variants, TheTrainerIsToldOfThem) {
  const DatasetInfo info = describe(open());
  EXPECT_EQ(info.height_px, 24);
  EXPECT_EQ(info.width_px, 20);
  EXPECT_EQ(info.channels, 3);
  EXPECT_EQ(info.stored_recipe, Recipe::kCifar);
  ingest(source_, "pictures", folder_ / "sized",
         with_variants({.copies = 1, .recipe = Recipe::kNone, .height_px = 7, .width_px = 8}), {});
  const DatasetInfo sized = describe(Cache::open(folder_ / "sized"));
  EXPECT_EQ(sized.height_px, 7);
  EXPECT_EQ(sized.width_px, 8);
  EXPECT_EQ(sized.stored_recipe, Recipe::kNone);
}

TEST_F(Variants, AreTheSameBytesOnAnyThreadsAndMemory) {
  const auto want = tree_of(folder_ / "cache");
  for (const auto& [threads, memory] :
       {std::pair{1, std::uint64_t{0}}, std::pair{4, std::uint64_t{0}},
        std::pair{2, std::uint64_t{1} << 20}}) {
    const fs::path out = folder_ / ("threads " + std::to_string(threads));
    IngestOptions options = with_variants();
    options.work.threads = threads;
    options.work.memory_bytes = memory;
    ingest(source_, "pictures", out, options, {});
    EXPECT_TRUE(tree_of(out) == want) << threads << " threads, " << memory << " bytes";
    fs::remove_all(out);
  }
}

TEST(PlanOfVariants, ChunksHoldAsManyAsComeToAFewMebibytes) {
  FakeSource source;
  for (int i = 0; i < 600; ++i) source.add(std::to_string(i), Bytes(10));
  const IngestSource one{.source = &source, .path = "set"};
  Manifest manifest;
  const auto sources = place_sources(std::span(&one, 1), manifest);
  const auto shards = plan_shards(sources, 1u << 30);
  const auto entries = [&](const VariantSettings& variants) {
    std::vector<std::uint64_t> sizes;
    for (const ChunkPlan& chunk : plan_chunks(sources, shards, Store::kRaw, variants)) {
      sizes.push_back(chunk.end - chunk.begin);
    }
    return sizes;
  };
  EXPECT_THAT(entries({}), testing::ElementsAre(256, 256, 88));
  const Recipe recipe = Recipe::kCifar;
  EXPECT_EQ(entries({.copies = 2, .recipe = recipe, .height_px = 8, .width_px = 8}), entries({}));
  EXPECT_EQ(entries({.copies = 10, .recipe = recipe, .height_px = 64, .width_px = 64}).front(),
            34U);
  EXPECT_EQ(entries({.copies = 100, .recipe = recipe, .height_px = 500, .width_px = 500}).size(),
            600U);
}

TEST_F(Variants, WhatIsAddedLaterIsAsIfAllHadComeAtOnce) {
  const FakeSource more = make_source(15);
  const std::vector<IngestSource> both{{&source_, "pictures"}, {&more, "more"}};
  const auto alone = comm::make_single();
  ingest(both, folder_ / "both", with_variants(), {}, *alone);
  IngestOptions options = options_of(open().manifest());
  options.target.into = true;
  ingest(std::span(&both[1], 1), folder_ / "cache", options, {}, *alone);
  EXPECT_TRUE(tree_of(folder_ / "cache") == tree_of(folder_ / "both"));
  const FakeSource third = make_source(3);
  const IngestSource one{&third, "third"};
  const auto refused = [&](const std::function<void(VariantSettings&)>& change) {
    IngestOptions other = options;
    change(other.variants);
    try {
      ingest(std::span(&one, 1), folder_ / "cache", other, {}, *alone);
      ADD_FAILURE() << "it was added with other settings";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("other settings"));
    }
  };
  refused([](VariantSettings& v) { v.copies = 4; });
  refused([](VariantSettings& v) { v.height_px = 25; });
  refused([](VariantSettings& v) { v.width_px = 25; });
  refused([](VariantSettings& v) { v.seed = 10; });
  refused([](VariantSettings& v) { v = {}; });
}

TEST_F(Variants, ACompactedCacheHasThemToo) {
  const Cache cache = open();
  const dedup::Fingerprints table = cache.read_fingerprints();
  dedup::Selection selection;
  selection.name = "half";
  selection.settings = "{}";
  selection.cache_digest = cache.digest();
  for (std::size_t row = 0; row < table.size(); ++row) {
    selection.ids.push_back(table.ids[row]);
    selection.weights.push_back(row % 2 == 0 ? 1 : 0);
    selection.components.push_back(static_cast<std::uint32_t>(row / 2));
    selection.kept.push_back(table.ids[row / 2 * 2]);
    selection.distances.push_back(0);
    selection.rules.push_back(row % 2 == 0 ? dedup::Rule::kKept : dedup::Rule::kDuplicate);
  }
  cache.write_selection(selection);
  CompactOptions options;
  options.selection = "half";
  compact(cache, folder_ / "small", options);
  const Cache small = Cache::open(folder_ / "small", {Verify::kBlocks});
  EXPECT_EQ(variant_settings(small.manifest().settings.variants), kVariants);
  const dedup::Fingerprints rows = small.read_fingerprints();
  ASSERT_EQ(rows.size(), 19U);
  int several = 0;
  for (const SampleId id : rows.ids) {
    const RecordView record = small.record(id);
    const RecordView before = cache.record(id);
    EXPECT_EQ(record.variants, before.variants);
    EXPECT_TRUE(std::ranges::equal(record.payload, before.payload));
    several += record.variants > 1 ? 1 : 0;
  }
  EXPECT_GT(several, 5);
  EXPECT_EQ(describe(small).height_px, 24);
}

TEST_F(Variants, WhatIsLeftOutAtOnceHasNone) {
  const auto alone = comm::make_single();
  const IngestSource one{&source_, "pictures"};
  const auto decide = [](const Fingerprinted& all) {
    const dedup::Fingerprints table = all.columns({});
    dedup::Selection selection;
    selection.settings = "{}";
    for (std::size_t row = 0; row < table.size(); ++row) {
      selection.ids.push_back(table.ids[row]);
      selection.weights.push_back(row == 4 ? 0 : 1);
      selection.components.push_back(row == 4 ? 3 : static_cast<std::uint32_t>(row));
      selection.kept.push_back(table.ids[row == 4 ? 3 : row]);
      selection.distances.push_back(0);
      selection.rules.push_back(row == 4 ? dedup::Rule::kDuplicate : dedup::Rule::kKept);
    }
    return selection;
  };
  ingest_dropping(
      std::span(&one, 1), folder_ / "less", with_variants(), decide,
      [](DropPass) { return ProgressSink{}; }, *alone);
  const Cache less = Cache::open(folder_ / "less");
  const Cache cache = open();
  EXPECT_EQ(less.read_fingerprints().size(), 37U);
  for (const SampleId id : less.read_fingerprints().ids) {
    EXPECT_TRUE(std::ranges::equal(less.record(id).payload, cache.record(id).payload));
  }
}

TEST_F(Variants, DamageToOneIsFound) {
  const SampleId id = select_samples(open(), Split::kTrain, "").ids.front();
  const fs::path shard = folder_ / "cache" / "shards" / "00000.mdb";
  Bytes bytes = read_file(shard);
  const auto last = [&] {  // a byte of the last variant, as located in the file
    const Cache cache = open();
    const RecordView record = cache.record(id);
    const auto at =
        std::ranges::search(bytes, record.payload.last(record.payload.size() / kCopies));
    return at.begin() - bytes.begin();
  }();
  bytes[static_cast<std::size_t>(last)] ^= std::byte{1};
  write_file_durably(shard, bytes);
  const Verified verified = verify_cache(folder_ / "cache", "");
  EXPECT_FALSE(verified.whole());
  EXPECT_EQ(verified.affected, 1U);
  const Cache cache = open();
  EXPECT_THROW(cache.record(id), FormatError);
  EXPECT_THROW(cache.record(id, [](int) { return kCopies - 1; }), FormatError);
  EXPECT_NO_THROW(cache.record(id, first_variant));
}

TEST_F(Variants, AnEstimateKnowsTheirSize) {
  const IngestSource one{.source = &source_, .path = "pictures"};
  const Estimate estimate = estimate_ingest(std::span(&one, 1), folder_ / "other", with_variants());
  const CachePaths paths{folder_ / "cache"};
  std::uint64_t bytes = fs::file_size(paths.fingerprints()) + fs::file_size(paths.ledger());
  const Cache cache = open();
  for (const ShardInfo& shard : cache.manifest().shards) bytes += shard.bytes;
  EXPECT_EQ(estimate.cache_bytes, bytes);
}

TEST(VariantOptions, ThatMakeNoSenseAreRefused) {
  const auto refused = [](const char* words, const std::function<void(IngestOptions&)>& change) {
    IngestOptions options = with_variants();
    EXPECT_NO_THROW(check_options(options));
    change(options);
    try {
      check_options(options);
      ADD_FAILURE() << "taken: " << words;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  };
  refused("at least 1 copy", [](IngestOptions& o) { o.variants.copies = 0; });
  refused("1 x 1 px", [](IngestOptions& o) { o.variants.height_px = 0; });
  refused("1 x 1 px", [](IngestOptions& o) { o.variants.width_px = -1; });
  refused("the same", [](IngestOptions& o) { o.variants.recipe = Recipe::kNone; });
  refused("at least 2", [](IngestOptions& o) { o.variants.copies = 1; });
  refused("with --store none no images are stored",
          [](IngestOptions& o) { o.store = Store::kNone; });
  refused("stored as pixels", [](IngestOptions& o) { o.store = Store::kOriginal; });
  refused("leave out --resize", [](IngestOptions& o) { o.resize.short_side_px = 3; });
  refused("65535", [](IngestOptions& o) { o.variants.copies = 65'536; });
  refused("do not fit into a record", [](IngestOptions& o) {
    o.variants.height_px = 46'000;
    o.variants.width_px = 46'000;
  });
  refused("do not fit into a record", [](IngestOptions& o) {
    o.variants.copies = 60'000;
    o.variants.height_px = 800;
  });
}

TEST(VariantOptions, OfAManifestThatThisWinnowDoesNotKnowAreRefused) {
  const std::string good =
      R"({"augment":{"recipe":"cifar","copies":3,"height_px":5,"width_px":6,"seed":7}})";
  const auto read = [](const std::string& settings) {
    return variant_settings(parse_settings(JsonReader(settings, {"it"})).variants);
  };
  EXPECT_EQ(read(good),
            (VariantSettings{
                .copies = 3, .recipe = Recipe::kCifar, .height_px = 5, .width_px = 6, .seed = 7}));
  for (const auto& [from, to] :
       {std::pair{"cifar", "other"}, std::pair{":3", ":0"}, std::pair{":5", ":-1"},
        std::pair{":6", ":1e9"}, std::pair{R"("seed":7)", R"("seed":"7")"},
        std::pair{R"("copies":3,)", ""}, std::pair{":6", ":4294967296"}}) {
    std::string bad = good;
    bad.replace(bad.find(from), std::string(from).size(), to);
    EXPECT_THROW(static_cast<void>(read(bad)), FormatError) << bad;
  }
}

}  // namespace winnow::pipeline::variants_test
