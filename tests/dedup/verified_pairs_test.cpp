#include "dedup/verify/verified_pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "dedup/table/column_file.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::verified_pairs_test {

// Pairs among six images: rows 0-2 and 1-3 by pictures, 2-4 by codes only.
VerifiedLinks some_links() {
  VerifiedLinks links;
  links.edges = {{0, 2, 0}, {1, 3, 0}, {2, 4, 0}};
  links.verification.pairs = {
      {.row_a = 0, .row_b = 2, .probability = 0.99F, .map = {.xx = 0.5, .y0 = 0.25}},
      {.row_a = 1, .row_b = 3, .probability = 0.95F, .map = {}}};
  links.kept.least.near = 0.9;
  links.kept.expected_false = 0.25;
  return links;
}

const std::vector<SampleId> kIds{3, 5, 8, 13, 21, 34};
const Options kBy{.hash = "phash", .threshold = 6};

VerifiedPairs some_pairs() {
  VerifiedPairs pairs = pairs_of(some_links(), kBy, kIds);
  pairs.cache_digest = "0123456789abcdef";
  return pairs;
}

TEST(VerifiedPairs, AreOfIdsAndSayWhatDecided) {
  const VerifiedPairs pairs = some_pairs();
  EXPECT_EQ(pairs.first, (std::vector<SampleId>{3, 5, 8}));
  EXPECT_EQ(pairs.second, (std::vector<SampleId>{8, 13, 21}));
  EXPECT_EQ(pairs.probability, (std::vector<float>{0.99F, 0.95F, 0}));
  EXPECT_NEAR(pairs.precision().value(), 1 - 0.25 / 2, 1e-12);
  const Options options = options_of(pairs);
  EXPECT_EQ(options.hash, "phash");
  EXPECT_EQ(options.threshold, 6);
  EXPECT_EQ(options.matching.verified, 0.9);
  VerifiedLinks by_labels = some_links();
  by_labels.kept.least.raised_by_labels = true;
  EXPECT_FALSE(pairs_of(by_labels, kBy, kIds).precision()) << "scores do not tell there";
  EXPECT_FALSE(pairs_of({}, kBy, kIds).precision());
}

TEST(VerifiedPairs, ComeBackFromTheirFile) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "verified.pairs";
  for (const VerifiedPairs& pairs : {some_pairs(), pairs_of({}, kBy, kIds)}) {
    write_verified_pairs(path, pairs);
    EXPECT_EQ(read_verified_pairs(path), pairs);
  }
}

TEST(VerifiedPairs, SayWhatPicturesTold) {
  const VerifiedLinks links = some_links();
  const auto kept = verified_of(some_pairs(), kIds);
  EXPECT_EQ(kept->edges, links.edges);
  ASSERT_EQ(kept->verification.pairs.size(), 2U) << "codes decided the third";
  const VerifiedPair* const pair = find_pair(*kept, 2, 0);
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->probability, 0.99F);
  EXPECT_EQ(pair->map, links.verification.pairs[0].map);
}

// The first version of the format had no maps.
TEST(VerifiedPairs, OfTheFirstVersionAreRead) {
  VerifiedPairs pairs = some_pairs();
  pairs.map.clear();
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "verified.pairs";
  write_file_durably(
      path, column_file(
                {"WNWVPAIR", 1, "file of verified pairs"}, pairs.first.size(),
                {column("cache_digest", std::span<const char>(pairs.cache_digest)),
                 column("hash", std::span<const char>(pairs.hash)),
                 column("threshold", std::span<const std::uint32_t>(&pairs.threshold, 1)),
                 column("least_probability", std::span<const double>(&pairs.least_probability, 1)),
                 column("expected_false", std::span<const double>(&*pairs.expected_false, 1)),
                 column("first", std::span<const SampleId>(pairs.first)),
                 column("second", std::span<const SampleId>(pairs.second)),
                 column("probability", std::span<const float>(pairs.probability))}));
  const VerifiedPairs read_again = read_verified_pairs(path);
  EXPECT_EQ(read_again, pairs);
  EXPECT_EQ(verified_of(read_again, kIds)->edges, some_links().edges);
  EXPECT_TRUE(verified_of(read_again, kIds)->verification.pairs.empty());
}

// Stored pairs lead to the same decision as the links that were found.
TEST(VerifiedPairs, DecideAsTheLinksDid) {
  std::vector<TestImage> images;
  CounterRng rng = test_rng(1);
  for (const SampleId id : kIds) {
    images.push_back({.id = id, .code = rng.next_u64(), .file = id, .pixels = id});
  }
  const Fingerprints table = make_table(images);
  const ColumnSource columns = [&](const ColumnNames&) { return table; };
  Options options = options_of(some_pairs());
  options.scope = Scope::kWithin;
  const Selection found =
      deduplicate(columns, options, links_of(std::make_shared<VerifiedLinks>(some_links())))
          .selection;
  const Selection kept =
      deduplicate(columns, options, links_of(verified_of(some_pairs(), kIds))).selection;
  EXPECT_EQ(kept, found);
  // 8 is represented by 3; 21 is linked only to 8, and stays.
  EXPECT_EQ(kept.kept, (std::vector<SampleId>{3, 5, 3, 5, 21, 34}));
  VerifiedPairs other = some_pairs();
  other.second.back() = 22;
  EXPECT_THROW(verified_of(other, kIds), FormatError);
}

TEST(VerifiedPairs, AreRefusedWhereTheFileIsNotWhole) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "verified.pairs";
  write_verified_pairs(path, some_pairs());
  const std::string whole = read_text(path);
  for (std::size_t at = 0; at < whole.size(); at += 5) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_file_durably(path, damaged);
    EXPECT_THROW(read_verified_pairs(path), FormatError) << at;
  }
  write_file_durably(path, whole.substr(0, whole.size() - 1));
  EXPECT_THROW(read_verified_pairs(path), FormatError);
  // Contents that no writer makes, with a valid checksum.
  const auto refuses = [&](const auto& change) {
    VerifiedPairs pairs = some_pairs();
    change(pairs);
    write_verified_pairs(path, pairs);
    EXPECT_THROW(read_verified_pairs(path), FormatError);
  };
  refuses([](VerifiedPairs& pairs) { pairs.probability[0] = 1.5F; });
  refuses([](VerifiedPairs& pairs) { pairs.first[0] = 8; });
  refuses([](VerifiedPairs& pairs) { std::swap(pairs.first[0], pairs.first[1]); });
  refuses([](VerifiedPairs& pairs) { pairs.least_probability = -1; });
  refuses([](VerifiedPairs& pairs) { pairs.expected_false = -1; });
  refuses([](VerifiedPairs& pairs) { pairs.map[0].xx = 0; });
  refuses([](VerifiedPairs& pairs) { pairs.map[2].x0 = std::nan(""); });
  refuses([](VerifiedPairs& pairs) { pairs.map.pop_back(); });
}

}  // namespace winnow::dedup::verified_pairs_test
