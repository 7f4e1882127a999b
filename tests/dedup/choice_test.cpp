#include "dedup/tune/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dedup/decisions/deduplicate.h"
#include "dedup/tune/finds.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::choice_test {

// Images with codes of 256 bits, and no labels.
class Images {
 public:
  explicit Images(std::size_t strangers, std::uint64_t seed = 1) : rng_(test_rng(seed)) {
    for (std::size_t i = 0; i < strangers; ++i) add(random_code());
  }

  // Adds an image whose code differs from that of image `of` in `bits` bits.
  void add_near(std::size_t of, std::uint32_t bits, std::vector<std::int32_t> labels = {}) {
    std::vector<std::uint64_t> code(codes_.begin() + static_cast<std::ptrdiff_t>(4 * of),
                                    codes_.begin() + static_cast<std::ptrdiff_t>(4 * of + 4));
    std::vector<bool> flipped(256);
    while (bits > 0) {
      const std::uint32_t bit = rng_.below(256);
      if (flipped[bit]) continue;
      flipped[bit] = true;
      code[bit / 64] ^= std::uint64_t{1} << bit % 64;
      --bits;
    }
    add(code, std::move(labels));
  }
  void label_all(std::uint32_t classes) {
    for (TestImage& image : images_) {
      image.labels = {static_cast<std::int32_t>(rng_.below(classes))};
    }
  }
  TestImage& image(std::size_t i) { return images_[i]; }
  std::size_t size() const { return images_.size(); }

  // A table with a column phash16, and one phash that has only `short_codes`.
  Fingerprints table(const std::vector<std::uint64_t>& short_codes = {}) const {
    Fingerprints table = make_table(images_);
    table.codes.clear();
    if (!short_codes.empty()) table.codes.push_back({"phash", 1, 64, short_codes});
    table.codes.push_back({"phash16", 1, 256, codes_});
    return table;
  }

 private:
  std::vector<std::uint64_t> random_code() {
    std::vector<std::uint64_t> code(4);
    for (std::uint64_t& word : code) word = rng_.next_u64();
    return code;
  }
  void add(const std::vector<std::uint64_t>& code, std::vector<std::int32_t> labels = {}) {
    const std::uint64_t number = images_.size();
    images_.push_back(
        {.id = number, .labels = std::move(labels), .file = number, .pixels = number});
    codes_.insert(codes_.end(), code.begin(), code.end());
  }

  CounterRng rng_;
  std::vector<TestImage> images_;
  std::vector<std::uint64_t> codes_;
};

ColumnSource columns_of(const Fingerprints& table) {
  return [&table](const ColumnNames& names) { return select_columns(table, names); };
}

const std::vector<std::string> kLong{"phash16"};

std::optional<Chosen> chosen_of(const Fingerprints& table, const Demand& demand = {},
                                const std::vector<std::string>& hashes = kLong) {
  return measure_and_choose(columns_of(table), hashes, demand);
}

double pairs_by_chance(const Curve& curve, int threshold, double images) {
  return 3 * curve.points[static_cast<std::size_t>(threshold)].chance_probability * images *
         (images - 1) / 2;
}

TEST(Choice, IsTheLargestThresholdOfThatRiskForSoManyImages) {
  int before = 256;
  for (const std::size_t count : {1000U, 2000U, 4000U}) {
    Images images(count);
    for (std::size_t i = 0; i < 50; ++i) images.add_near(i, static_cast<std::uint32_t>(i));
    const Fingerprints table = images.table();
    const auto chosen = chosen_of(table);
    ASSERT_TRUE(chosen);
    const HashAndThreshold& choice = chosen->choice;
    EXPECT_EQ(choice.reason, ThresholdReason::kRisk);
    EXPECT_EQ(choice.pairs, 50U);
    EXPECT_LT(choice.false_pairs, 0.5);
    EXPECT_FALSE(choice.alike);
    EXPECT_LT(choice.threshold, before);
    EXPECT_GT(choice.threshold, 70);
    before = choice.threshold;
    const Curve curve = measure_curve(columns_of(table), {.hash = "phash16"});
    const auto n = static_cast<double>(table.size());
    EXPECT_LT(pairs_by_chance(curve, choice.threshold, n), 0.5);
    EXPECT_GE(pairs_by_chance(curve, choice.threshold + 1, n), 0.5);
    EXPECT_EQ(choose(curve, {})->threshold, choice.threshold);
    EXPECT_GT(chosen_of(table, {.risk = 50, .precision = {}})->choice.threshold, choice.threshold);
    EXPECT_EQ(choose_by_chance(columns_of(table), "phash16", {})->threshold, choice.threshold);
  }
}

TEST(Choice, CopiesDoNotPassForStrangersThatAreNear) {
  Images images(100);
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::uint32_t copy = 0; copy < 15; ++copy) images.add_near(i, 2 * copy);
  }
  const Fingerprints table = images.table();
  const Curve curve = measure_curve(columns_of(table), {.hash = "phash16", .most = 8});
  EXPECT_GT(curve.independent_bits, 200);
  EXPECT_GT(chosen_of(table)->choice.threshold, 80);
}

TEST(Choice, SetsOfNothingButCopiesOfCopiesAreToldFromStrangers) {
  constexpr std::uint32_t kPictures = 20;
  constexpr std::uint32_t kCopies = 10;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Images images(kPictures, seed);
    for (std::size_t i = 0; i < kPictures; ++i) {
      images.add_near(i, 8);
      for (std::uint32_t copy = 2; copy < kCopies; ++copy) images.add_near(images.size() - 1, 8);
    }
    const Fingerprints table = images.table();
    const auto chosen = chosen_of(table);
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->choice.reason, ThresholdReason::kRisk);
    EXPECT_GT(chosen->choice.threshold, 60);
    EXPECT_LT(chosen->choice.threshold, 100);
    Options options;
    options.hash = "phash16";
    options.threshold = chosen->choice.threshold;
    const Result result = deduplicate(columns_of(table), options, chosen->links);
    ASSERT_EQ(result.groups.size(), kPictures);
    for (const Group& group : result.groups) {
      EXPECT_EQ(group.rows.size(), kCopies);
      const auto picture_of = [](std::uint32_t row) {
        return row < kPictures ? row : (row - kPictures) / (kCopies - 1);
      };
      for (const std::uint32_t row : group.rows) {
        EXPECT_EQ(picture_of(row), picture_of(group.rows.front()));
      }
    }
    EXPECT_EQ(choose_by_chance(columns_of(table), "phash16", {})->threshold,
              chosen->choice.threshold);
  }
}

TEST(Choice, LabelsLowerItWhereStrangersAreNearerThanByChance) {
  Images images(2000);
  for (std::size_t i = 0; i < 200; ++i) images.add_near(i, 70);
  images.label_all(10);  // including near images
  for (std::size_t i = 0; i < 100; ++i) {
    images.add_near(i + 500, 20, images.image(i + 500).labels);
  }
  const auto chosen = chosen_of(images.table());
  ASSERT_TRUE(chosen);
  EXPECT_GE(chosen->choice.threshold, 20);
  EXPECT_LT(chosen->choice.threshold, 70);
  EXPECT_EQ(chosen->choice.pairs, 100U);
  ASSERT_TRUE(chosen->choice.alike);
  EXPECT_TRUE(chosen->choice.alike->by_class);
  EXPECT_NEAR(chosen->choice.alike->expected, 200, 40);
}

TEST(Choice, EqualPixelsAreNoStrangersWhateverTheirLabels) {
  Images images(2000);
  images.label_all(10);
  for (std::size_t i = 0; i < 40; ++i) {
    images.add_near(i, 0, {static_cast<std::int32_t>(images.image(i).labels[0] + 1)});
    images.image(images.size() - 1).pixels = i;
  }
  Fingerprints table = images.table();
  const auto chosen = chosen_of(table);
  ASSERT_TRUE(chosen);
  EXPECT_GT(chosen->choice.threshold, 70);
  EXPECT_LT(chosen->choice.false_pairs, 0.5);
  // With other pixels, they count as different pictures.
  table.pixel_hashes = table.file_hashes;
  EXPECT_FALSE(chosen_of(table));
}

TEST(Choice, PicturesThatAreAlikeAreToldWithoutLabels) {
  Images images(1500);
  // As with digits: each has others at all distances, and more of them further away.
  for (std::size_t i = 0; i < 600; ++i) {
    images.add_near(i, 70 + static_cast<std::uint32_t>(i) / 25);
  }
  const auto chosen = chosen_of(images.table());
  ASSERT_TRUE(chosen);
  ASSERT_TRUE(chosen->choice.alike);
  EXPECT_FALSE(chosen->choice.alike->by_class);
  EXPECT_GT(static_cast<double>(chosen->choice.alike->pairs), 3 * chosen->choice.alike->expected);
  // The threshold that chance alone would allow links different pictures.
  EXPECT_LT(chosen->choice.threshold, chosen->choice.alike->allowed - 5);
}

TEST(Choice, OfFewImagesTheUsualThresholdIsTaken) {
  for (const std::size_t count : {0U, 1U, 2U, 99U}) {
    const auto chosen = chosen_of(Images(count).table());
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->choice.reason, ThresholdReason::kFewImages);
    EXPECT_EQ(chosen->choice.threshold, 70);
  }
  EXPECT_EQ(chosen_of(Images(100).table())->choice.reason, ThresholdReason::kRisk);
}

TEST(Choice, IsOfTheHashThatFindsMostAndOfMuchTheSameTheLongest) {
  Images images(400);
  for (std::size_t i = 0; i < 40; ++i) images.add_near(i, i < 22 ? 40 : 120);
  std::vector<std::uint64_t> short_codes;
  CounterRng rng = test_rng(3);
  for (std::size_t i = 0; i < images.size(); ++i) short_codes.push_back(rng.next_u64());
  const std::vector<std::string> both{"phash", "phash16"};
  const auto with = [&](std::size_t copies) {
    std::vector<std::uint64_t> codes = short_codes;
    for (std::size_t i = 0; i < copies; ++i) codes[400 + i] = codes[i] ^ 1;
    return chosen_of(images.table(codes), {}, both)->choice;
  };
  EXPECT_EQ(with(26).hash, "phash16");
  EXPECT_EQ(with(26).pairs, 22U);
  EXPECT_EQ(with(29).hash, "phash");
  EXPECT_EQ(with(29).pairs, 29U);
}

// A curve whose pairs are all right.
Curve curve_of(const std::string& hash, int bits, std::uint64_t pairs) {
  Curve curve;
  curve.hash = hash;
  curve.bits = bits;
  curve.images = 1000;
  curve.points = {{.threshold = 0, .pairs = pairs, .precision = {}, .precision_at_least = {}}};
  return curve;
}

TEST(Choice, OfSeveralIsTheSameInAnyOrderOfThem) {
  // 10 and 14 differ little, and so do 14 and 18, but 10 is too few.
  const std::vector curves{curve_of("longest", 256, 10), curve_of("long", 128, 14),
                           curve_of("short", 64, 18)};
  std::vector<std::size_t> order{0, 1, 2};
  do {
    const std::vector ordered{curves[order[0]], curves[order[1]], curves[order[2]]};
    const auto choice = choose(ordered, {});
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->hash, "long") << testing::PrintToString(order);
    EXPECT_EQ(choice->pairs, 14U);
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(choose(std::vector{curve_of("a", 64, 18), curve_of("b", 64, 20)}, {})->hash, "a");
  EXPECT_EQ(choose(std::vector{curve_of("a", 256, 13), curve_of("b", 64, 18)}, {})->hash, "a");
  EXPECT_EQ(choose(std::vector{curve_of("a", 256, 12), curve_of("b", 64, 18)}, {})->hash, "b");
  EXPECT_FALSE(choose(std::vector<Curve>(), {}));
}

TEST(Choice, OfVeryManyImagesLongCodesAreNotComparedUnasked) {
  using Names = std::vector<std::string>;
  const Names all{"phash16", "phash_dihedral", "pdq@1/8", "dhash"};
  EXPECT_EQ(worth_comparing(all, 2'000'000), all);
  EXPECT_EQ(worth_comparing(all, 2'000'001), (Names{"phash_dihedral", "dhash"}));
  const Names long_ones{"phash16", "pdq"};
  EXPECT_EQ(worth_comparing(long_ones, 2'000'001), long_ones) << "there are no others";
  EXPECT_EQ(worth_comparing(Names(), 2'000'001), Names());
}

TEST(Choice, IsNothingWhereEqualCodesAreNoRarity) {
  Images images(200);
  std::vector<std::uint64_t> few;
  for (std::size_t i = 0; i < images.size(); ++i) few.push_back(i % 2);
  EXPECT_FALSE(chosen_of(images.table(few), {}, {"phash"}));
  EXPECT_EQ(chosen_of(images.table(few), {}, {"phash", "phash16"})->choice.hash, "phash16");
}

TEST(Choice, WhatWasFoundForItIsNotSearchedForAgain) {
  Images images(600);
  for (std::size_t i = 0; i < 90; ++i) images.add_near(i, static_cast<std::uint32_t>(i));
  const Fingerprints table = images.table();
  int searches = 0;
  const LinkSource search = [&](const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                int radius, const EdgeSink& sink) {
    ++searches;
    find_edges(codes, rows, radius, sink);
  };
  const auto chosen = measure_and_choose(columns_of(table), kLong, {}, search);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(searches, 1);
  for (const GroupKind kind : {GroupKind::kComponents, GroupKind::kStars}) {
    Options options;
    options.hash = chosen->choice.hash;
    options.threshold = chosen->choice.threshold;
    options.groups = kind;
    const Result replayed = deduplicate(columns_of(table), options, chosen->links);
    EXPECT_EQ(serialize(replayed.selection), serialize(deduplicate(table, options).selection));
    EXPECT_GT(replayed.removed, 70U);
  }
  EXPECT_EQ(searches, 1);
  // A search for other rows or greater distances runs again.
  Options options;
  options.hash = "phash16";
  options.threshold = 100;
  EXPECT_EQ(serialize(deduplicate(columns_of(table), options, chosen->links).selection),
            serialize(deduplicate(table, options).selection));
  EXPECT_EQ(searches, 2);
}

TEST(Choice, ByPrecisionIsThatOfTheCurve) {
  Images images(800);
  for (std::size_t i = 0; i < 300; ++i) images.add_near(i, static_cast<std::uint32_t>(i) / 4);
  const Fingerprints table = images.table();
  const Demand demand{.risk = 0.5, .precision = 0.9};
  const auto chosen = chosen_of(table, demand);
  ASSERT_TRUE(chosen);
  const Curve curve = measure_curve(columns_of(table), {.hash = "phash16"});
  EXPECT_EQ(chosen->choice.threshold, choose_threshold(curve, 0.9)->threshold);
  EXPECT_EQ(chosen->choice.reason, choose_threshold(curve, 0.9)->reason);
}

TEST(Finds, SaysWhatAThresholdFindsAndWhatNot) {
  EXPECT_EQ(finds_in_words("phash16", 66),
            "finds JPEG, scaling, blur, gamma, watermarks, borders of 2 %, crops to 5 %, turns to "
            "2 degrees; not borders of 5 %, crops to 10 %, turns to 5 degrees, mirrored pictures, "
            "quarter turns");
  EXPECT_EQ(finds_in_words("phash", 4),
            "finds JPEG, scaling, blur, crops to 1 %; not gamma, watermarks, borders of 2 %, crops "
            "to 2 %, turns to 1 degree, mirrored pictures, quarter turns");
  EXPECT_EQ(finds_in_words("phash_dihedral@1/8", 4),
            "finds JPEG, scaling, blur, crops to 1 %, quarter turns, mirrored pictures; not gamma, "
            "watermarks, borders of 2 %, crops to 2 %, turns to 1 degree");
  EXPECT_EQ(finds_in_words("ahash", 4), "");
  EXPECT_EQ(finds_in_words("nope", 4), "");
}

}  // namespace winnow::dedup::choice_test
