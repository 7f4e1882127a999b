#include "dedup/split/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "common/error.h"
#include "tests/dedup/split_worlds.h"

namespace winnow::dedup::split_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array<Split, 3> kUsed{Split::kTrain, Split::kVal, Split::kTest};

using Counts = std::map<std::int32_t, std::array<int, kSplitCount>>;  // label -1: no label

// Counts the assigned samples. A sample with several labels counts for each.
Counts count(const World& world, const SplitOptions& options, const Splitting& splitting) {
  Counts counts;
  for (std::uint32_t row = 0; row < world.table.size(); ++row) {
    if (!options.of[static_cast<std::size_t>(world.table.splits[row])]) continue;
    if (splitting.rules[row] == Rule::kLeak) continue;
    std::vector<std::int32_t> labels = label_set(world.table.labels, row);
    if (labels.empty()) labels = {-1};
    for (const std::int32_t label : labels) {
      ++counts[label][static_cast<std::size_t>(splitting.splits[row])];
    }
  }
  return counts;
}

// The greatest distance of the class from its share in any split.
double distance(const std::array<int, kSplitCount>& counts, const SplitOptions& options) {
  const int sum = std::accumulate(counts.begin(), counts.end(), 0);
  double most = 0;
  for (std::size_t split = 0; split < counts.size(); ++split) {
    most = std::max(most, std::abs(counts[split] - sum * options.shares[split]));
  }
  return most;
}

std::array<int, kSplitCount> sizes_of(const World& world, const Splitting& splitting) {
  std::array<int, kSplitCount> sizes{};
  for (std::size_t row = 0; row < world.table.size(); ++row) {
    if (splitting.rules[row] == Rule::kLeak) continue;
    ++sizes[static_cast<std::size_t>(splitting.splits[row])];
  }
  return sizes;
}

void expect_no_block_cut(const World& world, const Splitting& splitting) {
  std::vector<std::set<Split>> reached(world.blocks.count);
  for (std::size_t row = 0; row < world.table.size(); ++row) {
    if (splitting.rules[row] == Rule::kLeak) continue;
    const Split split = splitting.splits[row];
    if (split != Split::kNone) reached[world.blocks.of_row[row]].insert(split);
  }
  for (const auto& splits : reached) EXPECT_LE(splits.size(), 1U);
}

Splitting split(const World& world, const SplitOptions& options) {
  Splitting out = split_rows(world.table, world.blocks, options);
  EXPECT_EQ(out.splits.size(), world.table.size());
  expect_no_block_cut(world, out);
  return out;
}

SplitOptions options_of(double train, double val, double test, std::uint64_t seed = 0) {
  SplitOptions options;
  options.shares = {0, train, val, test};
  options.dealing.seed = seed;
  return options;
}

std::vector<SplitOptions> some_shares(std::uint64_t seed) {
  return {options_of(0.8, 0.1, 0.1, seed), options_of(0.7, 0, 0.3, seed),
          options_of(1. / 3, 1. / 3, 1 - 2. / 3, seed), options_of(0.013, 0.98, 0.007, seed)};
}

TEST(Split, SinglesComeWithinOneOfTheirSharesAndSoDoTotals) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CounterRng rng = test_rng(seed);
    World world;
    const int classes = static_cast<int>(1 + rng.below(200));
    for (int label = -1; label < classes; ++label) {
      const int samples = static_cast<int>(rng.below(rng.below(10) == 0 ? 500 : 8));
      for (int i = 0; i < samples; ++i) {
        world.add(world.blocks.count, label < 0 ? std::vector<std::int32_t>{}
                                                : std::vector<std::int32_t>{7 * label, 7 * label});
      }
    }
    for (const SplitOptions& options : some_shares(seed)) {
      const Splitting splitting = split(world, options);
      for (const auto& [label, counts] : count(world, options, splitting)) {
        EXPECT_LT(distance(counts, options), 1 + 1e-6) << "class " << label;
      }
      EXPECT_LT(distance(sizes_of(world, splitting), options), 2.5);
      const SplitSummary summary = summarise(world.table, world.blocks, options, splitting);
      EXPECT_TRUE(summary.off.empty());
      EXPECT_EQ(summary.largest_block, world.table.size() == 0 ? 0U : 1U);
    }
  }
}

TEST(Split, ManyClassesOfAFewDoNotAllRoundTheSameWay) {
  World world;
  for (int label = 0; label < 1000; ++label) world.add_singles(label, 3);
  const SplitOptions options = options_of(0.8, 0.1, 0.1);
  const Splitting splitting = split(world, options);
  const auto sizes = sizes_of(world, splitting);
  EXPECT_NEAR(sizes[1], 2400, 1);
  EXPECT_NEAR(sizes[2], 300, 1);
  EXPECT_NEAR(sizes[3], 300, 1);
}

TEST(Split, BlocksOfOneClassPutItOffByNoMoreThanItsLargest) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CounterRng rng = test_rng(seed);
    World world = world_of_blocks(rng, 30, 2 + rng.below(12));
    for (Split& own : world.table.splits) own = static_cast<Split>(rng.below(4));
    for (SplitOptions options : some_shares(seed)) {
      options.dealing.stay = seed % 2 == 1;
      const Splitting splitting = split(world, options);
      const SplitSummary summary = summarise(world.table, world.blocks, options, splitting);
      std::map<std::int32_t, int> largest;
      for (std::uint32_t row = 0, run = 0; row < world.table.size(); ++row) {
        run = row > 0 && world.blocks.of_row[row] == world.blocks.of_row[row - 1] ? run + 1 : 1;
        int& most = largest[world.table.labels[row].front()];
        most = std::max(most, static_cast<int>(run));
      }
      double furthest = 0;
      for (const auto& [label, counts] : count(world, options, splitting)) {
        EXPECT_LT(distance(counts, options), std::max(largest[label], 1) + 1e-6);
        furthest = std::max(furthest, distance(counts, options));
        const bool told = std::ranges::any_of(
            summary.off, [&, l = label](const ClassOff& off) { return off.label == l; });
        EXPECT_EQ(told, distance(counts, options) > 1 + 1e-6);
      }
      EXPECT_NEAR(summary.furthest, furthest, 1e-9);
      for (const ClassOff& off : summary.off) {
        EXPECT_EQ(off.reason, OffReason::kBlock);
        EXPECT_EQ(off.largest_block, static_cast<std::uint64_t>(largest[*off.label]));
      }
    }
  }
}

// The least distance that any distribution of the blocks has.
double best_distance(const std::vector<int>& blocks, const SplitOptions& options, std::size_t next,
                     std::array<int, kSplitCount>& counts) {
  if (next == blocks.size()) return distance(counts, options);
  double best = 1e9;
  for (std::size_t part = 1; part < counts.size(); ++part) {
    if (options.shares[part] == 0) continue;
    counts[part] += blocks[next];
    best = std::min(best, best_distance(blocks, options, next + 1, counts));
    counts[part] -= blocks[next];
  }
  return best;
}

TEST(Split, ClassesComeWithinOneWhereverTheirBlocksAllow) {
  int possible = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CounterRng rng = test_rng(seed);
    World world;
    std::map<std::int32_t, std::vector<int>> blocks;
    for (std::int32_t label = 0; label < 5; ++label) {
      for (std::uint32_t i = 2 + rng.below(6); i > 0; --i) {
        blocks[label].push_back(static_cast<int>(1 + rng.below(7)));
        world.add_block({{label, blocks[label].back()}});
      }
    }
    for (const SplitOptions& options :
         {options_of(0.5, 0, 0.5, seed), options_of(0.6, 0.2, 0.2, seed),
          options_of(0.75, 0.25, 0, seed)}) {
      const Splitting splitting = split(world, options);
      for (const auto& [label, counts] : count(world, options, splitting)) {
        std::array<int, kSplitCount> none{};
        if (best_distance(blocks[label], options, 0, none) > 1) continue;
        ++possible;
        EXPECT_LT(distance(counts, options), 1 + 1e-6) << "class " << label << ", seed " << seed;
      }
    }
  }
  EXPECT_GT(possible, 500);
}

TEST(Split, SinglesMakeUpForBlocksOfSeveralClasses) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CounterRng rng = test_rng(seed);
    World world;
    const std::uint32_t classes = 10;
    for (int i = 0; i < 150; ++i) {
      world.add_block({{static_cast<std::int32_t>(rng.below(classes)), 1 + rng.below(3)},
                       {static_cast<std::int32_t>(rng.below(classes)), 1 + rng.below(3)}});
    }
    for (std::uint32_t label = 0; label < classes; ++label) {
      world.add_singles(static_cast<std::int32_t>(label), 100);
    }
    for (const SplitOptions& options : some_shares(seed)) {
      const Splitting splitting = split(world, options);
      for (const auto& [label, counts] : count(world, options, splitting)) {
        EXPECT_LT(distance(counts, options), 1 + 1e-6) << "class " << label;
      }
      EXPECT_LT(distance(sizes_of(world, splitting), options), 1.5);
    }
  }
}

TEST(Split, SamplesOfManyLabels) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CounterRng rng = test_rng(seed);
    World world;
    for (int i = 0; i < 4000; ++i) {
      std::vector<std::int32_t> labels;
      for (std::uint32_t k = rng.below(5); k > 0; --k) {
        labels.push_back(static_cast<std::int32_t>(rng.below(1 + rng.below(40))));
      }
      const bool again = i > 0 && rng.below(10) == 0;
      world.add(world.blocks.count - (again ? 1 : 0), labels);
    }
    for (const SplitOptions& options : some_shares(seed)) {
      const Splitting splitting = split(world, options);
      for (const auto& [label, counts] : count(world, options, splitting)) {
        EXPECT_LT(distance(counts, options), 1 + 1e-6) << "class " << label;
      }
      EXPECT_LT(distance(sizes_of(world, splitting), options), 8);
      for (const ClassOff& off : summarise(world.table, world.blocks, options, splitting).off) {
        EXPECT_NE(off.reason, OffReason::kFixed);
      }
    }
  }
}

TEST(Split, NoPartStaysEmptyForTheSakeOfClassesThatAreOneBlock) {
  World world;
  for (int label = 0; label < 1000; ++label) world.add_block({{label, 3}});
  const SplitOptions options = options_of(0.8, 0.1, 0.1);
  const auto sizes = sizes_of(world, split(world, options));
  EXPECT_LE(sizes[1], 2400 + 150 + 3);
  EXPECT_GE(sizes[2], 222);
  EXPECT_GE(sizes[3], 222);
}

TEST(Split, DependsOnTheSeedAndNothingElse) {
  CounterRng rng = test_rng(1);
  const World world = world_of_blocks(rng, 20, 5);
  const SplitOptions options = options_of(0.8, 0.1, 0.1, 5);
  const Splitting once = split(world, options);
  EXPECT_EQ(once.splits, split(world, options).splits);
  const Splitting other = split(world, options_of(0.8, 0.1, 0.1, 6));
  std::size_t differing = 0;
  for (std::size_t row = 0; row < world.table.size(); ++row) {
    differing += once.splits[row] != other.splits[row] ? 1 : 0;
  }
  EXPECT_GT(differing, world.table.size() / 10);
}

TEST(Split, MovesLittleWhereSamplesAreToStay) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    // The classes already have the right shares, except for ten blocks that span train and test.
    World world;
    SplitOptions options = options_of(0.6, 0.2, 0.2, seed);
    for (int label = 0; label < 10; ++label) {
      world.add_singles(label, 26, Split::kTrain);
      for (int i = 0; i < 10; ++i) world.add_block({{label, 3}}, Split::kTrain);
      world.add_singles(label, 18, Split::kVal);
      world.add_singles(label, 10, Split::kTest);
      world.add_block({{label, 8}}, Split::kTest);
      world.add_block({{label, 3}}, Split::kTrain);
      world.add(world.blocks.count - 1, {label}, Split::kTest);
    }
    const auto moved = [&] {
      const Splitting splitting = split(world, options);
      for (const auto& [label, counts] : count(world, options, splitting)) {
        EXPECT_LT(distance(counts, options), 1 + 1e-6);
      }
      return summarise(world.table, world.blocks, options, splitting).moved;
    };
    EXPECT_GT(moved(), 300U);
    options.dealing.stay = true;
    EXPECT_LE(moved(), 10 * 4U);
  }
}

TEST(Split, GivesEverySampleTheSameChance) {
  World world;
  for (int label = 0; label < 3; ++label) world.add_singles(label, 10);
  std::vector<int> in_test(world.table.size());
  constexpr int kSeeds = 1000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Splitting splitting = split(world, options_of(0.7, 0, 0.3, seed));
    for (std::size_t row = 0; row < in_test.size(); ++row) {
      in_test[row] += splitting.splits[row] == Split::kTest ? 1 : 0;
    }
  }
  for (const int times : in_test) EXPECT_NEAR(times, 300, 6 * std::sqrt(1000 * 0.3 * 0.7));
}

TEST(Split, TakesSharesOfNothingAndAll) {
  CounterRng rng = test_rng(1);
  const World world = world_of_blocks(rng, 5, 5);
  for (const Split all : kUsed) {
    SplitOptions options = options_of(0, 0, 0);
    options.shares[static_cast<std::size_t>(all)] = 1;
    EXPECT_THAT(split(world, options).splits, testing::Each(all));
  }
  EXPECT_TRUE(split({}, options_of(0.8, 0.1, 0.1)).splits.empty());
  for (const auto& [train, val, test] : std::vector<std::array<double, 3>>{
           {0.8, 0.1, 0}, {1.1, -0.1, 0}, {0.9, 0.1, 0.1}, {NAN, 0.5, 0.5}}) {
    EXPECT_THROW(split_rows(world.table, world.blocks, options_of(train, val, test)), UsageError);
  }
}

TEST(Split, FixedSamplesStayAndWhatIsTheirsFollowsOrIsLeftOut) {
  World world;
  world.add_singles(0, 50, Split::kTrain);                // rows 0..49
  world.add_block({{0, 2}}, Split::kTrain);               // 50, 51
  world.add(world.blocks.count - 1, {0}, Split::kTest);   // 52
  world.add(world.blocks.count - 1, {0}, Split::kTest);   // 53
  world.add_block({{0, 1}}, Split::kVal);                 // 54
  world.add(world.blocks.count - 1, {0}, Split::kTrain);  // 55
  world.add(world.blocks.count - 1, {0}, Split::kTest);   // 56
  world.add_block({{0, 1}}, Split::kNone);                // 57
  world.add(world.blocks.count - 1, {0}, Split::kTrain);  // 58

  SplitOptions options = options_of(0.9, 0.1, 0);
  options.of = {false, true, false, false};
  const Splitting left = split(world, options);
  for (const std::uint32_t row : {50U, 51U}) {
    EXPECT_EQ(left.rules[row], Rule::kLeak);
    EXPECT_EQ(left.kept_rows[row], 52U);
    EXPECT_EQ(left.splits[row], Split::kTrain);
  }
  EXPECT_EQ(left.rules[54], Rule::kLeak) << "fixed, but a leak already";
  EXPECT_EQ(left.rules[55], Rule::kLeak);
  EXPECT_EQ(left.kept_rows[55], 56U);
  EXPECT_EQ(left.splits[57], Split::kNone);
  EXPECT_EQ(left.rules[58], Rule::kKept) << "samples of no split leak nowhere";
  EXPECT_EQ(left.splits[52], Split::kTest);
  EXPECT_LT(distance(count(world, options, left)[0], options), 1);
  const SplitSummary summary = summarise(world.table, world.blocks, options, left);
  EXPECT_EQ(summary.left_out, 3U);
  EXPECT_EQ(summary.leaks, 1U);
  EXPECT_EQ(summary.parts[2].samples, 5U);
  EXPECT_EQ(summary.parts[2].dealt, 5U);
  EXPECT_EQ(summary.parts[3].samples, 3U);
  EXPECT_EQ(summary.parts[3].dealt, 0U);
  EXPECT_EQ(summary.moved, 5U);

  options.shares = {0, 0.5, 0.1, 0.4};
  const Splitting followed = split(world, options);
  for (const std::uint32_t row : {50U, 51U, 55U}) {
    EXPECT_EQ(followed.splits[row], Split::kTest);
    EXPECT_EQ(followed.rules[row], Rule::kMoved);
    EXPECT_EQ(followed.kept_rows[row], row);
  }
  EXPECT_EQ(followed.rules[54], Rule::kLeak);
  EXPECT_LT(distance(count(world, options, followed)[0], options), 1);
}

TEST(Split, FixedSamplesInRandomTables) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CounterRng rng = test_rng(seed);
    World world;
    for (int i = 0; i < 300; ++i) {
      const bool again = i > 0 && rng.below(3) == 0;
      world.add(world.blocks.count - (again ? 1 : 0), {static_cast<std::int32_t>(rng.below(4))},
                static_cast<Split>(rng.below(4)));
    }
    for (std::uint32_t mask = 0; mask < 16; ++mask) {
      SplitOptions options = options_of(rng.below(2) == 0 ? 0.9 : 0, 0.1, 0);
      options.shares[3] = 0.9 - options.shares[1];
      options.dealing.stay = rng.below(2) == 0;
      for (std::uint32_t s = 0; s < 4; ++s) options.of[s] = ((mask >> s) & 1U) != 0;
      const Splitting splitting = split(world, options);
      for (std::uint32_t row = 0; row < world.table.size(); ++row) {
        const Split own = world.table.splits[row];
        const std::uint32_t kept = splitting.kept_rows[row];
        if (!options.of[static_cast<std::size_t>(own)]) {
          EXPECT_EQ(splitting.splits[row], own);
        } else if (kept == row) {
          EXPECT_GT(options.shares[static_cast<std::size_t>(splitting.splits[row])], 0);
        }
        EXPECT_EQ(kept == row, splitting.rules[row] != Rule::kLeak);
        if (kept == row) continue;
        EXPECT_EQ(splitting.kept_rows[kept], kept);
        EXPECT_EQ(world.blocks.of_row[kept], world.blocks.of_row[row]);
        EXPECT_FALSE(options.of[static_cast<std::size_t>(world.table.splits[kept])]);
      }
    }
  }
}

TEST(Split, KeysUniteWhatDuplicatesDoNot) {
  Ragged<char> keys;
  for (const std::string_view key : {"a", "", "b", "", "a", "b", ""}) keys.push_back(key);
  const Components blocks = unite_keys({{0, 1, 2, 2, 3, 4, 5}, 6}, keys);
  EXPECT_THAT(blocks.of_row, ElementsAre(0, 1, 2, 2, 0, 2, 3));
  EXPECT_EQ(blocks.count, 4U);
}

TEST(MakeSplits, MakesASelectionThatLeaksNowhere) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Fingerprints table = table_with_copies(seed, 1000);
    const ColumnSource columns = [&](const ColumnNames& names) {
      return select_columns(table, names);
    };
    SplitOptions options = options_of(0.8, 0.1, 0.1, seed);
    options.of = {true, true, seed % 2 == 0, seed < 2};
    if (seed >= 2) options.shares = {0, 0.9, 0.1, 0};
    const SplitResult result = make_splits(columns, options);
    const Selection& selection = result.selection;
    EXPECT_EQ(serialize(parse_selection(serialize(selection), "s")), serialize(selection));
    EXPECT_EQ(selection.mode, SelectionMode::kKeep);

    // Among the samples that stay, nothing leaks and no burst is cut.
    std::vector<bool> keep;
    std::uint64_t left_out = 0;
    for (const float weight : selection.weights) {
      keep.push_back(weight > 0);
      left_out += weight > 0 ? 0 : 1;
    }
    EXPECT_EQ(left_out, result.summary.left_out + result.summary.leaks);
    EXPECT_EQ(left_out > 0, seed >= 2);
    Fingerprints after;
    after.codes.push_back({"phash", 1, 64, {}});
    std::map<std::string, std::set<Split>> bursts;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const auto at = std::ranges::lower_bound(selection.ids, selection.kept[row]);
      const auto kept = static_cast<std::size_t>(at - selection.ids.begin());
      EXPECT_EQ(selection.components[kept], selection.components[row]);
      if (!keep[row]) {
        EXPECT_EQ(selection.distances[row],
                  table.pixel_hashes[row] == table.pixel_hashes[kept]
                      ? 0
                      : hamming(table.codes[0].code(row), table.codes[0].code(kept)));
        continue;
      }
      after.ids.push_back(table.ids[row]);
      after.splits.push_back(selection.splits[row]);
      after.labels.push_back(table.labels[row]);
      after.group_keys.push_back(table.group_keys[row]);
      after.widths_px.push_back(1);
      after.heights_px.push_back(1);
      after.file_bytes.push_back(1);
      after.file_hashes.push_back(table.file_hashes[row]);
      after.pixel_hashes.push_back(table.pixel_hashes[row]);
      after.sharpness.push_back(1);
      after.quality.push_back(table.quality[row]);
      after.codes[0].words.push_back(table.codes[0].words[row]);
      const std::string key(table.group_keys[row].begin(), table.group_keys[row].end());
      if (!key.empty() && selection.splits[row] != Split::kNone) {
        bursts[key].insert(selection.splits[row]);
      }
    }
    EXPECT_TRUE(deduplicate(after, {.hash = "phash", .threshold = 4}).leaks.empty());
    for (const auto& [key, splits] : bursts) EXPECT_EQ(splits.size(), 1U) << key;

    const auto settings = nlohmann::json::parse(selection.settings);
    EXPECT_EQ(settings["hash"], "phash");
    EXPECT_EQ(settings["hash_version"], 1);
    EXPECT_EQ(settings["shares"]["val"], 0.1);
    EXPECT_EQ(settings["seed"], seed);
  }
}

TEST(MakeSplits, DependsOnNoThreads) {
  const Fingerprints table = table_with_copies(3, 3000);
  const ColumnSource columns = [&](const ColumnNames& names) {
    return select_columns(table, names);
  };
  std::set<Bytes> seen;
  for (const std::size_t threads : {1U, 2U, 8U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    seen.insert(serialize(make_splits(columns, options_of(0.6, 0.2, 0.2)).selection));
  }
  EXPECT_EQ(seen.size(), 1U);
}

TEST(MakeSplits, Refuses) {
  const Fingerprints table = make_table({{.id = 1, .split = Split::kTrain}});
  const ColumnSource columns = [&](const ColumnNames& names) {
    return select_columns(table, names);
  };
  SplitOptions options = options_of(0.5, 0.5, 0);
  options.of = {false, false, true, true};
  EXPECT_THROW(make_splits(columns, options), UsageError);
  options.of = {true, true, true, true};
  options.hash = "nope";
  EXPECT_THROW(make_splits(columns, options), UsageError);
}

// As with folds: a single block cannot be in three splits.
TEST(MakeSplits, RefusesSplitsThatWouldBeEmpty) {
  const auto refusal = [](std::size_t samples, std::size_t blocks, const SplitOptions& options) {
    CounterRng rng = test_rng(1);
    std::vector<std::uint64_t> codes;
    for (std::size_t block = 0; block < blocks; ++block) codes.push_back(rng.next_u64());
    std::vector<TestImage> images;
    for (std::size_t i = 0; i < samples; ++i) {
      const std::size_t block = std::min(i, blocks - 1);
      images.push_back({.id = i + 1, .code = codes[block], .file = i, .pixels = block});
    }
    const Fingerprints table = make_table(images);
    try {
      make_splits([&](const ColumnNames& names) { return select_columns(table, names); }, options);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const SplitOptions three = options_of(0.8, 0.1, 0.1);
  EXPECT_THAT(refusal(100, 1, three), HasSubstr("nothing left for val and test: the 100 samples to "
                                                "distribute are 1 block, since duplicates"));
  EXPECT_THAT(refusal(4, 1, three), HasSubstr("nothing left for"));
  EXPECT_THAT(refusal(100, 2, three), HasSubstr("2 blocks"));
  EXPECT_EQ(refusal(100, 3, three), "accepted");
  EXPECT_EQ(refusal(100, 1, options_of(1, 0, 0)), "accepted");
  EXPECT_EQ(refusal(4, 4, three), "accepted");  // a tenth of four is zero
}

}  // namespace winnow::dedup::split_test
