// The caches of tests/data/golden, which every later version must read. Their contents are stated
// here again by formula (tests/end_to_end/golden.py made them).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "common/checksum.h"
#include "common/resample.h"
#include "common/rng.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/settings.h"
#include "places.h"
#include "tests/dedup/triangle.h"

namespace winnow::pipeline::golden_test {

namespace fs = std::filesystem;

constexpr Split kTrain = Split::kTrain;
constexpr Split kVal = Split::kVal;
constexpr Split kTest = Split::kTest;

Bytes pixels(int k, int width, int height, int channels) {
  Bytes out;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int value =
            x * x * (1 + k % 4) + y * y * (1 + k % 7) + 3 * x * y * (k % 5) + 37 * c + 11 * k;
        out.push_back(static_cast<std::byte>(value % 256));
      }
    }
  }
  return out;
}

// One input, in the order of the listing.
struct Input {
  std::string name;
  Split split;
  int label;  // -1: unreadable input
  Fate fate = Fate::kOk;
  int k = 0;  // number of the picture
  int width = 0, height = 0, channels = 0;

  Bytes shape_and_pixels() const {
    ByteWriter out;
    for (const int extent : {height, width, channels}) out.put(static_cast<std::uint32_t>(extent));
    out.put_bytes(pixels(k, width, height, channels));
    return std::move(out).take();
  }
  Bytes file() const {
    ByteWriter out;
    out.put_text(channels == 1 ? "P5\n" : "P6\n");
    out.put_text(std::to_string(width) + " " + std::to_string(height) + "\n255\n");
    out.put_bytes(pixels(k, width, height, channels));
    return std::move(out).take();
  }
};

Input picture(std::string name, Split split, int label, int k) {
  return {std::move(name), split, label, Fate::kOk, k, 8 + k, 6 + k % 7, k % 3 == 0 ? 1 : 3};
}

Input square(std::string name, Split split, int label, int k) {
  return {std::move(name), split, label, Fate::kOk, k, 16, 16, 1};
}

struct Golden {
  std::string folder;
  std::string store;
  std::string source;
  std::vector<std::string> classes;
  std::vector<Input> inputs;
  std::string digest;
  int copies = 1;  // variants of a training image
};

Golden original() {
  return {.folder = "v1/original",
          .store = "original",
          .source = "mixed",
          .classes = {"ant", "bee", "caf\xE9"},
          .inputs = {picture("test/ant/12.ppm", kTest, 0, 12),
                     picture("test/ant/13.ppm", kTest, 0, 13),
                     picture("test/bee/14.ppm", kTest, 1, 14),
                     picture("test/bee/15.ppm", kTest, 1, 15),
                     picture("test/caf\xE9/16.ppm", kTest, 2, 16),
                     picture("test/caf\xE9/17.ppm", kTest, 2, 17),
                     picture("train/ant/00.ppm", kTrain, 0, 0),
                     picture("train/ant/01.ppm", kTrain, 0, 1),
                     {"train/ant/cut.ppm", kTrain, -1, Fate::kTruncated},
                     {"train/ant/empty.pgm", kTrain, -1, Fate::kEmpty},
                     picture("train/ant/leak.ppm", kTrain, 0, 14),
                     picture("train/bee/02.ppm", kTrain, 1, 2),
                     picture("train/bee/03.ppm", kTrain, 1, 3),
                     picture("train/bee/again.ppm", kTrain, 1, 2),
                     {"train/bee/text.jpg", kTrain, -1, Fate::kUnsupported},
                     picture("train/caf\xE9/04.ppm", kTrain, 2, 4),
                     picture("train/caf\xE9/05.ppm", kTrain, 2, 5),
                     picture("val/ant/06.ppm", kVal, 0, 6),
                     picture("val/ant/07.ppm", kVal, 0, 7),
                     picture("val/bee/08.ppm", kVal, 1, 8),
                     picture("val/bee/09.ppm", kVal, 1, 9),
                     picture("val/caf\xE9/10.ppm", kVal, 2, 10),
                     picture("val/caf\xE9/11.ppm", kVal, 2, 11)},
          .digest = "24481a83a4c31bfb05bc2cadb50942d8"};
}

Golden raw() {
  Golden golden{.folder = "v1/raw",
                .store = "raw",
                .source = "squares",
                .classes = {"left", "right"},
                .inputs = {},
                .digest = "31669f21acbf135f12776f011d0174c0"};
  for (const Split split : {kTest, kTrain}) {
    for (const int label : {0, 1}) {
      for (int k = split == kTrain ? label : 24 + label; k < (split == kTrain ? 24 : 32); k += 2) {
        const std::string number = (k < 10 ? "0" : "") + std::to_string(k);
        const std::string name = std::string(split == kTrain ? "train" : "test") + "/" +
                                 golden.classes[static_cast<std::size_t>(label)] + "/" + number +
                                 ".pgm";
        golden.inputs.push_back(square(name, split, label, k == 5 ? 3 : k == 24 ? 0 : k));
      }
    }
  }
  return golden;
}

constexpr std::uint64_t kVariantsSeed = 5;

Golden variants() {
  Golden golden = raw();
  golden.folder = "v2/variants";
  golden.digest = "85719fdfaa3f02cdc2defe7537cd3ceb";
  golden.copies = 3;
  return golden;
}

// Padded by 4 zeros, cropped at random, mirrored at random.
Bytes variant(const Bytes& square, SampleId id, std::uint32_t which) {
  CounterRng crop(kVariantsSeed, which, id, RandomUse::kCrop);
  const int top = static_cast<int>(crop.below(9)) - 4;
  const int left = static_cast<int>(crop.below(9)) - 4;
  const bool flip = CounterRng(kVariantsSeed, which, id, RandomUse::kFlip).below(2) == 1;
  Bytes out;
  for (int y = top; y < top + 16; ++y) {
    for (int column = 0; column < 16; ++column) {
      const int x = left + (flip ? 15 - column : column);
      const bool inside = y >= 0 && y < 16 && x >= 0 && x < 16;
      out.push_back(inside ? square[static_cast<std::size_t>(16 * y + x)] : std::byte{0});
    }
  }
  return out;
}

class GoldenCache : public testing::TestWithParam<Golden (*)()> {
 protected:
  const Golden golden_ = GetParam()();
  const Cache cache_ = Cache::open(fs::path(WINNOW_GOLDEN) / golden_.folder, {Verify::kBlocks});

  std::vector<std::pair<SampleId, Input>> readable() const {
    std::vector<std::pair<SampleId, Input>> rows;
    for (std::size_t i = 0; i < golden_.inputs.size(); ++i) {
      if (golden_.inputs[i].fate == Fate::kOk) rows.emplace_back(i, golden_.inputs[i]);
    }
    return rows;
  }
};

TEST_P(GoldenCache, Manifest) {
  const Manifest& m = cache_.manifest();
  EXPECT_EQ(cache_.digest(), golden_.digest);
  EXPECT_EQ(m.store, golden_.store);
  EXPECT_EQ(m.inputs.total, golden_.inputs.size());
  EXPECT_EQ(m.inputs.by_fate.at("ok"), readable().size());
  EXPECT_EQ(m.classes, golden_.classes);
  ASSERT_EQ(m.sources.size(), 1U);
  EXPECT_EQ(m.sources[0].name, golden_.source);
  EXPECT_EQ(m.sources[0].format, "image_folder");
  EXPECT_EQ(m.sources[0].inputs, golden_.inputs.size());
  EXPECT_EQ(m.sources[0].class_names, golden_.classes);
  ASSERT_EQ(m.shards.size(), 1U);
  EXPECT_EQ(m.shards[0].first_id, 0U);
  EXPECT_EQ(m.shards[0].last_id, golden_.inputs.size() - 1);
  EXPECT_EQ(m.tables.hashes, (std::vector<std::string>{"phash:1", "dhash:1"}));
  std::array<std::uint64_t, kSplitCount> splits{};
  PixelSums sums;
  bool gray = true;
  for (const auto& [id, input] : readable()) gray = gray && input.channels == 1;
  for (const auto& [id, input] : readable()) {
    ++splits[static_cast<std::size_t>(input.split)];
    if (input.split != kTrain) continue;
    const Bytes values = pixels(input.k, input.width, input.height, input.channels);
    sums.pixels += values.size() / static_cast<std::size_t>(input.channels);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<std::uint64_t>(values[i]);
      for (std::size_t c = 0; c < 3; ++c) {
        if (input.channels == 3 && c != i % 3) continue;  // grey counts for every channel
        if (gray && c > 0) continue;
        sums.sum[c] += value;
        sums.sum_of_squares[c] += value * value;
      }
    }
  }
  EXPECT_EQ(m.images.split_counts, splits);
  EXPECT_EQ(m.images.channels, gray ? 1 : 3);
  EXPECT_EQ(m.images.width_px, gray ? 16 : 0);
  EXPECT_EQ(m.images.height_px, gray ? 16 : 0);
  EXPECT_EQ(m.images.pixel_sums, sums);
}

TEST_P(GoldenCache, Records) {
  for (const auto& [id, input] : readable()) {
    const RecordView record = cache_.record(id);
    EXPECT_EQ(record.id, id);
    EXPECT_EQ(record.split, input.split);
    EXPECT_EQ(record.height_px, input.height);
    EXPECT_EQ(record.width_px, input.width);
    EXPECT_EQ(record.channels, input.channels);
    EXPECT_EQ(std::vector(record.labels.begin(), record.labels.end()),
              std::vector<std::int32_t>{input.label});
    EXPECT_EQ(record.group, "");
    const bool is_raw = golden_.store == "raw";
    EXPECT_EQ(record.coding, is_raw ? Coding::kRaw : Coding::kEncoded);
    const Bytes wanted =
        is_raw ? pixels(input.k, input.width, input.height, input.channels) : input.file();
    if (golden_.copies == 1 || input.split != kTrain) {
      EXPECT_EQ(record.variants, 1);
      EXPECT_TRUE(std::ranges::equal(record.payload, wanted)) << input.name;
      continue;
    }
    ASSERT_EQ(record.variants, golden_.copies);
    for (int k = 0; k < golden_.copies; ++k) {
      const RecordView one = cache_.record(id, [k](int) { return k; });
      const Bytes made = variant(wanted, id, static_cast<std::uint32_t>(k));
      EXPECT_TRUE(std::ranges::equal(one.payload, made)) << input.name << ", variant " << k;
    }
  }
}

TEST(GoldenVariants, Settings) {
  const Cache cache = Cache::open(fs::path(WINNOW_GOLDEN) / variants().folder);
  EXPECT_EQ(
      cache.manifest().settings.variants,
      (StoredVariants{
          .copies = 3, .recipe = "cifar", .height_px = 16, .width_px = 16, .seed = kVariantsSeed}));
}

TEST_P(GoldenCache, Ledger) {
  const std::vector<LedgerRow> ledger = cache_.read_ledger();
  ASSERT_EQ(ledger.size(), golden_.inputs.size());
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    EXPECT_EQ(ledger[i].id, i);
    EXPECT_EQ(ledger[i].name, golden_.inputs[i].name);
    EXPECT_EQ(ledger[i].split, golden_.inputs[i].split);
    EXPECT_EQ(ledger[i].fate, golden_.inputs[i].fate);
    EXPECT_EQ(ledger[i].reason.empty(), ledger[i].fate == Fate::kOk);
  }
}

TEST_P(GoldenCache, Fingerprints) {
  const dedup::Fingerprints table = cache_.read_fingerprints();
  const auto rows = readable();
  ASSERT_EQ(table.size(), rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& [id, input] = rows[row];
    EXPECT_EQ(table.ids[row], id);
    EXPECT_EQ(table.splits[row], input.split);
    ASSERT_EQ(table.labels[row].size(), 1U);
    EXPECT_EQ(table.labels[row][0], input.label);
    EXPECT_EQ(table.group_keys[row].size(), 0U);
    EXPECT_EQ(table.widths_px[row], static_cast<std::uint32_t>(input.width));
    EXPECT_EQ(table.heights_px[row], static_cast<std::uint32_t>(input.height));
    EXPECT_EQ(table.file_bytes[row], input.file().size());
    EXPECT_EQ(table.file_hashes[row], xxh3_128(input.file()));
    EXPECT_EQ(table.pixel_hashes[row], xxh3_128(input.shape_and_pixels()));
    EXPECT_GE(table.sharpness[row], 0);
    EXPECT_GT(table.quality[row], 0);
    EXPECT_LE(table.quality[row], 100);
  }
  ASSERT_EQ(table.codes.size(), 2U);
  EXPECT_EQ(table.codes[0].hash, "phash");
  EXPECT_EQ(table.codes[1].hash, "dhash");
  for (const dedup::CodeColumn& column : table.codes) {
    EXPECT_EQ(column.version, 1U);
    EXPECT_EQ(column.bits, 64);
  }
}

// Columns without a short formula: their XXH3-64 and their first value.
TEST(GoldenFingerprints, ColumnsWrittenDown) {
  struct Row {
    const char* cache;
    float sharpness, quality;
    std::uint64_t phash, dhash;
    const char* hashes[4];
  };
  for (const Row& row : {
           Row{"original",
               123630.40625F,
               100.0F,
               0xE9E5AA01850EDDF8,
               0xE789324C92599932,
               {"ee0fa4dbbfd3a834", "9e3e7947e232982d", "6e956a3330f066d6", "e99d1ac5cc41a800"}},
           Row{"raw",
               19366.01171875F,
               100.0F,
               0xA734EA5A35C9B28C,
               0xFFFFFFFEFCF9F3C7,
               {"469ba8f3244975d6", "0273ae77fc7def76", "a185c97fe37d56ef", "902de773d4c49224"}},
       }) {
    const dedup::Fingerprints table =
        Cache::open(fs::path(WINNOW_GOLDEN) / "v1" / row.cache).read_fingerprints();
    EXPECT_EQ(table.sharpness[0], row.sharpness);
    EXPECT_EQ(table.quality[0], row.quality);
    EXPECT_EQ(table.codes[0].words[0], row.phash);
    EXPECT_EQ(table.codes[1].words[0], row.dhash);
    EXPECT_EQ(to_hex(xxh3_64(as_bytes(table.sharpness))), row.hashes[0]);
    EXPECT_EQ(to_hex(xxh3_64(as_bytes(table.quality))), row.hashes[1]);
    EXPECT_EQ(to_hex(xxh3_64(as_bytes(table.codes[0].words))), row.hashes[2]);
    EXPECT_EQ(to_hex(xxh3_64(as_bytes(table.codes[1].words))), row.hashes[3]);
  }
}

TEST(GoldenThumbnails, AreOfThePictures) {
  const Cache cache = Cache::open(fs::path(WINNOW_GOLDEN) / "v3" / "pictured");
  EXPECT_EQ(cache.digest(), "8c8ce5c9201b8262cada5e565725ff2b");
  EXPECT_TRUE(cache.manifest().settings.fingerprints.thumbnails);
  const dedup::Fingerprints table = cache.read_fingerprints();
  const dedup::ThumbnailSource thumbnails = cache.open_thumbnails();
  struct Pane {
    int width, height, channels;
    dedup::ThumbnailSize size;
  };
  const std::array panes{Pane{20, 12, 1, {20, 12}}, Pane{40, 30, 3, {40, 30}},
                         Pane{128, 96, 1, {64, 48}}, Pane{10, 500, 1, {10, 307}}};
  ASSERT_EQ(table.size(), panes.size());
  for (std::size_t row = 0; row < panes.size(); ++row) {
    const auto& [width, height, channels, size] = panes[row];
    EXPECT_EQ(table.widths_px[row], static_cast<std::uint32_t>(width));
    EXPECT_EQ(table.heights_px[row], static_cast<std::uint32_t>(height));
    Image image(height, width, channels);
    const Bytes raw = pixels(static_cast<int>(row), width, height, channels);
    std::ranges::transform(raw, image.pixels.begin(),
                           [](std::byte b) { return static_cast<std::uint8_t>(b); });
    const Image gray = to_gray(image.view());
    const std::vector<double> want = dedup::exact_thumbnail(gray, size);
    const ImageView found = dedup::thumbnail_view(table.thumbnails[row], size);
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(found.data[i], want[i],
                  size.width_px < width || size.height_px < height ? 1.01 : 0)
          << row << ", pixel " << i;
    }
    EXPECT_TRUE(std::ranges::equal(thumbnails(row, 1).values, table.thumbnails[row]));
  }
  // The exact result of rounding.
  EXPECT_EQ(to_hex(xxh3_64(as_bytes(table.thumbnails.values))), "8fd8da61e1981849");
  EXPECT_EQ(Cache::open(fs::path(WINNOW_GOLDEN) / "v2" / "variants").open_thumbnails(), nullptr);
}

TEST_P(GoldenCache, Selection) {
  const dedup::Selection selection = cache_.read_selection("golden");
  EXPECT_EQ(selection.name, "golden");
  EXPECT_EQ(selection.mode, dedup::SelectionMode::kKeep);
  EXPECT_EQ(selection.settings,
            golden_.store == "raw"
                ? R"({"hash":"phash","hash_version":1,"keep":"first","scope":"all","threshold":0})"
                : R"({"hash":"exact","keep":"first","scope":"all","threshold":0})");
  const auto rows = readable();
  ASSERT_EQ(selection.size(), rows.size());
  std::map<int, SampleId> first_of;  // picture -> first sample that shows it
  std::map<int, std::uint32_t> group_of;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& [id, input] = rows[row];
    const SampleId first = first_of.emplace(input.k, id).first->second;
    const auto group = static_cast<std::uint32_t>(group_of.size());
    const bool removed = first != id;
    EXPECT_EQ(selection.ids[row], id);
    EXPECT_EQ(selection.components[row], group_of.emplace(input.k, group).first->second);
    EXPECT_EQ(selection.kept[row], first);
    EXPECT_EQ(selection.weights[row], removed ? 0.0F : 1.0F);
    EXPECT_EQ(selection.distances[row], 0);
    const bool leaked = removed && golden_.inputs[first].split != input.split;
    EXPECT_EQ(selection.rules[row], leaked    ? dedup::Rule::kLeak
                                    : removed ? dedup::Rule::kDuplicate
                                              : dedup::Rule::kKept);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, GoldenCache, testing::Values(original, raw, variants),
                         [](const auto& row) { return row.param().folder.substr(3); });

}  // namespace winnow::pipeline::golden_test
