#include "dedup/split/folds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "tests/dedup/split_worlds.h"

namespace winnow::dedup::folds_test {

using testing::HasSubstr;

using Counts = std::map<std::int32_t, std::vector<int>>;  // by label (-1: none), in each fold

Folds deal(const World& world, std::uint32_t count, SplitOptions options = {}) {
  Folds dealt = deal_folds(world.table, world.blocks, options, count);
  EXPECT_EQ(dealt.folds.size(), world.table.size());
  EXPECT_EQ(dealt.rows.splits, world.table.splits);
  return dealt;
}

SplitOptions seeded(std::uint64_t seed) {
  SplitOptions options;
  options.dealing.seed = seed;
  return options;
}

Counts count(const World& world, const Folds& dealt, std::uint32_t folds) {
  Counts counts;
  for (std::uint32_t row = 0; row < world.table.size(); ++row) {
    if (dealt.folds[row] == kNoFold) continue;
    std::vector<std::int32_t> labels = label_set(world.table.labels, row);
    if (labels.empty()) labels = {-1};
    for (const std::int32_t label : labels) {
      counts[label].resize(folds);
      ++counts[label][dealt.folds[row]];
    }
  }
  return counts;
}

// The greatest distance of any count from their mean.
double distance(const std::vector<int>& counts) {
  const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / double(counts.size());
  double most = 0;
  for (const int got : counts) most = std::max(most, std::abs(got - mean));
  return most;
}

std::vector<int> sizes_of(const Folds& dealt, std::uint32_t folds) {
  std::vector<int> sizes(folds);
  for (const std::uint8_t fold : dealt.folds) {
    if (fold != kNoFold) ++sizes.at(fold);
  }
  return sizes;
}

void expect_whole_blocks(const World& world, const Folds& dealt) {
  std::vector<std::set<int>> reached(world.blocks.count);
  for (std::size_t row = 0; row < world.table.size(); ++row) {
    if (dealt.folds[row] != kNoFold) reached[world.blocks.of_row[row]].insert(dealt.folds[row]);
  }
  for (const auto& folds : reached) EXPECT_LE(folds.size(), 1U);
}

constexpr std::array<std::uint32_t, 6> kCounts{2, 3, 4, 5, 10, 100};

TEST(Folds, SinglesComeWithinOneOfTheirSharesAndSoDoFolds) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CounterRng rng = test_rng(seed);
    World world;
    world.add_singles(7, 200);
    for (int label = 100; label < 200; ++label) {
      world.add_singles(label, static_cast<int>(rng.below(rng.below(10) == 0 ? 500 : 8)));
    }
    for (const std::uint32_t folds : kCounts) {
      const Folds dealt = deal(world, folds, seeded(seed));
      EXPECT_EQ(std::ranges::count(dealt.folds, kNoFold), 0);
      for (const auto& [label, counts] : count(world, dealt, folds)) {
        EXPECT_LT(distance(counts), 1) << label << " in " << folds;
      }
      EXPECT_LT(distance(sizes_of(dealt, folds)), 2);
    }
  }
}

TEST(Folds, BlocksOfOneClassPutItOffByNoMoreThanItsLargest) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    CounterRng rng = test_rng(seed);
    World world = world_of_blocks(rng, 30, 2 + rng.below(12));
    world.add_singles(0, 100);
    std::vector<int> block_sizes(world.blocks.count);
    for (const std::uint32_t block : world.blocks.of_row) ++block_sizes[block];
    std::map<std::int32_t, int> largest;
    for (std::uint32_t row = 0; row < world.table.size(); ++row) {
      int& most = largest[world.table.labels[row].front()];
      most = std::max(most, block_sizes[world.blocks.of_row[row]]);
    }
    for (const std::uint32_t folds : kCounts) {
      const Folds dealt = deal(world, folds, seeded(seed));
      expect_whole_blocks(world, dealt);
      EXPECT_EQ(std::ranges::count(dealt.folds, kNoFold), 0);
      for (const auto& [label, counts] : count(world, dealt, folds)) {
        EXPECT_LT(distance(counts), largest[label] + 1e-6) << label << " in " << folds;
      }
    }
  }
}

// The least distance that any distribution of the blocks has.
double best_distance(const std::vector<int>& blocks, std::size_t next, std::vector<int>& counts) {
  if (next == blocks.size()) return distance(counts);
  double best = 1e9;
  std::set<int> tried;  // folds with equal counts are equivalent
  for (int& fold : counts) {
    if (!tried.insert(fold).second) continue;
    fold += blocks[next];
    best = std::min(best, best_distance(blocks, next + 1, counts));
    fold -= blocks[next];
  }
  return best;
}

TEST(Folds, ClassesComeWithinOneWhereverTheirBlocksAllow) {
  for (const std::uint32_t folds : {2U, 3U, 4U, 5U}) {
    int possible = 0;
    int missed = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CounterRng rng = test_rng(seed);
      World world;
      std::map<std::int32_t, std::vector<int>> blocks;
      for (std::int32_t label = 0; label < 5; ++label) {
        for (std::uint32_t i = folds + rng.below(5); i > 0; --i) {
          blocks[label].push_back(static_cast<int>(1 + rng.below(7)));
          world.add_block({{label, blocks[label].back()}});
        }
      }
      const Folds dealt = deal(world, folds, seeded(seed));
      expect_whole_blocks(world, dealt);
      for (const auto& [label, counts] : count(world, dealt, folds)) {
        std::vector<int> none(folds);
        if (best_distance(blocks[label], 0, none) > 1) continue;
        ++possible;
        missed += distance(counts) > 1 + 1e-6 ? 1 : 0;
      }
    }
    EXPECT_GT(possible, 100);
    // For up to three folds all distributions are searched; for more, blocks are only exchanged.
    EXPECT_LE(missed, folds <= 3 ? 0 : possible / 50) << folds;
  }
}

// Blocks of one or two classes, with 1 to 9 samples of each.
World small_world(CounterRng& rng, std::uint32_t blocks) {
  World world;
  const std::uint32_t classes = 1 + rng.below(6);
  const auto some = [&] {
    return std::pair(static_cast<std::int32_t>(rng.below(classes)),
                     static_cast<int>(1 + rng.below(1 + rng.below(9))));
  };
  for (std::uint32_t i = 0; i < blocks; ++i) {
    if (rng.below(2) == 0) {
      world.add_block({some()});
    } else {
      world.add_block({some(), some()});
    }
  }
  return world;
}

TEST(Folds, AreNeverEmptyWhereThereIsABlockForEach) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CounterRng rng = test_rng(seed);
    const std::uint32_t folds = 2 + rng.below(6);
    const World world = small_world(rng, folds + rng.below(3));
    const Folds dealt = deal(world, folds, seeded(seed));
    expect_whole_blocks(world, dealt);
    EXPECT_GT(std::ranges::min(sizes_of(dealt, folds)), 0) << seed;
  }
}

TEST(Folds, NeedABlockEach) {
  CounterRng rng = test_rng(0);
  for (const std::uint32_t folds : {2U, 5U, 100U}) {
    const World world = small_world(rng, folds - 1);
    try {
      deal(world, folds);
      ADD_FAILURE() << folds;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("more blocks than " + std::to_string(folds - 1)));
    }
  }
}

TEST(Folds, DependOnTheSeedAndNothingElse) {
  CounterRng rng = test_rng(1);
  const World world = world_of_blocks(rng, 20, 5);
  const Folds once = deal(world, 5, seeded(3));
  SplitOptions options = seeded(3);
  options.shares = {0, 0.3, 0.3, 0.4};
  options.dealing.stay = true;
  EXPECT_EQ(once.folds, deal(world, 5, options).folds);
  const Folds other = deal(world, 5, seeded(4));
  std::size_t differing = 0;
  for (std::size_t row = 0; row < world.table.size(); ++row) {
    differing += once.folds[row] != other.folds[row] ? 1 : 0;
  }
  EXPECT_GT(differing, world.table.size() / 2);
}

TEST(Folds, GiveEverySampleTheSameChance) {
  World world;
  for (int label = 0; label < 3; ++label) world.add_singles(label, 10);
  std::vector<int> in_first(world.table.size());
  constexpr int kSeeds = 1000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Folds dealt = deal(world, 4, seeded(seed));
    for (std::size_t row = 0; row < in_first.size(); ++row) {
      in_first[row] += dealt.folds[row] == 0 ? 1 : 0;
    }
  }
  for (const int times : in_first) EXPECT_NEAR(times, 250, 6 * std::sqrt(1000 * 0.25 * 0.75));
}

TEST(Folds, SummaryIsWhatALoopCounts) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CounterRng rng = test_rng(seed);
    World world = world_of_blocks(rng, 8, 6);
    world.add(world.blocks.count, {});
    world.add(world.blocks.count, {3, 3, 5});
    world.add_block({{1, 4}}, Split::kTest);
    SplitOptions options = seeded(seed);
    options.of[static_cast<std::size_t>(Split::kTest)] = false;
    const std::uint32_t folds = 2 + rng.below(9);
    const Folds dealt = deal(world, folds, options);
    const FoldsSummary summary = summarise_folds(world.table, world.blocks, options, dealt, folds);
    const std::vector<int> sizes = sizes_of(dealt, folds);
    Counts counts = count(world, dealt, folds);
    EXPECT_EQ(summary.dealt, world.table.size() - 4);
    EXPECT_EQ(summary.fixed[3], 4U);
    EXPECT_EQ(summary.blocks, world.blocks.count);
    std::size_t off = 0;
    for (const auto& [label, of_label] : counts) off += distance(of_label) > 1 + 1e-6 ? 1 : 0;
    EXPECT_EQ(summary.off.size(), off);
    std::uint64_t blocks = 0;
    for (std::uint32_t fold = 0; fold < folds; ++fold) {
      const FoldsSummary::Fold& said = summary.folds[fold];
      blocks += said.blocks;
      EXPECT_EQ(said.samples, static_cast<std::uint64_t>(sizes[fold]));
      double furthest = 0;
      std::vector<std::uint64_t> of_classes;
      for (const auto& [label, got] : counts) {
        const double mean = std::accumulate(got.begin(), got.end(), 0.0) / folds;
        furthest = std::max(furthest, std::abs(got[fold] - mean));
        if (label >= 0) of_classes.push_back(static_cast<std::uint64_t>(got[fold]));
      }
      EXPECT_NEAR(said.furthest, furthest, 1e-9);
      EXPECT_EQ(said.fewest, std::ranges::min(of_classes));
      EXPECT_EQ(said.most, std::ranges::max(of_classes));
      EXPECT_EQ(said.classes, of_classes.size() - std::ranges::count(of_classes, 0U));
    }
    EXPECT_EQ(blocks, world.blocks.count - 1);
    for (const FoldsSummary::Off& told : summary.off) {
      const std::vector<int>& got = counts[told.off.label.value_or(-1)];
      EXPECT_EQ(told.off.got, static_cast<std::uint64_t>(got[told.fold]));
      EXPECT_NEAR(told.off.distance(), distance(got), 1e-9);
    }
  }
}

SplitOptions with_fixed_test(std::uint64_t seed) {
  SplitOptions options = seeded(seed);
  options.of = {true, true, true, false};
  return options;
}

TEST(MakeFolds, EachSampleIsValOnceAndNothingLeaks) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Fingerprints table = table_with_copies(seed, 800);
    const ColumnSource columns = [&](const ColumnNames& names) {
      return select_columns(table, names);
    };
    const std::uint32_t folds = seed == 0 ? 2 : 5;
    SplitOptions options = with_fixed_test(seed);
    options.of[3] = seed == 1;
    const FoldsResult result = make_folds(columns, options, folds);
    std::vector<int> times_val(table.size());
    std::uint64_t left_out = 0;
    for (std::uint32_t fold = 0; fold < folds; ++fold) {
      const Selection selection = selection_of_fold(result, fold);
      EXPECT_EQ(serialize(parse_selection(serialize(selection), "s")), serialize(selection));
      std::map<std::uint32_t, std::set<Split>> reached;
      std::map<std::string, std::set<Split>> of_key;
      for (std::size_t row = 0; row < table.size(); ++row) {
        const Split split = selection.split_of(row, table.splits[row]);
        if (selection.weights[row] == 0) {
          // It belongs to a test sample, which stays.
          left_out += fold == 0 ? 1 : 0;
          EXPECT_EQ(split, Split::kNone);
          const auto kept = std::ranges::lower_bound(table.ids, selection.kept[row]);
          const auto at = static_cast<std::size_t>(kept - table.ids.begin());
          EXPECT_EQ(table.splits[at], Split::kTest);
          EXPECT_EQ(selection.components[at], selection.components[row]);
          EXPECT_EQ(selection.rules[row], Rule::kLeak);
          continue;
        }
        reached[selection.components[row]].insert(split);
        const std::string key(table.group_keys[row].begin(), table.group_keys[row].end());
        if (!key.empty()) of_key[key].insert(split);
        EXPECT_EQ(split == Split::kTest, table.splits[row] == Split::kTest && seed != 1);
        times_val[row] += split == Split::kVal ? 1 : 0;
        if (split != Split::kTest) {
          EXPECT_EQ(split == Split::kVal, result.folds[row] == fold);
        }
      }
      for (const auto& [block, splits] : reached) EXPECT_EQ(splits.size(), 1U);
      for (const auto& [key, splits] : of_key) EXPECT_EQ(splits.size(), 1U) << key;
      const auto settings = nlohmann::json::parse(selection.settings);
      EXPECT_EQ(settings["fold"], fold + 1);
      EXPECT_EQ(settings["folds"], folds);
      EXPECT_EQ(settings["shares"]["val"], 1.0 / folds);

      // Folds differ only in which samples are val.
      Selection first = selection_of_fold(result, 0);
      first.settings = selection.settings;
      first.splits = selection.splits;
      EXPECT_EQ(first, selection);
    }
    for (std::size_t row = 0; row < table.size(); ++row) {
      const bool dealt = result.folds[row] < kLeftOut;
      EXPECT_EQ(times_val[row], dealt ? 1 : 0);
      EXPECT_EQ(dealt,
                result.common.weights[row] > 0 && (seed == 1 || table.splits[row] != Split::kTest));
    }
    EXPECT_EQ(result.summary.left_out, left_out);
    EXPECT_EQ(left_out > 0, seed != 1);
  }
}

TEST(MakeFolds, DependOnNoThreads) {
  const Fingerprints table = table_with_copies(3, 3000);
  const ColumnSource columns = [&](const ColumnNames& names) {
    return select_columns(table, names);
  };
  std::set<std::vector<std::uint8_t>> seen;
  std::set<Bytes> files;
  for (const std::size_t threads : {1U, 2U, 8U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const FoldsResult result = make_folds(columns, with_fixed_test(1), 5);
    seen.insert(result.folds);
    files.insert(serialize(selection_of_fold(result, 2)));
  }
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_EQ(files.size(), 1U);
}

TEST(MakeFolds, Refuses) {
  const Fingerprints table = table_with_copies(3, 100);
  const ColumnSource columns = [&](const ColumnNames& names) {
    return select_columns(table, names);
  };
  SplitOptions options;
  options.of = {true, true, false, false};
  EXPECT_THROW(make_folds(columns, options, 5), UsageError);
  options.of = {true, false, true, true};
  EXPECT_THROW(make_folds(columns, options, 5), UsageError);
  options.of = {false, true, true, false};  // samples of no split stay in none
  const FoldsResult result = make_folds(columns, options, 5);
  for (std::size_t row = 0; row < table.size(); ++row) {
    EXPECT_TRUE(table.splits[row] != Split::kNone || result.folds[row] == kNoFold);
  }
}

TEST(FoldsOf, EachSampleThatIsTrainedOnIsValOnce) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Fingerprints table = table_with_copies(seed, 600);
    Selection chosen = deduplicate(table, {.hash = "phash", .threshold = 4}).selection;
    if (seed == 1) {  // samples whose split the selection changes
      chosen.splits.assign(table.size(), Split::kTest);
      std::fill_n(chosen.splits.begin(), 300, Split::kNone);
    }
    const std::uint32_t count = seed == 0 ? 2 : 5;
    const std::vector<Selection> folds = folds_of(chosen, table, count);
    ASSERT_EQ(folds.size(), count);
    std::vector<int> times_val(table.size());
    std::map<std::uint32_t, std::set<std::uint32_t>> reached;
    std::map<std::string, std::set<std::uint32_t>> of_key;
    std::vector<std::size_t> sizes;
    for (std::uint32_t fold = 0; fold < count; ++fold) {
      Selection selection = folds[fold];
      EXPECT_EQ(serialize(parse_selection(serialize(selection), "s")), serialize(selection));
      std::size_t size = 0;
      for (std::size_t row = 0; row < table.size(); ++row) {
        const bool is_dealt =
            chosen.weights[row] > 0 && chosen.split_of(row, table.splits[row]) != Split::kTest;
        const Split split = selection.splits.at(row);
        EXPECT_EQ(split == Split::kNone, !is_dealt);
        EXPECT_NE(split, Split::kTest);
        if (split != Split::kVal) continue;
        ++size;
        ++times_val[row];
        reached[chosen.components[row]].insert(fold);
        const std::string key(table.group_keys[row].begin(), table.group_keys[row].end());
        if (!key.empty()) of_key[key].insert(fold);
      }
      sizes.push_back(size);
      const auto settings = nlohmann::json::parse(selection.settings);
      EXPECT_EQ(settings["fold"], fold + 1);
      EXPECT_EQ(settings["folds"], count);
      EXPECT_EQ(settings["hash"], "phash");
      selection.splits = chosen.splits;
      selection.settings = chosen.settings;
      EXPECT_EQ(selection, chosen);  // everything else is unchanged
    }
    for (std::size_t row = 0; row < table.size(); ++row) {
      EXPECT_EQ(times_val[row], folds[0].splits[row] == Split::kNone ? 0 : 1);
    }
    for (const auto& [block, in] : reached) EXPECT_EQ(in.size(), 1U);
    for (const auto& [key, in] : of_key) EXPECT_EQ(in.size(), 1U) << key;
    EXPECT_LT(*std::ranges::max_element(sizes), *std::ranges::min_element(sizes) + 30);
  }
}

TEST(FoldsOf, RefusesWhereNothingIsLeft) {
  const Fingerprints table = table_with_copies(3, 100);
  Selection chosen = keep_all(table.ids);
  EXPECT_EQ(folds_of(chosen, table, 3).size(), 3U);
  chosen.splits.assign(table.size(), Split::kTest);
  EXPECT_THROW(folds_of(chosen, table, 3), UsageError);
  chosen.splits[7] = Split::kTrain;  // a block for two folds
  EXPECT_THROW(folds_of(chosen, table, 2), UsageError);
}

}  // namespace winnow::dedup::folds_test
