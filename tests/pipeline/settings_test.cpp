// The manifest holds the decode settings of an ingest, and loading gives the same pixels.
#include "pipeline/store/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/loader.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/json_internal.h"
#include "tests/common/temporary_folder.h"
#include "tests/common/vectors.h"
#include "tests/pipeline/base64.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::settings_test {

using test::from_base64;

DecodeSettings unusual_settings() {
  DecodeSettings settings;
  settings.max_pixels = 12'345;
  settings.max_scans = 77;
  settings.orientation = Orientation::kApply;
  settings.matte = Matte{1, 0xAB, 255};
  return settings;
}

// Files with EXIF orientations and files with alpha.
FakeSource make_source() {
  FakeSource source;
  for (const JsonReader& row : test::vectors("pipeline/parity", "files")) {
    const std::string operation = row.at("operation").text();
    if (operation != "orientation" && operation != "matte") continue;
    source.add(std::to_string(source.entries().size()), from_base64(row.at("file").text()));
  }
  return source;
}

Manifest ingest_into(const FakeSource& source, const std::filesystem::path& out,
                     const DecodeSettings& settings, Store store) {
  IngestOptions options;
  options.store = store;
  options.decode = settings;
  return ingest(source, "fake", out, options, {}).manifest;
}

Image loaded(const Cache& cache, SampleId id) {
  const RecordView record = cache.record(id);
  LoadOptions options;
  options.geometry = {record.height_px, record.width_px, record.channels};
  const Batch batch = load_batch(cache, {{.id = id}}, options);
  Image image(record.height_px, record.width_px, record.channels);
  image.pixels.assign(batch.pixels.begin(), batch.pixels.end());
  return image;
}

TEST(Settings, TextsAreRead) {
  EXPECT_EQ(parse_orientation("apply"), Orientation::kApply);
  EXPECT_EQ(parse_orientation("ignore"), Orientation::kIgnore);
  EXPECT_FALSE(parse_orientation("6"));
  EXPECT_EQ(parse_matte("white"), (Matte{255, 255, 255}));
  EXPECT_EQ(parse_matte("black"), (Matte{0, 0, 0}));
  EXPECT_EQ(parse_matte("#0aFf80"), (Matte{10, 255, 128}));
  EXPECT_EQ(to_text({10, 255, 128}), "#0aff80");
  for (const char* text :
       {"", "none", "#", "#12345", "#1234567", "#12 456", "#-12345", "#00gg00"}) {
    EXPECT_FALSE(parse_matte(text)) << text;
  }
}

TEST(Settings, OnlyWhatIsNotUsualIsWritten) {
  const TemporaryFolder folder;
  const FakeSource source = make_source();
  const Manifest usual = ingest_into(source, folder / "usual", {}, Store::kNone);
  EXPECT_EQ(to_text(usual.settings),
            R"({"store":"none","hashes":["phash:1","phash16:1"],"thumbnails":true,)"
            R"("shard_bytes":268435456,)"
            R"("max_pixels":178956970})");
  EXPECT_EQ(usual.settings.decode, DecodeSettings{});
  const Manifest unusual =
      ingest_into(source, folder / "unusual", unusual_settings(), Store::kNone);
  EXPECT_EQ(to_text(unusual.settings),
            R"({"store":"none","hashes":["phash:1","phash16:1"],"thumbnails":true,)"
            R"("shard_bytes":268435456,)"
            R"("max_pixels":12345,"max_scans":77,"orientation":"apply","matte":"#01abff"})");
  EXPECT_EQ(unusual.settings.decode, unusual_settings());
}

TEST(Settings, WhatThisWinnowDoesNotKnowIsRefused) {
  for (const char* settings : {R"({"orientation":"mirror"})", R"({"matte":"pink"})",
                               R"({"max_scans":"many"})", R"({"max_pixels":-1})"}) {
    EXPECT_THROW(static_cast<void>(parse_settings(JsonReader(settings, {"it"}))), FormatError)
        << settings;
  }
  // Written by other programs
  EXPECT_EQ(parse_settings(JsonReader("null", {"it"})), CacheSettings{});
}

TEST(Settings, TheLoaderSeesThePixelsThatWereFingerprinted) {
  const FakeSource source = make_source();
  for (const bool usual : {true, false}) {
    for (const Store store : {Store::kOriginal, Store::kRaw}) {
      const TemporaryFolder folder;
      const DecodeSettings settings = usual ? DecodeSettings{} : unusual_settings();
      ingest_into(source, folder / "cache", settings, store);
      const Cache cache = Cache::open(folder / "cache");
      const dedup::Fingerprints table = cache.read_fingerprints();
      ASSERT_EQ(table.size(), source.entries().size());
      int different = 0;  // images that differ from those with default settings
      for (std::size_t row = 0; row < table.size(); ++row) {
        const Image image = loaded(cache, table.ids[row]);
        EXPECT_EQ(static_cast<int>(table.heights_px[row]), image.height_px);
        EXPECT_EQ(static_cast<int>(table.widths_px[row]), image.width_px);
        const auto bytes = std::get<Bytes>(*source.read(row));
        const auto want = decode(bytes, settings);
        ASSERT_TRUE(want);
        EXPECT_EQ(image, static_cast<const Image&>(*want)) << row;
        if (!(image == static_cast<const Image&>(*decode(bytes, {})))) ++different;
      }
      if (usual) {
        EXPECT_EQ(different, 0);
      } else {
        EXPECT_GT(different, 20);
      }
    }
  }
}

// The image that is stored after a resize.
Image resized(const Image& image, int short_side_px) {
  auto smaller = shrink(image.view(), short_side_px);
  return smaller ? *std::move(smaller) : image;
}

TEST(Settings, ResizedImagesAreStoredSmallAndFingerprintedWhole) {
  const FakeSource source = make_source();
  constexpr int kSide = 3;  // between the sides of the files
  const TemporaryFolder folder;
  for (const Store store : {Store::kOriginal, Store::kRaw}) {
    IngestOptions options;
    options.store = store;
    options.decode = unusual_settings();
    const auto plain = folder / (store == Store::kRaw ? "raw" : "original");
    const auto small = folder / (store == Store::kRaw ? "small raw" : "small");
    const auto smaller = folder / (store == Store::kRaw ? "smaller raw" : "smaller");
    ingest(source, "fake", plain, options, {});
    options.resize = {.short_side_px = kSide, .quality = 95};
    options.work.threads = 1;
    const Manifest manifest = ingest(source, "fake", small, options, {}).manifest;
    options.resize.short_side_px = 1;
    ingest(source, "fake", smaller, options, {});
    EXPECT_EQ(manifest.settings.resize.short_side_px, kSide);
    EXPECT_NE(to_text(manifest.settings).find(R"("resize":3)"), std::string::npos);
    EXPECT_EQ(to_text(manifest.settings).find(R"("quality":95)") != std::string::npos,
              store == Store::kOriginal);
    const Cache whole_cache = Cache::open(plain);
    EXPECT_EQ(Cache::open(small).manifest().tables.fingerprints_hash,
              whole_cache.manifest().tables.fingerprints_hash);
    EXPECT_EQ(manifest.images.pixel_sums, whole_cache.manifest().images.pixel_sums);
    for (const auto& [path, side] : {std::pair{small, kSide}, std::pair{smaller, 1}}) {
      const Cache cache = Cache::open(path);
      int kept = 0;
      for (const SampleId id : cache.read_fingerprints().ids) {
        const RecordView record = cache.record(id);
        const RecordView whole = whole_cache.record(id);
        const Image pixels = loaded(whole_cache, id);
        const Image want = resized(pixels, side);
        EXPECT_EQ(record.height_px, want.height_px);
        EXPECT_EQ(record.width_px, want.width_px);
        EXPECT_EQ(record.channels, want.channels);
        if (want == pixels) {
          ++kept;
          EXPECT_TRUE(std::ranges::equal(record.payload, whole.payload));
        } else if (store == Store::kRaw) {
          EXPECT_EQ(loaded(cache, id), want);
        } else {
          EXPECT_TRUE(std::ranges::equal(record.payload, encode_jpeg(want.view(), 95)));
        }
      }
      EXPECT_EQ(kept > 0, side == kSide);
      EXPECT_LT(static_cast<std::size_t>(kept), source.entries().size());
    }
  }
}

TEST(Settings, TheTrainerIsToldTheStoredSize) {
  FakeSource source;
  for (int i = 0; i < 3; ++i) source.add(std::to_string(i), Image(40, 30, 3));
  const TemporaryFolder folder;
  IngestOptions options;
  options.resize.short_side_px = 16;
  ingest(source, "fake", folder / "cache", options, {});
  const auto cache = open_cache(folder / "cache");
  EXPECT_EQ(cache->manifest().images.height_px, 40);
  EXPECT_EQ(describe(*cache).height_px, 21);
  EXPECT_EQ(describe(*cache).width_px, 16);
}

TEST(Settings, AResizeThatMakesNoSenseIsRefused) {
  const FakeSource source = make_source();
  const TemporaryFolder folder;
  IngestOptions options;
  options.resize.short_side_px = 8;
  options.store = Store::kNone;
  EXPECT_THROW(ingest(source, "fake", folder / "cache", options, {}), UsageError);
  options.store = Store::kOriginal;
  options.resize.quality = 101;
  EXPECT_THROW(ingest(source, "fake", folder / "cache", options, {}), UsageError);
}

}  // namespace winnow::pipeline::settings_test
