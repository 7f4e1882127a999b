#include <gtest/gtest.h>

#include <random>

#include "common/error.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "pipeline/export/choice.h"
#include "pipeline/export/names.h"
#include "pipeline/export/sheet.h"

namespace winnow::pipeline::export_test {

TEST(ExportNames, StayWhereTheyArePut) {
  EXPECT_EQ(safe_part("cat"), "cat");
  EXPECT_EQ(safe_part("T-shirt/top"), "T-shirt_top");
  EXPECT_EQ(safe_part(".."), "_..");
  EXPECT_EQ(safe_part(""), "_");
  EXPECT_EQ(safe_part("../../etc/passwd"), "_.._.._etc_passwd");
  EXPECT_EQ(safe_part("/etc"), "_etc");
  EXPECT_EQ(safe_part("a\\b"), "a_b");
  EXPECT_EQ(safe_part(std::string("a\n\x1b[2J\0b\x7f", 9)), "a__[2J_b_");
  EXPECT_EQ(safe_part("a\xC2\x9B"
                      "b"),
            "a__b");
  EXPECT_EQ(safe_part("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(safe_part("@eaDir"), "_@eaDir");
  EXPECT_EQ(safe_part(std::string(300, 'x')).size(), 255U);
}

TEST(ExportNames, EndAsImagesDo) {
  EXPECT_EQ(file_name("train/cat/01.JPG", ".png", false), "01.JPG");
  EXPECT_EQ(file_name("train/cat/01.JPG", ".png", true), "01.png");
  EXPECT_EQ(file_name("train/00012", ".png", true), "00012.png");
  EXPECT_EQ(file_name("v1.5/x.2024", ".jpg", false), "x.2024.jpg");
  EXPECT_EQ(file_name("cat/", ".jpg", false), "_.jpg");
  EXPECT_EQ(file_name("cat/..", ".jpg", false), "_...jpg");
  const std::string longest = file_name(std::string(300, 'x'), ".png", false);
  EXPECT_EQ(longest.size(), 255U);
  EXPECT_TRUE(longest.ends_with(".png"));
}

TEST(ExportNames, OfTreesKeepTheirParts) {
  const auto path = [](std::string_view name) {
    const TreePath found = tree_path(name);
    return found.folder + "|" + found.name;
  };
  EXPECT_EQ(path("x.jpg"), "|x.jpg");
  EXPECT_EQ(path("a/b/x.jpg"), "a/b|x.jpg");
  EXPECT_EQ(path(".hidden/@eaDir/a\\b .JPG"), ".hidden/@eaDir|a\\b .JPG");
  EXPECT_EQ(path("../../etc/passwd"), "_../_../etc|passwd");
  EXPECT_EQ(path("a/.."), "a|_..");
  EXPECT_EQ(path("/etc//./x"), "etc|x");
  EXPECT_EQ(path("..."), "|...");
  EXPECT_EQ(path(""), "|_");
  EXPECT_EQ(path("///"), "|_");
  EXPECT_EQ(path(std::string_view("a\0b/c", 5)), "a_b|c");
  const TreePath longest = tree_path(std::string(300, 'd') + "/" + std::string(300, 'x') + ".png");
  EXPECT_EQ(longest.folder, std::string(255, 'd'));
  EXPECT_EQ(longest.name, std::string(251, 'x') + ".png");
}

TEST(ExportNames, OfFoldersDiffer) {
  EXPECT_EQ(folder_names({"a/b", "a_b", "a_b-2", "a\\b"}),
            (std::vector<std::string>{"a_b", "a_b-2", "a_b-2-2", "a_b-3"}));
}

TEST(ExportNames, OfFilesDiffer) {
  UniquePaths paths;
  EXPECT_EQ(paths.claim("cat", "1.png", 3), "cat/1.png");
  EXPECT_EQ(paths.claim("dog", "1.png", 4), "dog/1.png");
  EXPECT_EQ(paths.claim("cat", "1-7.png", 5), "cat/1-7.png");
  EXPECT_EQ(paths.claim("cat", "1.png", 7), "cat/1-7-7.png");
  EXPECT_EQ(paths.claim("", "1.png", 8), "1.png");
  const std::string longest = std::string(251, 'x') + ".png";
  EXPECT_EQ(paths.claim("", longest, 9), longest);
  EXPECT_EQ(paths.claim("", longest, 10), std::string(248, 'x') + "-10.png");
}

// Rows with ids 0, 10, 20 ...
dedup::Fingerprints table_of(const std::vector<std::pair<Split, std::vector<std::int32_t>>>& rows) {
  dedup::Fingerprints table;
  for (const auto& [split, labels] : rows) {
    table.ids.push_back(10 * table.ids.size());
    table.splits.push_back(split);
    table.labels.push_back(labels);
  }
  return table;
}

using Rows = std::vector<std::size_t>;

TEST(ExportChoice, TakesASplitAndWhatASelectionKeeps) {
  const auto table = table_of(
      {{Split::kTrain, {0}}, {Split::kTest, {0}}, {Split::kTrain, {1}}, {Split::kTrain, {0}}});
  EXPECT_EQ(choose(table, std::nullopt, nullptr, false).rows, (Rows{0, 1, 2, 3}));
  EXPECT_EQ(choose(table, Split::kTrain, nullptr, false).rows, (Rows{0, 2, 3}));
  EXPECT_TRUE(choose(table, Split::kVal, nullptr, false).rows.empty());
  dedup::Selection selection;
  selection.name = "s";
  selection.ids = {0, 10, 20, 30};
  selection.weights = {1, 1, 0, 0.5F};
  EXPECT_EQ(choose(table, Split::kTrain, &selection, false).rows, (Rows{0, 3}));
  EXPECT_EQ(choose(table, Split::kTrain, &selection, false).decisions, (Rows{0, 3}));
  EXPECT_EQ(choose(table, Split::kTrain, &selection, true).rows, (Rows{0, 2, 3}));
  EXPECT_EQ(removed_rows(table, std::nullopt, selection), (Rows{2}));
  EXPECT_EQ(removed_rows(table, Split::kTest, selection), Rows{});
  selection.ids = {0, 10, 30};
  selection.weights.pop_back();
  EXPECT_THROW(choose(table, std::nullopt, &selection, false), FormatError);
}

TEST(ExportChoice, CountsWhatASelectionKeepsBySplitAndLabel) {
  Manifest manifest;
  manifest.classes = {"cat", "dog"};
  auto table = table_of({{Split::kTrain, {0}},
                         {Split::kTest, {0, 1}},
                         {Split::kTrain, {}},
                         {Split::kTrain, {0}},
                         {Split::kTrain, {1}}});
  dedup::Selection selection;
  selection.ids = table.ids;
  selection.weights = {1, 1, 0, 0, 0.5F};
  const SelectionCounts counts = count(manifest, table, selection);
  EXPECT_EQ(counts.all.kept, (SelectionCounts::BySplit{0, 2, 0, 1}));
  EXPECT_EQ(counts.all.removed, (SelectionCounts::BySplit{0, 2, 0, 0}));
  EXPECT_EQ(counts.labels.at(0).kept, (SelectionCounts::BySplit{0, 1, 0, 1}));
  EXPECT_EQ(counts.labels.at(0).removed, (SelectionCounts::BySplit{0, 1, 0, 0}));
  EXPECT_EQ(counts.labels.at(1).kept, (SelectionCounts::BySplit{0, 1, 0, 1}));
  EXPECT_EQ(counts.unlabelled.removed, (SelectionCounts::BySplit{0, 1, 0, 0}));
  manifest.classes.pop_back();
  EXPECT_THROW(count(manifest, table, selection), FormatError);
}

TEST(Sheet, PicksEvenlyOrBySeed) {
  EXPECT_EQ(pick(8, 4, {}), (Rows{0, 2, 4, 6}));
  EXPECT_EQ(pick(3, 64, {}), (Rows{0, 1, 2}));
  EXPECT_EQ(pick(3, 64, 7), (Rows{0, 1, 2}));
  std::vector<int> times(10);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Rows places = pick(10, 3, seed);
    ASSERT_EQ(places.size(), 3U);
    EXPECT_LT(places[0], places[1]);
    EXPECT_LT(places[1], places[2]);
    EXPECT_EQ(places, pick(10, 3, seed));
    for (const std::size_t place : places) ++times[place];
  }
  for (const int count : times) EXPECT_NEAR(count, 90, 35);
}

TEST(Sheet, ThumbnailsFit) {
  const auto at = [](const Image& image, int x, int y) {
    return image.pixels[static_cast<std::size_t>(3 * (y * image.width_px + x))];
  };
  Image tiny(28, 28, 1);
  tiny.pixels[0] = 90;  // the top left pixel; all others are black
  const Image large = thumbnail(tiny.view());
  EXPECT_EQ(large.pixels.size(), 3U * kThumbnailPx * kThumbnailPx);
  const int margin = (kThumbnailPx - 4 * 28) / 2;
  EXPECT_EQ(at(large, margin - 1, margin), 255);
  EXPECT_EQ(at(large, margin, margin), 90);
  // Enlarged four times in each direction, without blur
  EXPECT_EQ(at(large, margin + 3, margin + 3), 90);
  EXPECT_EQ(at(large, margin + 4, margin), 0);
  const Image flat = thumbnail(Image(3, 10'000, 3).view());
  EXPECT_EQ(at(flat, 0, kThumbnailPx / 2), 255);  // below a line one pixel high
  EXPECT_EQ(at(flat, 0, (kThumbnailPx - 1) / 2), 0);
  EXPECT_EQ(at(thumbnail(Image(4000, 4000, 3).view()), 0, 0), 0);
}

TEST(ExportChoice, SplitFoldersWhereTheyAreNeeded) {
  Manifest manifest;
  manifest.classes = {"cat", "test"};
  const auto needed = [&](const auto& rows) {
    const auto table = table_of(rows);
    Rows all(table.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return plan_folders(manifest, table, all).split_folders;
  };
  using In = std::vector<std::pair<Split, std::vector<std::int32_t>>>;
  EXPECT_FALSE(needed(In{{Split::kTrain, {0}}, {Split::kTrain, {0}}}));
  EXPECT_FALSE(needed(In{{Split::kTrain, {}}}));
  EXPECT_FALSE(needed(In{{Split::kNone, {0}}, {Split::kNone, {1}}}));
  EXPECT_TRUE(needed(In{{Split::kTrain, {0}}, {Split::kTest, {0}}}));
  EXPECT_TRUE(needed(In{{Split::kTrain, {0}}, {Split::kTrain, {}}}));
  EXPECT_TRUE(needed(In{{Split::kTrain, {1}}}));
  EXPECT_THROW(needed(In{{Split::kTrain, {0, 1}}}), UsageError);
  EXPECT_THROW(needed(In{{Split::kTrain, {2}}}), FormatError);
}

TEST(EncodePng, KeepsEveryPixel) {
  std::mt19937 random(1);
  for (const int channels : {1, 3}) {
    Image image(7, 13, channels);
    for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random());
    const Bytes png = encode_png(image.view());
    EXPECT_EQ(png, encode_png(image.view()));
    const auto decoded = decode(png, {});
    ASSERT_TRUE(static_cast<bool>(decoded));
    EXPECT_EQ(static_cast<const Image&>(*decoded), image);
  }
  Image gray_in_colour(4, 4, 3);
  const auto decoded = decode(encode_png(gray_in_colour.view()), {});
  ASSERT_TRUE(static_cast<bool>(decoded));
  EXPECT_EQ(static_cast<const Image&>(*decoded), gray_in_colour);
}

}  // namespace winnow::pipeline::export_test
