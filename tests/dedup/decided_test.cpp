// Review decisions are obeyed, compared with definitions over all pairs of a few images.

#include "dedup/review/decided.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "common/error.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/decisions/settings.h"
#include "dedup/lists/pairs.h"
#include "dedup/lists/report.h"
#include "dedup/policy/precedence.h"
#include "dedup/split/split.h"
#include "tests/dedup/judgements.h"

namespace winnow::dedup::decided_test {

using testing::ElementsAre;
using testing::HasSubstr;

// Components as sets, merged link by link.
class NaiveComponents {
 public:
  explicit NaiveComponents(std::size_t rows) : of_row_(rows) {
    std::iota(of_row_.begin(), of_row_.end(), std::uint32_t{0});
  }
  bool together(std::uint32_t a, std::uint32_t b) const { return of_row_[a] == of_row_[b]; }
  void join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t from = of_row_[b];
    const std::uint32_t to = of_row_[a];
    std::ranges::replace(of_row_, from, to);
  }
  // Whether joining two rows keeps every set of `apart` apart.
  bool may_join(std::uint32_t a, std::uint32_t b, const RowSets& apart) const {
    for (const auto& set : apart) {
      for (const std::uint32_t x : set) {
        for (const std::uint32_t y : set) {
          if (x != y && together(x, a) && together(y, b) && !together(a, b)) return false;
        }
      }
    }
    return true;
  }
  // Component numbers in the order of their first rows.
  std::vector<std::uint32_t> numbers() const {
    std::map<std::uint32_t, std::uint32_t> number;
    std::vector<std::uint32_t> out;
    for (const std::uint32_t component : of_row_) {
      out.push_back(
          number.try_emplace(component, static_cast<std::uint32_t>(number.size())).first->second);
    }
    return out;
  }

 private:
  std::vector<std::uint32_t> of_row_;
};

std::vector<std::uint32_t> naive_parts(std::size_t rows, const std::vector<Edge>& always,
                                       std::vector<Edge> links, const RowSets& apart) {
  NaiveComponents parts(rows);
  for (const Edge& edge : always) parts.join(edge.a, edge.b);
  std::ranges::sort(links, {}, [](const Edge& e) { return std::tuple(e.distance, e.a, e.b); });
  for (const Edge& edge : links) {
    if (parts.may_join(edge.a, edge.b, apart)) parts.join(edge.a, edge.b);
  }
  return parts.numbers();
}

Edge random_edge(CounterRng& rng, std::uint32_t rows) {
  const std::uint32_t a = rng.below(rows);
  const std::uint32_t b = (a + 1 + rng.below(rows - 1)) % rows;
  return {std::min(a, b), std::max(a, b), rng.below(4)};
}

TEST(ComponentsApart, AreWhatJoiningSetsOneByOneFinds) {
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CounterRng rng = test_rng(seed);
    const std::uint32_t rows = 4 + rng.below(30);
    RowSets apart;
    for (std::uint32_t i = rng.below(5); i > 0; --i) {
      std::set<std::uint32_t> set;
      for (std::uint32_t size = 2 + rng.below(3); set.size() < size;) set.insert(rng.below(rows));
      apart.emplace_back(set.begin(), set.end());
    }
    std::vector<Edge> always;
    NaiveComponents held(rows);
    for (std::uint32_t i = rng.below(rows / 2); i > 0; --i) {
      const Edge edge = random_edge(rng, rows);
      if (!held.may_join(edge.a, edge.b, apart)) continue;
      held.join(edge.a, edge.b);
      always.push_back(edge);
    }
    std::vector<Edge> links;
    for (std::uint32_t i = rng.below(4 * rows); i > 0; --i) links.push_back(random_edge(rng, rows));
    const std::vector<std::uint32_t> expected = naive_parts(rows, always, links, apart);
    EXPECT_EQ(components_apart(rows, always, links, apart).of_row, expected);
    std::shuffle(links.begin(), links.end(), std::minstd_rand(static_cast<unsigned>(seed)));
    std::shuffle(apart.begin(), apart.end(), std::minstd_rand(static_cast<unsigned>(seed)));
    EXPECT_EQ(components_apart(rows, always, links, apart).of_row, expected);
    cut += naive_parts(rows, always, links, {}) != expected ? 1 : 0;
  }
  EXPECT_GT(cut, 100U);
}

TEST(ComponentsApart, CutsTheLongestOfAChain) {
  const std::vector<Edge> chain{{0, 1, 2}, {1, 2, 3}, {2, 3, 2}};
  EXPECT_THAT(components_apart(4, {}, chain, {{0, 3}}).of_row, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(components_apart(4, {}, chain, {}).of_row, ElementsAre(0, 0, 0, 0));
  EXPECT_THROW(components_apart(4, chain, {}, {{0, 3}}), Error);
}

// Many images with few codes, which differ in a few bits. Some share files or pixels; some are
// blank.
Fingerprints crowded_table(std::uint64_t seed, bool turned) {
  CounterRng rng = test_rng(seed);
  const std::uint32_t rows = 8 + rng.below(30);
  std::vector<std::uint64_t> codes{rng.next_u64()};
  for (std::uint32_t i = 1 + rng.below(8); i > 0; --i) {
    codes.push_back(codes[rng.below(static_cast<std::uint32_t>(codes.size()))] ^
                    random_flips(rng, static_cast<int>(1 + rng.below(3))));
  }
  const auto any_code = [&] { return codes[rng.below(static_cast<std::uint32_t>(codes.size()))]; };
  std::vector<TestImage> images;
  CodeColumn mirrored = empty_codes("phash_mirrored", 1, 2 * 64);
  for (std::uint32_t row = 0; row < rows; ++row) {
    TestImage image{.id = 7 + 2 * row, .code = any_code(), .file = row + 1, .pixels = row + 1};
    image.split = static_cast<Split>(rng.below(4));
    image.labels = {static_cast<std::int32_t>(rng.below(2))};
    if (rng.below(6) == 0) image.quality = 0;
    mirrored.words.insert(mirrored.words.end(), {image.code, any_code()});
    if (row > 0 && rng.below(6) == 0) {  // equal pixels, possibly the same file
      const TestImage& other = images[rng.below(row)];
      image.pixels = other.pixels;
      if (rng.below(2) == 0) {
        image.file = other.file;
        image.code = other.code;
        image.quality = other.quality;
        const auto from = 2 * static_cast<std::size_t>(&other - images.data());
        mirrored.words[2 * row] = mirrored.words[from];
        mirrored.words[2 * row + 1] = mirrored.words[from + 1];
      }
    }
    images.push_back(image);
  }
  Fingerprints table = make_table(images);
  if (turned) table.codes.front() = mirrored;
  return table;
}

Review random_review(CounterRng& rng, const Fingerprints& table) {
  Review review{.file = "said.jsonl", .judgements = {}, .sample = {}, .digest = {}};
  for (std::uint32_t i = 1 + rng.below(5); i > 0; --i) {
    std::set<Hash128> images;
    for (std::uint32_t n = 2 + rng.below(2); n > 0; --n) {
      images.insert(table.file_hashes[rng.below(static_cast<std::uint32_t>(table.size()))]);
    }
    if (images.size() < 2) continue;
    review.judgements.push_back(
        {.verdict = rng.below(3) == 0 ? Verdict::kDuplicate : Verdict::kDifferent,
         .images = {images.begin(), images.end()},
         .line = review.judgements.size() + 2});
  }
  return review;
}

std::vector<std::uint32_t> all_rows(const Fingerprints& table) {
  std::vector<std::uint32_t> rows(table.size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  return rows;
}

struct Definition {
  std::vector<Edge> always;  // equal files or pixels, or duplicates by a review
  std::vector<Edge> links;   // by codes
  RowSets apart;             // rows that must stay apart
};

Definition definition_of(const Fingerprints& table, const Review& review, int threshold) {
  Definition out;
  const auto judgements = last_said(std::span(&review, 1));
  const auto judged = [&](Verdict verdict, std::uint32_t a, std::uint32_t b) {
    return std::ranges::any_of(judgements, [&](const Judgement& one) {
      return one.verdict == verdict && std::ranges::count(one.images, table.file_hashes[a]) > 0 &&
             std::ranges::count(one.images, table.file_hashes[b]) > 0;
    });
  };
  NaiveComponents equal(table.size());
  for (const auto* hashes : {&table.file_hashes, &table.pixel_hashes}) {
    for (const Edge& edge : equal_edges(*hashes, all_rows(table))) equal.join(edge.a, edge.b);
  }
  for (std::uint32_t a = 0; a < table.size(); ++a) {
    for (std::uint32_t b = a + 1; b < table.size(); ++b) {
      const auto bits = static_cast<std::uint32_t>(row_distance(table.codes.front(), a, b));
      const bool one_file = table.file_hashes[a] == table.file_hashes[b];
      if (one_file || table.pixel_hashes[a] == table.pixel_hashes[b]) {
        out.always.push_back({a, b, 0});
      } else if (judged(Verdict::kDuplicate, a, b)) {
        out.always.push_back({a, b, bits});
      }
      const bool differ = judged(Verdict::kDifferent, a, b);
      if (differ && !equal.together(a, b)) out.apart.push_back({a, b});
      if (table.quality[a] > 0 && table.quality[b] > 0 &&
          bits <= static_cast<unsigned>(threshold)) {
        out.links.push_back({a, b, bits});
      }
    }
  }
  return out;
}

// Whether rows that must stay apart are always linked.
bool contradicts(const Definition& world, std::size_t rows) {
  NaiveComponents held(rows);
  for (const Edge& edge : world.always) held.join(edge.a, edge.b);
  return std::ranges::any_of(world.apart,
                             [&](const auto& two) { return held.together(two[0], two[1]); });
}

ColumnSource columns_of(const Fingerprints& table) {
  return [&table](const ColumnNames& names) { return select_columns(table, names); };
}

std::set<std::vector<std::uint32_t>> rows_of(const Result& result) {
  std::set<std::vector<std::uint32_t>> groups;
  for (const Group& group : result.groups) groups.insert(group.rows);
  return groups;
}

// Groups of two or more rows of one split, connected by links inside one part.
std::set<std::vector<std::uint32_t>> groups_within(const Fingerprints& table,
                                                   const Definition& world,
                                                   const std::vector<std::uint32_t>& part_of) {
  NaiveComponents inside(table.size());
  for (const auto* edges : {&world.always, &world.links}) {
    for (const Edge& edge : *edges) {
      if (table.splits[edge.a] == table.splits[edge.b] && part_of[edge.a] == part_of[edge.b]) {
        inside.join(edge.a, edge.b);
      }
    }
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
  const std::vector<std::uint32_t> numbers = inside.numbers();
  for (std::uint32_t row = 0; row < table.size(); ++row) groups[numbers[row]].push_back(row);
  std::set<std::vector<std::uint32_t>> out;
  for (const auto& [number, rows] : groups) {
    if (rows.size() > 1) out.insert(rows);
  }
  return out;
}

// Checks everything that deduplicate() returns for a table.
void check_world(const Fingerprints& table, const Definition& world, const Options& options,
                 const std::vector<std::uint32_t>& parts) {
  const Result all = deduplicate(table, options);
  ASSERT_EQ(all.selection.components, parts);
  for (const Group& group : all.groups) {
    for (const std::uint32_t row : group.rows) ASSERT_EQ(parts[row], parts[group.rows[0]]);
  }
  Options other = options;
  other.scope = Scope::kWithin;
  const Result within = deduplicate(table, other);
  ASSERT_EQ(within.selection.components, parts);
  ASSERT_EQ(rows_of(within), groups_within(table, world, parts));
  for (const GroupKind kind : {GroupKind::kStars, GroupKind::kCliques}) {
    other = options;
    other.groups = kind;
    const Result tight = deduplicate(table, other);
    ASSERT_EQ(tight.selection.components, parts);
    for (const Group& group : tight.groups) {
      for (const std::uint32_t row : group.rows) ASSERT_EQ(parts[row], parts[group.rows[0]]);
    }
  }
}

TEST(Decided, IsObeyedAsByAllPairsOfImages) {
  std::size_t contradictions = 0;
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const bool turned = seed % 3 == 0;
    const Fingerprints table = crowded_table(seed, turned);
    CounterRng rng = test_rng(1000 + seed);
    const Review review = random_review(rng, table);
    Options options{.hash = turned ? "phash_mirrored" : "phash",
                    .threshold = static_cast<int>(rng.below(4))};
    const Definition world = definition_of(table, review, options.threshold);
    if (contradicts(world, table.size())) {
      EXPECT_THROW(apply_to_rows(std::span(&review, 1), columns_of(table)), UsageError);
      ++contradictions;
      continue;
    }
    options.decided =
        std::make_shared<const Decided>(apply_to_rows(std::span(&review, 1), columns_of(table)));
    const auto parts = naive_parts(table.size(), world.always, world.links, world.apart);
    cut += parts != naive_parts(table.size(), world.always, world.links, {}) ? 1 : 0;
    check_world(table, world, options, parts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(contradictions, 30U);
  EXPECT_GT(cut, 100U);
}

TEST(Decided, ListsPairsAsPeopleSaid) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Fingerprints table = crowded_table(seed, false);
    CounterRng rng = test_rng(1000 + seed);
    const Review review = random_review(rng, table);
    Options options{.hash = "phash", .threshold = 2};
    const Definition world = definition_of(table, review, options.threshold);
    if (contradicts(world, table.size())) continue;
    options.decided =
        std::make_shared<const Decided>(apply_to_rows(std::span(&review, 1), columns_of(table)));
    NaiveComponents same(table.size());
    for (const Edge& edge : world.always) same.join(edge.a, edge.b);
    const auto are_apart = [&](const Edge& edge) {
      return !same.may_join(edge.a, edge.b, world.apart);
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
    for (const auto* edges : {&world.links, &world.always}) {
      for (const Edge& edge : *edges) {
        if (are_apart(edge)) continue;
        std::uint32_t& bits = expected.try_emplace({edge.a, edge.b}, edge.distance).first->second;
        bits = std::min(bits, edge.distance);
      }
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs;
    for_each_pair(columns_of(table), options, {}, [&](const Edge& pair) {
      EXPECT_TRUE(pairs.try_emplace({pair.a, pair.b}, pair.distance).second);
    });
    ASSERT_EQ(pairs, expected);
  }
}

TEST(Decided, SaysTheSameOnAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Fingerprints table = crowded_table(3 * seed + 1, false);
    CounterRng rng = test_rng(seed);
    const Review review = random_review(rng, table);
    Options options{.hash = "phash", .threshold = 3};
    try {
      options.decided =
          std::make_shared<const Decided>(apply_to_rows(std::span(&review, 1), columns_of(table)));
    } catch (const UsageError&) {
      continue;
    }
    std::set<Bytes> bytes;
    for (const std::size_t threads : {1, 2, 8}) {
      const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                              threads);
      bytes.insert(serialize(deduplicate(table, options).selection));
    }
    EXPECT_EQ(bytes.size(), 1U);
  }
}

Review review_of(const std::vector<std::pair<Verdict, std::vector<std::uint64_t>>>& said,
                 const std::string& file = "folder/said.jsonl") {
  Review review{.file = file, .judgements = {}, .sample = {}, .digest = hash_of_number(99)};
  for (const auto& [verdict, files] : said) {
    Judgement& one = review.judgements.emplace_back(judgement(verdict, files));
    one.line = review.judgements.size() + 1;
  }
  return review;
}

Options options_with(const Fingerprints& table, const std::vector<Review>& reviews) {
  Options options{.hash = "phash", .threshold = 4};
  options.decided = std::make_shared<const Decided>(apply_to_rows(reviews, columns_of(table)));
  options.policy.precedence =
      std::make_shared<const Precedence>(precedence_of(table.ids, {}, {}, options.decided->kept));
  return options;
}

TEST(Decided, HasTheRowsOfAllFilesOfAnImage) {
  std::vector<TestImage> images = images_of_codes({1, 2, 4, 8, 16});
  images[4].file = images[1].file;
  images[4].pixels = images[1].pixels;
  const Fingerprints table = make_table(images);
  const std::vector<Review> reviews{review_of({{Verdict::kDuplicate, {2, 3}},
                                               {Verdict::kDifferent, {1, 2, 77}},
                                               {Verdict::kDifferent, {4, 78}},
                                               {Verdict::kKeep, {2}},
                                               {Verdict::kKeep, {79}},
                                               {Verdict::kUnsure, {1, 80}}}),
                                    review_of({{Verdict::kDuplicate, {1, 4}}}, "more.jsonl")};
  const Decided decided = apply_to_rows(reviews, columns_of(table));
  EXPECT_THAT(decided.same, ElementsAre(ElementsAre(1, 2, 4), ElementsAre(0, 3)));
  EXPECT_THAT(decided.apart, ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(decided.kept, ElementsAre(ElementsAre(1, 4)));
  EXPECT_EQ(decided.judgements, 4U);
  EXPECT_EQ(decided.unknown, 3U);
  ASSERT_EQ(decided.reviews.size(), 2U);
  EXPECT_EQ(decided.reviews[0].file, "said.jsonl");
  EXPECT_EQ(decided.reviews[0].judgements, 3U);
  EXPECT_EQ(decided.reviews[1].judgements, 1U);
}

TEST(Decided, LeavesEqualPixelsTogetherWhateverIsSaid) {
  std::vector<TestImage> images = images_of_codes({1, 2, 4, 8, 16});
  images[3].pixels = images[0].pixels;  // another file
  const Fingerprints table = make_table(images);
  const std::vector<Review> reviews{
      review_of({{Verdict::kDifferent, {1, 2, 4}}, {Verdict::kDifferent, {4, 1}}})};
  const Decided decided = apply_to_rows(reviews, columns_of(table));
  EXPECT_THAT(decided.apart, ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(decided.equal, 2U);
  EXPECT_EQ(decided.judgements, 1U);
}

std::string refusal(const Fingerprints& table, const std::vector<Review>& reviews) {
  try {
    apply_to_rows(reviews, columns_of(table));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Decided, RefusesWhatContradicts) {
  std::vector<TestImage> images = images_of_codes({1, 2, 4, 8, 16});
  images[4].pixels = images[0].pixels;  // another file
  const Fingerprints table = make_table(images);
  using enum Verdict;
  const std::vector<std::string> both{"folder/said.jsonl, line 3", "folder/said.jsonl, line 2",
                                      "undo one of the two"};
  for (const auto& [said, words] :
       std::vector<std::pair<std::vector<Review>, std::vector<std::string>>>{
           // by another set
           {{review_of({{kDuplicate, {1, 2}}, {kDifferent, {1, 2, 3}}})}, both},
           // through others
           {{review_of({{kDuplicate, {1, 2}}, {kDuplicate, {2, 3}}, {kDifferent, {3, 1}}})},
            {"line 4 says that", "line 3 says that they are the same picture"}},
           // by equal pixels of another
           {{review_of({{kDuplicate, {5, 2}}, {kDifferent, {1, 2}}})}, both},
           // in two files
           {{review_of({{kDifferent, {1, 2}}}), review_of({{kDuplicate, {1, 2, 3}}}, "b.jsonl")},
            {"folder/said.jsonl, line 2 says",
             "b.jsonl, line 2 says that they are the same picture"}},
       }) {
    for (const std::string& word : words) EXPECT_THAT(refusal(table, said), HasSubstr(word));
  }
  Review named = review_of({{kDifferent, {1, 2}}});
  named.judgements[0].names = {"a.jpg", "b.jpg"};
  EXPECT_THAT(refusal(table, {named, review_of({{kDuplicate, {1, 2, 3}}})}),
              HasSubstr("'a.jpg' and 'b.jpg' are different"));
  EXPECT_EQ(refusal(table, {review_of({{kDuplicate, {1, 2}}, {kDifferent, {2, 1}}})}), "nothing");
  EXPECT_EQ(refusal(table, {review_of({{kDuplicate, {1, 77}}, {kDifferent, {1, 77}}})}), "nothing");
}

TEST(Decided, IsToldInSettingsAndSummary) {
  const Fingerprints table = make_table(images_of_codes({0, 1, 3}));
  const std::vector<Review> reviews{
      review_of({{Verdict::kDifferent, {1, 2}}, {Verdict::kDuplicate, {1, 77}}})};
  const Options options = options_with(table, reviews);
  const Result result = deduplicate(table, options);
  const auto settings = nlohmann::json::parse(result.selection.settings);
  EXPECT_EQ(settings["review"],
            nlohmann::json::parse(R"([{"file":"said.jsonl","judgements":1,"digest":")" +
                                  to_hex(hash_of_number(99)) + "\"}]"));
  EXPECT_THAT(settings_in_words(result.selection.settings),
              HasSubstr(", 1 judgements of said.jsonl"));
  const auto summary = nlohmann::json::parse(json_summary(result, options));
  EXPECT_EQ(
      summary["review"],
      nlohmann::json::parse(R"({"judgements":1,"unknown_images":1,"equal_images":0,"overruled":0,)"
                            R"("dropped":0,"spared":0,"protected_drops":0})"));
  EXPECT_FALSE(summary.contains("protected_leaks"));
}

// A review of images by themselves.
Review review_of_images(const std::vector<std::pair<Verdict, std::uint64_t>>& said) {
  Review review = review_of({});
  for (const auto& [verdict, image] : said) {
    review.judgements.push_back(image_judgement(verdict, image));
    review.judgements.back().line = review.judgements.size() + 1;
  }
  return review;
}

TEST(Decided, ImagesByThemselvesAreSparedAndDropped) {
  std::vector<TestImage> images = images_of_codes({0, 0, 0xFF00, 0xFF00, 0xFF0000, 0});
  images[5].file = 5;  // another copy of the fifth
  const Fingerprints table = make_table(images);
  const std::vector<Review> reviews{review_of_images({{Verdict::kDrop, 5},
                                                      {Verdict::kKeep, 3},
                                                      {Verdict::kUnsure, 4},
                                                      {Verdict::kDrop, 1},
                                                      {Verdict::kDrop, 2},
                                                      {Verdict::kNone, 2},
                                                      {Verdict::kDrop, 77}})};
  const Decided decided = apply_to_rows(reviews, columns_of(table));
  EXPECT_THAT(decided.dropped, ElementsAre(0, 4, 5));
  EXPECT_THAT(decided.spared, ElementsAre(2));
  EXPECT_EQ(decided.judgements, 3U);
  EXPECT_EQ(decided.unknown, 1U);
  EXPECT_FALSE(decided.empty());
}

TEST(Decided, WhatIsDroppedGoesFromAnySplitBeforeAllElse) {
  std::vector<TestImage> images = images_of_codes({0, 0, 0, 0xFF00});
  images[1].split = Split::kTest;
  images[3].split = Split::kVal;
  const Fingerprints table = make_table(images);
  const Options options = options_with(
      table, {review_of_images({{Verdict::kDrop, 2}, {Verdict::kDrop, 4}, {Verdict::kKeep, 3}})});
  const Result result = deduplicate(table, options);
  // Without the copy in test nothing leaks, and the first in train stands for both there.
  EXPECT_THAT(result.selection.weights, ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(result.selection.rules,
              ElementsAre(Rule::kKept, Rule::kReview, Rule::kDuplicate, Rule::kReview));
  EXPECT_THAT(result.selection.kept, ElementsAre(1, 2, 1, 4));
  EXPECT_EQ(result.dropped_by_review, 2U);
  EXPECT_EQ(result.spared_by_review, 0U);
  const Bytes bytes = serialize(result.selection);
  EXPECT_EQ(static_cast<int>(bytes.at(8)), 4);  // version
  EXPECT_EQ(parse_selection(bytes, "selection"), result.selection);

  Options guarding = options;
  guarding.policy.precedence =
      std::make_shared<const Precedence>(Precedence{.is_protected = {false, true, false, false}});
  const Result guarded = deduplicate(table, guarding);
  EXPECT_THAT(guarded.selection.weights, ElementsAre(0, 1, 0, 0));
  EXPECT_EQ(guarded.dropped_by_review, 1U);
  EXPECT_EQ(guarded.protected_drops, 1U);
}

// Compares with a table that never had the dropped rows.
TEST(Decided, WhatIsDroppedIsAsIfItWereNotThere) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Fingerprints table = crowded_table(seed, false);
    CounterRng rng = test_rng(2000 + seed);
    Options options{.hash = "phash", .threshold = static_cast<int>(rng.below(4))};
    options.scope = static_cast<Scope>(rng.below(3));
    options.groups = static_cast<GroupKind>(rng.below(3));
    options.policy.on_conflict = static_cast<ConflictAction>(rng.below(4));
    Decided decided;
    std::vector<bool> stays(table.size());
    for (std::uint32_t row = 0; row < table.size(); ++row) {
      stays[row] = rng.below(4) > 0;
      if (!stays[row]) decided.dropped.push_back(row);
    }
    const Result without = deduplicate(select_rows(table, stays), options);
    options.decided = std::make_shared<const Decided>(std::move(decided));
    const Result dropped = deduplicate(table, options);
    EXPECT_EQ(dropped.kept, without.kept);
    EXPECT_EQ(dropped.conflicts, without.conflicts);
    EXPECT_EQ(dropped.leaks, without.leaks);
    EXPECT_EQ(dropped.groups.size(), without.groups.size());
    std::size_t next = 0;
    for (std::uint32_t row = 0; row < table.size(); ++row) {
      if (!stays[row]) {
        EXPECT_EQ(dropped.selection.rules[row], Rule::kReview);
        continue;
      }
      const Selection& a = dropped.selection;
      const Selection& b = without.selection;
      EXPECT_EQ(a.weights[row], b.weights[next]);
      EXPECT_EQ(a.kept[row], b.kept[next]);
      EXPECT_EQ(a.rules[row], b.rules[next]);
      EXPECT_EQ(a.distances[row], b.distances[next]);
      EXPECT_EQ(a.split_of(row, table.splits[row]), b.split_of(next, table.splits[row]));
      ++next;
    }
  }
}

TEST(Decided, WhatStandsForItsGroupCannotBeDropped) {
  const Fingerprints table = make_table(images_of_codes({0, 0}));
  Review review = review_of({{Verdict::kKeep, {1}}});
  review.judgements[0].names = {"a.jpg"};
  EXPECT_THAT(
      [&] {
        apply_to_rows(std::array{review, review_of_images({{Verdict::kDrop, 1}})},
                      columns_of(table));
      },
      testing::ThrowsMessage<UsageError>(
          testing::AllOf(HasSubstr("'a.jpg' represents its group, but folder/said.jsonl, line 2 "
                                   "says that it is dropped"),
                         HasSubstr("undo one of the two"))));
  const std::array fine{review, review_of_images({{Verdict::kDrop, 1}, {Verdict::kUnsure, 1}})};
  EXPECT_TRUE(apply_to_rows(fine, columns_of(table)).dropped.empty());
}

TEST(Decided, WhatIsDroppedIsDealtOutToNoSplit) {
  std::vector<TestImage> images = images_of_codes({0, 0, 0xFF00, 0xFF0000, 0xFF000000});
  images[1].split = Split::kTest;
  const Fingerprints table = make_table(images);
  SplitOptions options{.threshold = 1, .of = {true, true, true, false}, .decided = {}};
  options.shares = {0, 0.5, 0.5, 0};
  const SplitResult plain = make_splits(columns_of(table), options);
  EXPECT_EQ(plain.summary.left_out, 1U);  // the first, because of its copy in test
  const std::vector<Review> reviews{review_of_images({{Verdict::kDrop, 2}, {Verdict::kDrop, 5}})};
  options.decided = std::make_shared<const Decided>(apply_to_rows(reviews, columns_of(table)));
  const SplitResult said = make_splits(columns_of(table), options);
  EXPECT_THAT(said.selection.weights, ElementsAre(1, 0, 1, 1, 0));
  EXPECT_THAT(said.selection.rules,
              ElementsAre(Rule::kKept, Rule::kReview, Rule::kKept, Rule::kKept, Rule::kReview));
  EXPECT_EQ(said.summary.left_out, 0U);
  std::uint64_t dealt = 0;
  for (const auto& part : said.summary.parts) dealt += part.dealt;
  EXPECT_EQ(dealt, 3U);
  EXPECT_EQ(said.summary.blocks, 3U);
}

TEST(Decided, WithoutJudgementsChangesNothingButTheSettings) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Fingerprints table = crowded_table(seed, false);
    const Options obeying = options_with(table, {review_of({})});
    Options plain = obeying;
    plain.decided = nullptr;
    plain.policy.precedence = nullptr;
    Selection said = deduplicate(table, obeying).selection;
    const Selection unsaid = deduplicate(table, plain).selection;
    EXPECT_FALSE(nlohmann::json::parse(unsaid.settings).contains("review"));
    said.settings = unsaid.settings;
    EXPECT_EQ(said, unsaid);
  }
}

TEST(Decided, IsObeyedBySplit) {
  // A chain of four, each one bit from the next, and an unrelated image.
  const Fingerprints table = make_table(images_of_codes({0, 1, 3, 7, 0xFFULL << 40}));
  SplitOptions options{.threshold = 1, .shares = {0, 0.5, 0.5, 0}};
  const SplitResult plain = make_splits(columns_of(table), options);
  EXPECT_THAT(plain.selection.components, ElementsAre(0, 0, 0, 0, 1));
  const std::vector<Review> reviews{
      review_of({{Verdict::kDifferent, {3, 4}}, {Verdict::kDuplicate, {4, 5}}})};
  options.decided = std::make_shared<const Decided>(apply_to_rows(reviews, columns_of(table)));
  const SplitResult said = make_splits(columns_of(table), options);
  EXPECT_THAT(said.selection.components, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_EQ(nlohmann::json::parse(said.selection.settings)["review"][0]["judgements"], 2);
}

// The kept image of a group that lies in one split.
SampleId kept_of(const std::vector<TestImage>& images, const Policy& policy) {
  const Fingerprints table = make_table(images);
  return deduplicate(table, {.hash = "phash", .threshold = 4, .policy = policy}).selection.kept[0];
}

TEST(Precedence, ComesBeforeTheKeepPolicy) {
  std::vector<TestImage> images = images_of_codes({0, 0, 0, 0});
  images[3].width_px = 1000;
  const auto said = [&](const Precedence& precedence) {
    return Policy{.keep = KeepPolicy::kLargest,
                  .precedence = std::make_shared<const Precedence>(precedence)};
  };
  EXPECT_EQ(kept_of(images, {.keep = KeepPolicy::kLargest}), 4U);
  EXPECT_EQ(kept_of(images, said({.preferred = {false, true, true, false}})), 2U);
  EXPECT_EQ(kept_of(images, said({.chosen = {1, 0, 2, 0}, .preferred = {true, true, false, true}})),
            3U);
  const Fingerprints table = make_table(images);
  const Result result =
      deduplicate(table, {.hash = "phash",
                          .policy = said({.protect = {{"x", 2}},
                                          .preferred = {true, false, false, false},
                                          .is_protected = {false, true, true, false}})});
  EXPECT_THAT(result.selection.weights, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(result.selection.kept, ElementsAre(2, 2, 3, 2));
}

TEST(Precedence, KeepsInTheSplitThatTheGroupStaysIn) {
  std::vector<TestImage> images = images_of_codes({0, 0, 0});
  images[0].split = Split::kTest;
  const Fingerprints table = make_table(images);
  const Result result =
      deduplicate(table, options_with(table, {review_of({{Verdict::kKeep, {2}}})}));
  EXPECT_THAT(result.selection.weights, ElementsAre(1, 0, 0));
  EXPECT_EQ(result.overruled, 1U);
  images[0].split = Split::kTrain;
  const Fingerprints in_train = make_table(images);
  const Result kept =
      deduplicate(in_train, options_with(in_train, {review_of({{Verdict::kKeep, {2}}})}));
  EXPECT_THAT(kept.selection.weights, ElementsAre(0, 1, 0));
  EXPECT_EQ(kept.overruled, 0U);
}

// Protected rows are never dropped. Everything else is as without protection.
TEST(Precedence, NeverDropsWhatIsProtected) {
  std::size_t spared = 0;
  std::uint64_t leaks = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Fingerprints table = crowded_table(seed, false);
    CounterRng rng = test_rng(seed);
    Precedence precedence{.protect = {{"some", 1}}};
    for (std::size_t row = 0; row < table.size(); ++row) {
      precedence.is_protected.push_back(rng.below(4) == 0);
    }
    Options options{.hash = "phash", .threshold = 3, .scope = static_cast<Scope>(rng.below(3))};
    options.policy.on_conflict = static_cast<ConflictAction>(rng.below(4));
    options.policy.mode = static_cast<SelectionMode>(rng.below(3));
    options.policy.thin.fill(rng.below(2) == 0);
    const Result plain = deduplicate(table, options);
    options.policy.precedence = std::make_shared<const Precedence>(precedence);
    const Result result = deduplicate(table, options);
    std::uint64_t left = 0;
    for (const auto& rows : members_of_groups({result.selection.components, 1000})) {
      std::set<Split> used;
      std::set<Split> shielded;
      for (const std::uint32_t row : rows) {
        const bool stays = result.selection.weights[row] > 0;
        ASSERT_TRUE(stays || !precedence.is_protected[row]);
        spared += precedence.is_protected[row] && !(plain.selection.weights[row] > 0) ? 1 : 0;
        if (!stays || table.splits[row] == Split::kNone) continue;
        used.insert(table.splits[row]);
        if (precedence.is_protected[row]) shielded.insert(table.splits[row]);
      }
      if (options.scope == Scope::kWithin || used.size() < 2) continue;
      ASSERT_EQ(used, shielded) << "only what is protected is left in several splits";
      ++left;
    }
    ASSERT_EQ(result.protected_leaks, left);
    leaks += left;
    ASSERT_EQ(serialize(parse_selection(serialize(result.selection), "s")),
              serialize(result.selection));
  }
  EXPECT_GT(spared, 100U);
  EXPECT_GT(leaks, 20U);
}

TEST(Precedence, GoesByNames) {
  const std::vector<SampleId> ids{1, 3, 5};
  const NameSource names = [](const NameSink& sink) {
    sink(1, "gold/a.jpg");
    sink(2, "gold/unread.jpg");
    sink(3, "web/a.jpg");
    sink(5, "gold/deep/b.jpg");
  };
  const Precedence said = precedence_of(
      ids, names, {.prefer = {"web/*", "none/*"}, .protect = {"gold/**"}}, {{0, 2}, {1}, {2}});
  EXPECT_THAT(said.preferred, ElementsAre(false, true, false));
  EXPECT_THAT(said.is_protected, ElementsAre(true, false, true));
  EXPECT_THAT(said.chosen, ElementsAre(1, 2, 3));
  EXPECT_EQ(said.prefer[0].images, 1U);
  EXPECT_EQ(said.prefer[1].images, 0U);
  EXPECT_EQ(said.protect[0].images, 2U);
}

}  // namespace winnow::dedup::decided_test
