#include "pipeline/store/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "dedup/table/fingerprints.h"

namespace winnow::pipeline::statistics_test {

struct Row {
  SampleId id;
  Split split;
  std::vector<std::int32_t> labels;
  std::uint32_t width_px;
  std::uint32_t height_px;
  std::uint64_t file_bytes;
};

dedup::Fingerprints table_of(const std::vector<Row>& rows) {
  dedup::Fingerprints table;
  for (const Row& row : rows) {
    table.ids.push_back(row.id);
    table.splits.push_back(row.split);
    table.labels.push_back(row.labels);
    table.widths_px.push_back(row.width_px);
    table.heights_px.push_back(row.height_px);
    table.file_bytes.push_back(row.file_bytes);
  }
  return table;
}

Statistics::Picture picture(SampleId id, std::uint32_t width_px, std::uint32_t height_px) {
  return {.id = id, .width_px = width_px, .height_px = height_px};
}

TEST(Buckets, BeginWhereTheyAreSaidTo) {
  EXPECT_EQ(octave(0), 0);
  EXPECT_EQ(octave(1), 0);
  EXPECT_EQ(octave(2), 1);
  EXPECT_EQ(octave(1023), 9);
  EXPECT_EQ(octave(1024), 10);
  EXPECT_EQ(octave(~std::uint64_t{0}), 63);
  EXPECT_EQ(half_octave(256), 16);
  EXPECT_EQ(half_octave(255), 15);
  EXPECT_EQ(half_octave(362), 16);  // 256 * sqrt(2) = 362.04
  EXPECT_EQ(half_octave(363), 17);
  EXPECT_EQ(half_octave(~std::uint32_t{0}), 63);
}

TEST(Buckets, OfAspectAreThoseOfTheLogarithm) {
  EXPECT_EQ(aspect_bucket(500, 500), kSquare);
  EXPECT_EQ(aspect_bucket(500, 375), kSquare + 2);
  EXPECT_EQ(aspect_bucket(375, 500), kSquare - 2);
  EXPECT_EQ(aspect_bucket(3, 2), kSquare + 2);
  EXPECT_EQ(aspect_bucket(1920, 1080), kSquare + 3);
  EXPECT_EQ(aspect_bucket(2, 1), kSquare + 4);
  EXPECT_EQ(aspect_bucket(1, ~std::uint32_t{0}), kSquare - 128);
  EXPECT_EQ(aspect_bucket(~std::uint32_t{0}, ~std::uint32_t{0}), kSquare);
  EXPECT_EQ(aspect_bucket(0, 5), kSquare);
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto width = static_cast<std::uint32_t>(1 + random() % 20'000);
    const auto height = static_cast<std::uint32_t>(1 + random() % 20'000);
    const double exact = 4 * std::log2(static_cast<double>(width) / height);
    // Undecidable in double precision
    if (std::abs(exact - std::floor(exact) - 0.5) < 1e-9) continue;
    const int quarters = static_cast<int>(std::round(exact));
    EXPECT_EQ(aspect_bucket(width, height), kSquare + quarters) << width << " x " << height;
    EXPECT_EQ(aspect_bucket(height, width), kSquare - quarters) << width << " x " << height;
  }
}

TEST(Histogram, GrowsAtBothEnds) {
  Histogram histogram;
  EXPECT_EQ(histogram.total(), 0U);
  for (const int bucket : {5, 7, 2, 5}) histogram.add(bucket);
  EXPECT_EQ(histogram.first, 2);
  EXPECT_EQ(histogram.counts, (std::vector<std::uint64_t>{1, 0, 0, 2, 0, 1}));
  EXPECT_EQ(histogram.end(), 8);
  EXPECT_EQ(histogram.total(), 4U);
}

TEST(Statistics, CountsWhatItIsGiven) {
  Statistics s(3);
  s.add(table_of({{4, Split::kTrain, {0}, 32, 32, 900},
                  {5, Split::kTrain, {0, 2}, 64, 48, 1024},
                  {6, Split::kTrain, {2, 2}, 48, 64, 1025},  // a label named twice counts once
                  {7, Split::kTest, {}, 10, 300, 3},
                  {8, Split::kTest, {9, -1}, 300, 10, 3}}));  // labels outside the classes
  const auto train = static_cast<std::size_t>(Split::kTrain);
  const auto test = static_cast<std::size_t>(Split::kTest);
  EXPECT_EQ(s.splits[train].classes, (std::vector<std::uint64_t>{2, 0, 2}));
  EXPECT_EQ(s.splits[train].unlabelled, 0U);
  EXPECT_EQ(s.splits[test].classes, (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(s.splits[test].unlabelled, 2U);
  EXPECT_EQ(s.short_side.first, 6);  // 8 to 11 px
  EXPECT_EQ(s.short_side.counts, (std::vector<std::uint64_t>{2, 0, 0, 0, 1, 2}));
  EXPECT_EQ(s.pixels.first, 10);
  EXPECT_EQ(s.pixels.counts, (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(s.aspect.first, kSquare - 20);
  EXPECT_EQ(s.aspect.end(), kSquare + 21);
  EXPECT_EQ(s.file_bytes.counts, (std::vector<std::uint64_t>{2, 0, 0, 0, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(s.total_file_bytes, 900U + 1024 + 1025 + 6);
  EXPECT_EQ(s.total_pixels, 1024U + 2 * 64 * 48 + 2 * 3000);
  EXPECT_EQ(s.smallest, picture(4, 32, 32));
  EXPECT_EQ(s.largest, picture(5, 64, 48));  // the first of its size
  EXPECT_TRUE(s.agrees_with({0, 3, 0, 2}));
  EXPECT_FALSE(s.agrees_with({0, 2, 0, 3}));
  EXPECT_FALSE(s.agrees_with({0, 3, 0, 3}));
}

TEST(Statistics, DependOnNoOrderAndNoPieces) {
  std::mt19937_64 random(11);
  std::vector<Row> rows;
  for (SampleId id = 0; id < 3000; ++id) {
    const std::uint64_t kinds = random();
    rows.push_back({id, static_cast<Split>(kinds % 4),
                    std::vector<std::int32_t>(kinds % 3, static_cast<std::int32_t>(kinds % 7)),
                    static_cast<std::uint32_t>(1 + random() % 700),
                    static_cast<std::uint32_t>(1 + random() % 700), random() % (1 << 20)});
  }
  Statistics whole(7);
  whole.add(table_of(rows));
  std::array<std::uint64_t, kSplitCount> counts{};
  for (const Row& row : rows) ++counts[static_cast<std::size_t>(row.split)];
  EXPECT_TRUE(whole.agrees_with(counts));
  std::shuffle(rows.begin(), rows.end(), random);
  Statistics pieces(7);
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t end = std::min(rows.size(), at + random() % 90);
    pieces.add(table_of({rows.begin() + static_cast<std::ptrdiff_t>(at),
                         rows.begin() + static_cast<std::ptrdiff_t>(end)}));
    at = end;
  }
  EXPECT_EQ(pieces, whole);
}

TEST(Statistics, OfNothing) {
  Statistics s(2);
  s.add({});
  EXPECT_EQ(s, Statistics(2));
  EXPECT_TRUE(s.agrees_with({}));
  EXPECT_FALSE(s.agrees_with({1, 0, 0, 0}));
}

}  // namespace winnow::pipeline::statistics_test
