#include "dedup/deduplicate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>

#include "common/error.h"
#include "dedup/report.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Random pictures, each with a few copies: equal files, equal pixels, codes some bits away, in any
// split. `copy_of` tells the picture of each image.
struct World {
  std::vector<TestImage> images;
  std::vector<std::uint32_t> copy_of;
};

World random_world(std::uint64_t seed, std::uint32_t pictures, int max_flips) {
  CounterRng rng = test_rng(seed);
  World world;
  std::uint64_t unique = 1;
  for (std::uint32_t picture = 0; picture < pictures; ++picture) {
    TestImage original{.code = rng.next_u64(), .file = unique++, .pixels = unique++};
    for (std::uint32_t copy = rng.below(4) == 0 ? 1 + rng.below(4) : 1; copy > 0; --copy) {
      TestImage image = original;
      image.split = static_cast<Split>(rng.below(4));
      if (rng.below(3) == 0) image.labels = {static_cast<std::int32_t>(rng.below(2))};
      // Sizes and sharpness are all different, so that the policies have no ties.
      image.width_px =
          static_cast<std::uint32_t>(100 + rng.below(1000) * 1000 + world.images.size());
      image.sharpness = static_cast<float>(image.width_px % 997) +
                        static_cast<float>(world.images.size()) / 4096.0F;
      switch (rng.below(3)) {
        case 0:  // the same file
          break;
        case 1:  // the same pixels in another file
          image.file = unique++;
          break;
        default:  // looks alike
          image.file = unique++;
          image.pixels = unique++;
          image.code ^= random_flips(
              rng, static_cast<int>(rng.below(static_cast<std::uint32_t>(max_flips) + 1)));
          break;
      }
      world.images.push_back(image);
      world.copy_of.push_back(picture);
    }
  }
  for (std::size_t i = 0; i < world.images.size(); ++i) world.images[i].id = 10 + 3 * i;
  return world;
}

std::vector<Options> all_options() {
  std::vector<Options> list;
  for (const KeepPolicy keep :
       {KeepPolicy::kFirst, KeepPolicy::kLargest, KeepPolicy::kSharpest, KeepPolicy::kMajority}) {
    for (const Scope scope : {Scope::kAll, Scope::kWithin}) {
      for (const int threshold : {0, 4, 20}) list.push_back({"phash", threshold, keep, scope});
      list.push_back({"exact", 4, keep, scope});
    }
  }
  return list;
}

std::string describe(const Options& options) {
  return options.hash + " " + std::to_string(options.threshold) + " " +
         std::string(keep_policy_name(options.keep)) + " " + std::string(scope_name(options.scope));
}

bool is_evaluation(Split split) { return split == Split::kVal || split == Split::kTest; }

TEST(Deduplicate, KeepsItsInvariants) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const World world = random_world(seed, 60, 4);
    const Fingerprints table = make_table(world.images);
    for (const Options& options : all_options()) {
      SCOPED_TRACE(describe(options) + ", seed " + std::to_string(seed));
      const Result result = deduplicate(table, options);
      const Selection& selection = result.selection;
      ASSERT_EQ(selection.ids, table.ids);
      ASSERT_EQ(serialize(parse_selection(serialize(selection), "s")), serialize(selection));

      std::uint64_t removed = 0;
      const auto row_of = [&](SampleId id) {
        const auto at = std::ranges::lower_bound(table.ids, id);
        return static_cast<std::size_t>(at - table.ids.begin());
      };
      for (std::size_t row = 0; row < table.size(); ++row) {
        const std::size_t kept = row_of(selection.kept[row]);
        ASSERT_EQ(selection.groups[row], selection.groups[kept]);
        ASSERT_EQ(selection.weights[kept], 1) << "what is kept instead is kept";
        ASSERT_EQ(selection.rules[row] == Rule::kKept, kept == row);
        ASSERT_EQ(selection.weights[row] == 1, kept == row);
        if (kept == row) continue;
        ++removed;
        ASSERT_FALSE(is_evaluation(table.splits[row])) << "evaluation samples stay";
        ASSERT_EQ(selection.rules[row] == Rule::kLeak, is_evaluation(table.splits[kept]));
        const bool exact = table.file_hashes[row] == table.file_hashes[kept] ||
                           table.pixel_hashes[row] == table.pixel_hashes[kept];
        ASSERT_EQ(selection.distances[row],
                  exact || options.hash == "exact"
                      ? 0
                      : std::popcount(table.codes[0].words[row] ^ table.codes[0].words[kept]));
      }
      EXPECT_EQ(result.removed, removed);
      EXPECT_EQ(result.removed + result.kept, table.size());

      // Groups are the numbers that occur more than once, and partition their rows.
      std::map<std::uint32_t, std::vector<std::uint32_t>> by_number;
      for (std::uint32_t row = 0; row < table.size(); ++row) {
        by_number[selection.groups[row]].push_back(row);
      }
      std::erase_if(by_number, [](const auto& entry) { return entry.second.size() < 2; });
      ASSERT_EQ(result.groups.size(), by_number.size());
      std::uint64_t conflicts = 0;
      auto expected = by_number.begin();
      for (const Group& group : result.groups) {
        ASSERT_EQ(group.rows, (expected++)->second);
        ASSERT_TRUE(std::ranges::binary_search(group.rows, group.kept_row));
        std::set<Split> splits;
        std::set<std::int32_t> labels;
        std::size_t training_kept = 0;
        bool evaluated = false;
        for (const std::uint32_t row : group.rows) {
          if (table.splits[row] != Split::kNone) splits.insert(table.splits[row]);
          evaluated = evaluated || is_evaluation(table.splits[row]);
          training_kept += selection.weights[row] == 1 && !is_evaluation(table.splits[row]) ? 1 : 0;
          labels.insert(table.labels[row].begin(), table.labels[row].end());
        }
        EXPECT_EQ(training_kept, evaluated ? 0U : 1U);
        EXPECT_EQ(group.leak, splits.size() >= 2);
        EXPECT_EQ(group.label_conflict, labels.size() >= 2);  // here each row has one label
        conflicts += group.label_conflict ? 1 : 0;
        if (options.scope == Scope::kWithin) {
          for (const std::uint32_t row : group.rows) {
            EXPECT_EQ(table.splits[row], table.splits[group.rows[0]]);
          }
        }
      }
      EXPECT_EQ(result.conflicts, conflicts);
    }
  }
}

TEST(Deduplicate, FindsThePlantedCopiesAndNothingElse) {
  const World world = random_world(42, 400, 4);
  // Copies are at most 4 bits from a picture, so at most 8 from each other; pictures are strangers.
  const Result result = deduplicate(make_table(world.images), {.hash = "phash", .threshold = 8});
  std::map<std::uint32_t, std::vector<std::uint32_t>> planted;
  for (std::uint32_t row = 0; row < world.copy_of.size(); ++row) {
    planted[world.copy_of[row]].push_back(row);
  }
  std::erase_if(planted, [](const auto& entry) { return entry.second.size() < 2; });
  ASSERT_GT(planted.size(), 30U);
  ASSERT_EQ(result.groups.size(), planted.size());
  auto expected = planted.begin();
  for (const Group& group : result.groups) EXPECT_EQ(group.rows, (expected++)->second);
}

TEST(Deduplicate, DependsOnTheImagesAndNotOnTheirOrder) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const World world = random_world(seed, 80, 6);
    std::vector<std::size_t> order(world.images.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    std::vector<TestImage> shuffled;
    for (std::size_t i = 0; i < order.size(); ++i) {
      shuffled.push_back(world.images[order[i]]);
      shuffled.back().id = world.images[i].id;
    }
    const Fingerprints table = make_table(world.images);
    const Fingerprints other = make_table(shuffled);
    for (Options options : all_options()) {
      // These say themselves that order decides, of all or of those labelled alike.
      if (options.keep == KeepPolicy::kFirst || options.keep == KeepPolicy::kMajority) continue;
      SCOPED_TRACE(describe(options));
      const Result a = deduplicate(table, options);
      const Result b = deduplicate(other, options);
      EXPECT_EQ(a.leaks, b.leaks);
      EXPECT_EQ(a.conflicts, b.conflicts);
      EXPECT_EQ(a.groups.size(), b.groups.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        ASSERT_EQ(a.selection.weights[order[i]], b.selection.weights[i]);
        ASSERT_EQ(a.selection.rules[order[i]], b.selection.rules[i]);
        ASSERT_EQ(a.selection.distances[order[i]], b.selection.distances[i]);
      }
    }
  }
}

TEST(Deduplicate, FindsNothingMoreAmongWhatItKept) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const World world = random_world(seed, 80, 6);
    for (const Options& options : all_options()) {
      const Result first = deduplicate(make_table(world.images), options);
      std::vector<TestImage> kept;
      for (std::size_t row = 0; row < world.images.size(); ++row) {
        if (first.selection.weights[row] == 1) kept.push_back(world.images[row]);
      }
      const Result second = deduplicate(make_table(kept), options);
      EXPECT_EQ(second.removed, 0U) << describe(options);
      EXPECT_EQ(second.kept, first.kept);
    }
  }
}

TEST(Deduplicate, GivesTheSameBytesOn1And2And8Threads) {
  const World world = random_world(9, 5000, 4);
  const Fingerprints table = make_table(world.images);
  for (const Scope scope : {Scope::kAll, Scope::kWithin}) {
    const auto bytes_on = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      return serialize(deduplicate(table, {.threshold = 6, .scope = scope}).selection);
    };
    const Bytes one = bytes_on(1);
    EXPECT_EQ(bytes_on(2), one);
    EXPECT_EQ(bytes_on(8), one);
  }
}

TEST(Deduplicate, NeedsNoCodesForExactCopies) {
  const World world = random_world(4, 60, 4);
  Fingerprints table = make_table(world.images);
  const Result with = deduplicate(table, {.hash = "exact"});
  table.codes.clear();
  const Result without = deduplicate(table, {.hash = "exact"});
  EXPECT_EQ(serialize(with.selection), serialize(without.selection));
  EXPECT_GT(with.removed, 0U);
}

TEST(Deduplicate, MatchesFlatImagesByTheirBytesOnly) {
  const Fingerprints table = make_table({
      {.id = 1, .code = 0, .file = 1, .pixels = 1, .quality = 0},
      {.id = 2, .code = 0, .file = 2, .pixels = 2, .quality = 0},
      {.id = 3, .code = 0, .file = 3, .pixels = 1, .quality = 0},
      {.id = 4, .code = 0, .file = 2, .pixels = 4, .quality = 0},
      {.id = 5, .code = 0, .file = 5, .pixels = 5, .quality = 1},
      {.id = 6, .code = 1, .file = 6, .pixels = 6, .quality = 1},
  });
  const Result result = deduplicate(table, {});
  EXPECT_EQ(result.low_quality, 4U);
  EXPECT_THAT(result.selection.groups, ElementsAre(0, 1, 0, 1, 2, 2));
  EXPECT_THAT(result.selection.kept, ElementsAre(1, 2, 1, 2, 5, 5));
  EXPECT_THAT(result.selection.distances, ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST(Deduplicate, FollowsChainsFromTrainThroughValToTest) {
  // 1 and 3 are 6 bits apart, linked through 2.
  const Fingerprints table = make_table({
      {.id = 1, .split = Split::kTrain, .code = 0b000000, .file = 1, .pixels = 1},
      {.id = 2, .split = Split::kVal, .code = 0b000111, .file = 2, .pixels = 2},
      {.id = 3, .split = Split::kTest, .code = 0b111111, .file = 3, .pixels = 3},
      {.id = 4, .split = Split::kTest, .code = 0b111111, .file = 4, .pixels = 4},
  });
  const Result all = deduplicate(table, {.threshold = 3});
  EXPECT_THAT(all.selection.kept, ElementsAre(3, 2, 3, 4));
  EXPECT_THAT(all.selection.distances, ElementsAre(6, 0, 0, 0));
  EXPECT_THAT(all.selection.rules, ElementsAre(Rule::kLeak, Rule::kKept, Rule::kKept, Rule::kKept));
  EXPECT_THAT(all.leaks, ElementsAre(LeakCount{Split::kTrain, Split::kVal, 1, 1},
                                     LeakCount{Split::kTrain, Split::kTest, 1, 2},
                                     LeakCount{Split::kVal, Split::kTest, 1, 2}));

  const Result within = deduplicate(table, {.threshold = 3, .scope = Scope::kWithin});
  EXPECT_EQ(within.leaks, all.leaks);
  EXPECT_EQ(within.removed, 0U);
  ASSERT_EQ(within.groups.size(), 1U);
  EXPECT_THAT(within.groups[0].rows, ElementsAre(2, 3));
}

TEST(Deduplicate, WithinASplitSeesCopiesWhoseFirstLiesInAnother) {
  // Links go to the first row of a code; it lies in another split here.
  const Fingerprints table = make_table({
      {.id = 1, .split = Split::kTest, .file = 1, .pixels = 1},
      {.id = 2, .split = Split::kTrain, .file = 2, .pixels = 2},
      {.id = 3, .split = Split::kTrain, .file = 3, .pixels = 3},
  });
  const Result result = deduplicate(table, {.scope = Scope::kWithin});
  EXPECT_THAT(result.selection.kept, ElementsAre(1, 2, 2));
  EXPECT_THAT(result.selection.rules, ElementsAre(Rule::kKept, Rule::kKept, Rule::kDuplicate));
}

TEST(Deduplicate, ReadsTheColumnsItNeedsAFewAtATime) {
  const Fingerprints table = make_table(random_world(5, 200, 6).images);
  Options options;
  options.keep = KeepPolicy::kLargest;
  ColumnNames read;
  const auto source = [&](const ColumnNames& names) {
    EXPECT_LE(names.size(), 3U);
    read.insert(names.begin(), names.end());
    return select_columns(table, names);
  };
  EXPECT_EQ(serialize(deduplicate(source, options).selection),
            serialize(deduplicate(table, options).selection));
  EXPECT_EQ(read, (ColumnNames{"codes:phash", "file_hashes", "heights_px", "labels", "pixel_hashes",
                               "quality", "widths_px"}));
  std::size_t calls = 0;
  const auto changing = [&](const ColumnNames& names) {
    Fingerprints columns = select_columns(table, names);
    if (++calls == 3) columns.file_hashes.pop_back();
    return columns;
  };
  EXPECT_THROW(deduplicate(changing, options), FormatError);
}

TEST(Deduplicate, OfNothingIsNothing) {
  const Result result = deduplicate(make_table({}), {});
  EXPECT_EQ(result.removed + result.kept, 0U);
  EXPECT_TRUE(result.groups.empty());
  EXPECT_TRUE(result.leaks.empty());
}

TEST(Deduplicate, RefusesWhatItCannotCompare) {
  const Fingerprints table = make_table({{.id = 1}, {.id = 2}});
  EXPECT_THROW(deduplicate(table, {.hash = "nosuchhash"}), UsageError);
  EXPECT_THROW(deduplicate(table, {.hash = "dhash"}), UsageError);
  EXPECT_THROW(deduplicate(table, {.threshold = -1}), UsageError);
  EXPECT_THROW(deduplicate(table, {.threshold = 65}), UsageError);
  EXPECT_NO_THROW(deduplicate(table, {.threshold = 64}));
  Fingerprints broken = table;
  broken.quality.clear();
  EXPECT_THROW(deduplicate(broken, {}), FormatError);
}

TEST(Scopes, AreReadByName) {
  EXPECT_EQ(parse_scope("all"), Scope::kAll);
  EXPECT_EQ(parse_scope("within"), Scope::kWithin);
  EXPECT_THROW(parse_scope("across"), UsageError);
}

// Names with everything CSV fears.
std::string odd_name(SampleId id) {
  return id == 1 ? "a, \"b\"\n.jpg" : "p/" + std::to_string(id) + ".jpg";
}

struct Reported {
  Fingerprints table = make_table({
      {.id = 1, .split = Split::kTest, .labels = {3, 5}, .code = 0, .file = 1, .pixels = 1},
      {.id = 2, .split = Split::kTrain, .labels = {3}, .code = 1, .file = 2, .pixels = 2},
      {.id = 3, .split = Split::kTrain, .labels = {}, .code = ~0ULL, .file = 3, .pixels = 3},
      {.id = 4, .split = Split::kNone, .labels = {7}, .code = ~1ULL, .file = 4, .pixels = 4},
      {.id = 5, .split = Split::kTrain, .code = 0x00FF00FF00FF00FF, .file = 5, .pixels = 5},
  });
  Options options{.threshold = 2};
  Result result = deduplicate(table, options);

  template <class Write>
  std::string csv(const Write& write) const {
    std::string text;
    write(result, table, odd_name, [&](std::string_view line) { text += line; });
    return text;
  }
};

TEST(Report, ListsTheRemoved) {
  const Reported r;
  EXPECT_EQ(r.csv(csv_of_removed),
            "id,name,split,labels,group,kept_id,kept_name,distance,rule\n"
            "2,p/2.jpg,train,3,0,1,\"a, \"\"b\"\"\n.jpg\",1,leak\n"
            "4,p/4.jpg,none,7,1,3,p/3.jpg,1,duplicate\n");
}

TEST(Report, ListsTheGroups) {
  const Reported r;
  EXPECT_EQ(r.csv(csv_of_groups),
            "id,name,split,labels,group,kept_id,kept_name,distance,rule\n"
            "1,\"a, \"\"b\"\"\n.jpg\",test,3 5,0,1,\"a, \"\"b\"\"\n.jpg\",0,kept\n"
            "2,p/2.jpg,train,3,0,1,\"a, \"\"b\"\"\n.jpg\",1,leak\n"
            "3,p/3.jpg,train,,1,3,p/3.jpg,0,kept\n"
            "4,p/4.jpg,none,7,1,3,p/3.jpg,1,duplicate\n");
}

TEST(Report, SumsUpInJson) {
  const Reported r;
  EXPECT_EQ(nlohmann::json::parse(json_summary(r.result, r.options)),
            nlohmann::json::parse(R"({"schema": "winnow.dedup/1", "hash": "phash", "threshold": 2,
              "groups": 2, "removed": 2, "kept": 3, "conflicts": 1,
              "leaks": [{"a": "train", "b": "test", "groups": 1, "samples": 1}]})"));
  EXPECT_EQ(nlohmann::json::parse(r.result.selection.settings),
            nlohmann::json::parse(R"({"hash": "phash", "hash_version": 1, "threshold": 2,
              "keep": "first", "scope": "all"})"));
  const auto exact = nlohmann::json::parse(
      json_summary(deduplicate(r.table, {.hash = "exact"}), {.hash = "exact"}));
  EXPECT_EQ(exact.at("threshold"), 0);
  EXPECT_TRUE(exact.at("leaks").empty() && exact.at("leaks").is_array());
}

}  // namespace
}  // namespace winnow::dedup
