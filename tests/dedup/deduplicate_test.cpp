#include "dedup/decisions/deduplicate.h"

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
#include "dedup/decisions/based_on.h"
#include "dedup/decisions/settings.h"
#include "dedup/lists/pairs.h"
#include "dedup/lists/report.h"
#include "dedup/review/decided.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::deduplicate_test {

using testing::ElementsAre;
using testing::HasSubstr;

// Random pictures, each with a few copies: equal files, equal pixels, or codes some bits away, in
// any split. `copy_of` gives the picture of each image.
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
      // All sizes and sharpness values differ, so that keep policies have no ties.
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
        default:  // similar
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

std::vector<Policy> all_policies() {
  std::vector<Policy> list;
  for (const KeepPolicy keep :
       {KeepPolicy::kFirst, KeepPolicy::kLargest, KeepPolicy::kSharpest, KeepPolicy::kMajority}) {
    list.push_back({.keep = keep});
  }
  list.push_back({.order = kTrainingFirst});
  list.push_back({.order = {Split::kVal, Split::kTrain, Split::kTest}});
  list.push_back({.keep = KeepPolicy::kMajority, .order = kTrainingFirst});
  for (const ConflictAction on_conflict :
       {ConflictAction::kKeep, ConflictAction::kDrop, ConflictAction::kWeight}) {
    list.push_back({.on_leak = LeakAction::kMove, .on_conflict = on_conflict});
    list.push_back({.order = kTrainingFirst, .on_conflict = on_conflict});
    list.push_back({.on_conflict = on_conflict, .mode = SelectionMode::kWeight});
    list.push_back({.on_conflict = on_conflict, .mode = SelectionMode::kOnePerGroup});
  }
  return list;
}

std::vector<Options> all_options() {
  std::vector<Options> list;
  for (const Policy& policy : all_policies()) {
    for (const Scope scope : {Scope::kAll, Scope::kWithin, Scope::kAcross}) {
      for (const int threshold : {0, 4, 20})
        list.push_back({"phash", threshold, scope, {}, policy});
      list.push_back({"exact", 4, scope, {}, policy});
      list.push_back({"phash", 4, scope, GroupKind::kStars, policy});
      list.push_back({"phash", 4, scope, GroupKind::kCliques, policy});
    }
  }
  return list;
}

bool is_evaluation(Split split) { return split == Split::kVal || split == Split::kTest; }

// Whether two rows are linked, by definition.
bool linked(const Fingerprints& table, const Options& options, std::size_t a, std::size_t b) {
  if (table.file_hashes[a] == table.file_hashes[b]) return true;
  if (table.pixel_hashes[a] == table.pixel_hashes[b]) return true;
  return options.hash != "exact" && table.quality[a] > 0 && table.quality[b] > 0 &&
         std::popcount(table.codes[0].words[a] ^ table.codes[0].words[b]) <= options.threshold;
}

Components components_of(const Fingerprints& table, const Options& options) {
  std::vector<Edge> edges;
  for (std::uint32_t a = 0; a < table.size(); ++a) {
    for (std::uint32_t b = a + 1; b < table.size(); ++b) {
      if (linked(table, options, a, b)) edges.push_back({a, b, 0});
    }
  }
  return connected_components(table.size(), edges);
}

// The rows of each component, in the order of first rows. Single rows are included.
std::vector<std::vector<std::uint32_t>> rows_of(const Components& components) {
  std::vector<std::vector<std::uint32_t>> rows(components.count);
  for (std::uint32_t row = 0; row < components.of_row.size(); ++row) {
    rows[components.of_row[row]].push_back(row);
  }
  return rows;
}

TEST(Deduplicate, KeepsItsInvariants) {
  std::map<Rule, std::size_t> seen;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const World world = random_world(seed, 60, 4);
    const Fingerprints table = make_table(world.images);
    const auto row_of = [&](SampleId id) {
      return static_cast<std::size_t>(std::ranges::lower_bound(table.ids, id) - table.ids.begin());
    };
    for (const Options& options : all_options()) {
      const Result result = deduplicate(table, options);
      const Selection& selection = result.selection;
      SCOPED_TRACE(selection.settings + ", seed " + std::to_string(seed));
      const Policy& policy = options.policy;
      ASSERT_EQ(selection.ids, table.ids);
      ASSERT_EQ(serialize(parse_selection(serialize(selection), "s")), serialize(selection));
      const Components components = components_of(table, options);
      ASSERT_EQ(selection.components, components.of_row);

      std::uint64_t removed = 0;
      std::uint64_t moved = 0;
      for (std::size_t row = 0; row < table.size(); ++row) {
        const std::size_t kept = row_of(selection.kept[row]);
        const Split own = table.splits[row];
        const Rule rule = selection.rules[row];
        const bool stays = selection.weights[row] > 0;
        ++seen[rule];
        removed += stays ? 0 : 1;
        moved += stays && selection.split_of(row, own) != own ? 1 : 0;
        ASSERT_EQ(selection.components[row], selection.components[kept]);
        ASSERT_EQ(kept == row,
                  rule == Rule::kKept || rule == Rule::kConflict || rule == Rule::kMoved);
        if (rule != Rule::kConflict) {
          ASSERT_GT(selection.weights[kept], 0) << "what stands for others is kept";
        } else {
          ASSERT_FALSE(stays);
          ASSERT_EQ(policy.on_conflict, ConflictAction::kDrop);
        }
        ASSERT_TRUE(stays || (rule != Rule::kKept && rule != Rule::kMoved));
        ASSERT_TRUE(rule != Rule::kMoved || selection.split_of(row, own) != own);
        if (is_evaluation(own) && !stays && policy.on_leak == LeakAction::kDrop) {
          ASSERT_EQ(rule, Rule::kLeak) << "evaluation is never thinned";
        }
        const bool exact = table.file_hashes[row] == table.file_hashes[kept] ||
                           table.pixel_hashes[row] == table.pixel_hashes[kept];
        ASSERT_EQ(selection.distances[row],
                  exact || options.hash == "exact"
                      ? 0
                      : std::popcount(table.codes[0].words[row] ^ table.codes[0].words[kept]));
      }
      EXPECT_EQ(result.removed, removed);
      EXPECT_EQ(result.moved, moved);
      EXPECT_EQ(result.removed + result.kept, table.size());

      // Groups agree with the options, and the rows left in train agree with the mode.
      std::uint64_t conflicts = 0;
      std::uint64_t chains = 0;
      std::vector<bool> grouped(table.size());
      for (const Group& group : result.groups) {
        ASSERT_GE(group.rows.size(), 2U);
        ASSERT_TRUE(std::ranges::is_sorted(group.rows));
        std::set<std::int32_t> labels;
        std::set<std::int32_t> training_labels;
        std::map<Split, float> weights;
        std::map<Split, std::size_t> staying;
        for (const std::uint32_t row : group.rows) {
          ASSERT_FALSE(grouped[row]);
          grouped[row] = true;
          labels.insert(table.labels[row].begin(), table.labels[row].end());
          const Split used = selection.split_of(row, table.splits[row]);
          if (!is_evaluation(used)) {
            training_labels.insert(table.labels[row].begin(), table.labels[row].end());
          }
          if (selection.weights[row] > 0) {
            weights[used] += selection.weights[row];
            ++staying[used];
          }
          if (options.scope == Scope::kWithin) {
            EXPECT_EQ(table.splits[row], table.splits[group.rows[0]]);
          }
        }
        EXPECT_EQ(group.label_conflict, labels.size() >= 2);  // here each row has one label
        conflicts += group.label_conflict ? 1 : 0;
        chains += group.shape.chain ? 1 : 0;
        if (options.scope == Scope::kAcross || options.groups == GroupKind::kStars) continue;
        const Split home = staying[Split::kTrain] > 0 ? Split::kTrain : Split::kNone;
        if (staying[home] == 0) continue;
        EXPECT_TRUE(home == Split::kNone || staying[Split::kNone] == 0);
        const bool weighed =
            policy.mode == SelectionMode::kWeight ||
            (policy.on_conflict == ConflictAction::kWeight && training_labels.size() >= 2);
        if (policy.mode == SelectionMode::kOnePerGroup) {
          EXPECT_EQ(weights[home], static_cast<float>(staying[home]));
        } else {
          EXPECT_NEAR(weights[home], 1, 1e-6);
          EXPECT_TRUE(weighed || staying[home] == 1);
        }
      }
      EXPECT_EQ(result.conflicts, conflicts);
      EXPECT_EQ(result.chains, chains);
      if (!options.groups && options.scope != Scope::kWithin) {
        for (std::uint32_t row = 0; row < table.size(); ++row) {
          const auto number = components.of_row[row];
          EXPECT_EQ(grouped[row], std::ranges::count(components.of_row, number) >= 2);
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kRuleCount - 2))
      << "every rule but kIssue and kReview was seen";
}

// The promise of each action about pictures that several splits share.
TEST(LeakGate, LeavesNoLeakAndDropsNoMoreThanItMust) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const World world = random_world(seed, 250, 4);
    const Fingerprints table = make_table(world.images);
    for (const Options& options : all_options()) {
      if (options.scope == Scope::kWithin) continue;
      const Policy& policy = options.policy;
      // Here only linked pairs leak.
      if (options.groups == GroupKind::kStars && policy.on_leak == LeakAction::kDrop) continue;
      const Result result = deduplicate(table, options);
      const Selection& selection = result.selection;
      SCOPED_TRACE(selection.settings + ", seed " + std::to_string(seed));
      std::size_t leaking = 0;
      for (const std::vector<std::uint32_t>& rows : rows_of(components_of(table, options))) {
        std::set<Split> own;   // among train, val and test
        std::set<Split> used;  // splits of the rows that stay
        bool conflicting = false;
        for (const std::uint32_t row : rows) {
          if (table.splits[row] != Split::kNone) own.insert(table.splits[row]);
          const Split split = selection.split_of(row, table.splits[row]);
          if (selection.weights[row] > 0 && split != Split::kNone) used.insert(split);
          conflicting = conflicting || selection.rules[row] == Rule::kConflict;
        }
        ASSERT_LE(used.size(), 1U) << "a picture is left in two splits";
        leaking += own.size() >= 2 ? 1 : 0;
        for (const std::uint32_t row : rows) {
          const Split split = table.splits[row];
          const Rule rule = selection.rules[row];
          if (own.size() < 2) {
            ASSERT_NE(rule, Rule::kMoved);
            ASSERT_TRUE(rule != Rule::kLeak || split == Split::kNone);
          }
          if (policy.on_leak == LeakAction::kMove) {
            ASSERT_TRUE(rule != Rule::kLeak || split == Split::kNone) << "moving drops nothing";
            continue;
          }
          ASSERT_NE(rule, Rule::kMoved);
          if (own.size() < 2 || split == Split::kNone || conflicting) continue;
          // The first split by the order keeps its samples, the others lose all of theirs.
          const Split winner =
              *std::ranges::find_if(policy.order, [&](Split s) { return own.contains(s); });
          ASSERT_EQ(rule == Rule::kLeak, split != winner);
          if (options.scope == Scope::kAcross) {
            ASSERT_EQ(selection.weights[row] > 0, split == winner);
          }
        }
        if (policy.on_leak == LeakAction::kMove && own.size() >= 2 && !conflicting) {
          const Split home = *used.begin();
          const auto members = [&](Split split) {
            return std::ranges::count_if(
                rows, [&](std::uint32_t row) { return table.splits[row] == split; });
          };
          for (const Split split : own) ASSERT_GE(members(home), members(split));
        }
      }
      ASSERT_GT(leaking, 10U);
      std::uint64_t counted = 0;
      for (const LeakCount& leak : result.leaks) counted += leak.groups;
      ASSERT_GE(counted, leaking) << "the gate found them all";
    }
  }
}

TEST(StarGroups, LetNothingGoThatIsNotLinkedToWhatStays) {
  std::map<Rule, std::size_t> seen;
  std::size_t spared = 0;  // rows that connected components would remove
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const World world = random_world(seed, 250, 4);
    const Fingerprints table = make_table(world.images);
    const auto row_of = [&](SampleId id) {
      return static_cast<std::uint32_t>(std::ranges::lower_bound(table.ids, id) -
                                        table.ids.begin());
    };
    for (Options options : all_options()) {
      if (options.groups != GroupKind::kStars) continue;
      options.threshold = 3;  // so copies of one picture can be further apart
      const Policy& policy = options.policy;
      const Result result = deduplicate(table, options);
      const Selection& selection = result.selection;
      SCOPED_TRACE(selection.settings + ", seed " + std::to_string(seed));
      const auto used_in = [&](std::uint32_t row) {
        return selection.split_of(row, table.splits[row]);
      };
      for (std::uint32_t row = 0; row < table.size(); ++row) {
        const Rule rule = selection.rules[row];
        ++seen[rule];
        if (selection.weights[row] > 0 || rule == Rule::kConflict) continue;
        const std::uint32_t kept = row_of(selection.kept[row]);
        ASSERT_TRUE(linked(table, options, row, kept));
        ASSERT_GT(selection.weights[kept], 0);
        const Split split = used_in(row);
        ASSERT_EQ(rule == Rule::kLeak, split != used_in(kept) &&
                                           (split != Split::kNone || is_evaluation(used_in(kept))));
        ASSERT_TRUE(rule == Rule::kLeak || !is_evaluation(split));
        const bool is_moved = policy.on_leak == LeakAction::kMove;
        if (is_moved || split != used_in(kept) || policy.keep == KeepPolicy::kMajority) continue;
        EXPECT_EQ(choose_kept(table, std::vector{std::min(row, kept), std::max(row, kept)}, policy),
                  kept);
      }
      const bool thins = options.scope != Scope::kAcross && policy.mode == SelectionMode::kKeep;
      for (std::uint32_t a = 0; a < table.size(); ++a) {
        for (std::uint32_t b = a + 1; b < table.size(); ++b) {
          if (!(selection.weights[a] > 0 && selection.weights[b] > 0)) continue;
          if (!linked(table, options, a, b)) continue;
          const bool is_split = used_in(a) != Split::kNone && used_in(b) != Split::kNone;
          if (options.scope != Scope::kWithin && is_split) {
            ASSERT_EQ(used_in(a), used_in(b)) << "a leak stays";
          }
          const bool in_training = !is_evaluation(used_in(a)) && used_in(a) == used_in(b);
          if (!thins || !in_training) continue;
          ASSERT_LT(std::min(selection.weights[a], selection.weights[b]), 1)
              << "a copy stays, and shares no weight";
        }
      }
      for (const Group& group : result.groups) {
        std::map<Split, float> weights;
        for (const std::uint32_t row : group.rows) {
          if (selection.weights[row] < 1) weights[used_in(row)] += selection.weights[row];
        }
        const float shared = weights[Split::kTrain] + weights[Split::kNone];
        EXPECT_TRUE(shared == 0 || std::abs(shared - std::round(shared)) < 1e-5F) << shared;
      }
      options.groups.reset();
      const std::uint64_t by_components = deduplicate(table, options).removed;
      spared += by_components - std::min(result.removed, by_components);
    }
  }
  EXPECT_GT(spared, 100U);
  EXPECT_GT(seen[Rule::kLeak], 1000U);
  EXPECT_GT(seen[Rule::kDuplicate], 1000U);
}

TEST(Deduplicate, FindsThePlantedCopiesAndNothingElse) {
  const World world = random_world(42, 400, 4);
  // Copies are at most 4 bits from their picture, so at most 8 bits from each other. Pictures are
  // unrelated.
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
      // These policies depend on the order, of all images or of those with the same label.
      const KeepPolicy keep = options.policy.keep;
      if (keep == KeepPolicy::kFirst || keep == KeepPolicy::kMajority) continue;
      if (options.groups) continue;
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
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const World world = random_world(seed, 80, 6);
    for (const Options& options : all_options()) {
      // With cliques, the kept images of two groups may be near each other. When stars lose images
      // with conflicting labels, the rest forms other stars.
      const bool is_star = options.groups == GroupKind::kStars;
      if (options.groups == GroupKind::kCliques) continue;
      if (is_star && options.policy.on_conflict == ConflictAction::kDrop) continue;
      const Result first = deduplicate(make_table(world.images), options);
      if (first.selection.mode != SelectionMode::kKeep) continue;
      std::vector<TestImage> kept;
      for (std::size_t row = 0; row < world.images.size(); ++row) {
        if (!(first.selection.weights[row] > 0)) continue;
        kept.push_back(world.images[row]);
        kept.back().split = first.selection.split_of(row, kept.back().split);
      }
      const Result second = deduplicate(make_table(kept), options);
      EXPECT_EQ(second.removed + second.moved, 0U) << first.selection.settings;
      EXPECT_EQ(second.kept, first.kept);
      // Images linked through samples of no split, which stay, also count as a leak.
      const bool has_links = is_star && options.scope == Scope::kAcross;
      EXPECT_TRUE(options.scope == Scope::kWithin || has_links || second.leaks.empty());
    }
  }
}

TEST(Deduplicate, ListsEveryPair) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    World world = random_world(seed, 60, 6);
    for (std::size_t i = 0; i < world.images.size(); i += 9) world.images[i].quality = 0;
    const Fingerprints table = make_table(world.images);
    const auto columns = [&](const ColumnNames& names) { return select_columns(table, names); };
    for (const Scope scope : {Scope::kAll, Scope::kWithin, Scope::kAcross}) {
      for (const char* hash : {"phash", "exact"}) {
        const Options options{.hash = hash, .threshold = 6, .scope = scope};
        std::vector<Edge> expected;
        for (std::uint32_t a = 0; a < table.size(); ++a) {
          for (std::uint32_t b = a + 1; b < table.size(); ++b) {
            const bool inside = table.splits[a] == table.splits[b];
            if (scope == (inside ? Scope::kAcross : Scope::kWithin)) continue;
            if (!linked(table, options, a, b)) continue;
            const bool exact = table.file_hashes[a] == table.file_hashes[b] ||
                               table.pixel_hashes[a] == table.pixel_hashes[b];
            expected.push_back({a, b,
                                exact ? 0U
                                      : static_cast<std::uint32_t>(std::popcount(
                                            table.codes[0].words[a] ^ table.codes[0].words[b]))});
          }
        }
        std::vector<Edge> pairs;
        for_each_pair(columns, options, {}, [&](const Edge& pair) { pairs.push_back(pair); });
        EXPECT_EQ(pairs, expected);
      }
    }
  }
}

// Codes of eight orientations. Some are equal across rows.
Fingerprints turned_table(std::uint64_t seed) {
  CounterRng rng = test_rng(seed);
  std::vector<TestImage> images;
  CodeColumn turned = empty_codes("phash_dihedral", 1, 8 * 64);
  for (std::uint32_t row = 0; row < 60; ++row) {
    images.push_back({.id = row + 1, .file = row + 1, .pixels = row + 1});
    // A new row, or one of the last two with a few bits changed in any of its codes.
    const std::size_t from = row > 2 && rng.below(4) > 0 ? row - 1 - rng.below(2) : row;
    for (std::size_t word = 0; word < 8; ++word) {
      const std::uint64_t code = from < row ? turned.words[8 * from + word] : rng.next_u64();
      turned.words.push_back(
          rng.below(3) == 0 ? code ^ random_flips(rng, static_cast<int>(rng.below(5))) : code);
    }
  }
  // Contains another row's code, but in another orientation: distance 0, yet not the same node.
  for (std::size_t row = 5; row < 60; row += 6)
    turned.words[8 * row + 1] = turned.words[8 * (row - 4)];
  Fingerprints table = make_table(images);
  table.codes.push_back(std::move(turned));
  return table;
}

TEST(Deduplicate, TakesTurnedCopiesForWhatTheyAre) {
  constexpr int kThreshold = 3;
  std::size_t zeros = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Fingerprints table = turned_table(seed);
    const CodeColumn& codes = table.codes[1];
    const auto columns = [&](const ColumnNames& names) { return select_columns(table, names); };
    Options options{.hash = "phash_dihedral", .threshold = kThreshold};
    std::vector<Edge> expected;
    for (std::uint32_t a = 0; a < table.size(); ++a) {
      for (std::uint32_t b = a + 1; b < table.size(); ++b) {
        const auto distance = static_cast<std::uint32_t>(row_distance(codes, a, b));
        if (distance <= kThreshold) expected.push_back({a, b, distance});
        zeros += distance == 0 && !have_one_code(codes, {a, b, 0}) ? 1 : 0;
      }
    }
    std::vector<Edge> pairs;
    for_each_pair(columns, options, {}, [&](const Edge& pair) { pairs.push_back(pair); });
    EXPECT_EQ(pairs, expected);
    options.groups = GroupKind::kCliques;
    const Result result = deduplicate(table, options);
    EXPECT_EQ(result.chains, 0U) << "of a clique all are near all";
    for (const Group& group : result.groups) {
      for (const std::uint32_t a : group.rows) {
        for (const std::uint32_t b : group.rows) EXPECT_LE(row_distance(codes, a, b), kThreshold);
      }
    }
  }
  EXPECT_GT(zeros, 20U);
}

TEST(PutUpon, KeepsWhatTheSelectionBelowDecided) {
  // The selection below: 1 moves from train to test, 4 is removed in favour of 5, and 2 and 6 are
  // of one scene.
  const Fingerprints table = make_table({
      {.id = 1, .code = 0, .file = 1, .pixels = 1},
      {.id = 2, .code = ~0ULL, .file = 2, .pixels = 2},
      {.id = 3, .code = ~1ULL, .file = 3, .pixels = 3},
      {.id = 4, .split = Split::kNone, .code = 0xFF00FF, .file = 4, .pixels = 4},
      {.id = 5, .split = Split::kTest, .code = 0xF0F0F0F0F0F0F0F0, .file = 5, .pixels = 5},
      {.id = 6, .code = 0x00FF00FF00FF00FF, .file = 6, .pixels = 6},
      {.id = 7, .split = Split::kNone, .code = 0xFF00FE, .file = 7, .pixels = 7},
  });
  auto base = std::make_shared<Selection>(deduplicate(table, {.hash = "exact"}).selection);
  base->splits = table.splits;
  base->splits[0] = Split::kTest;
  base->weights[3] = 0;
  base->kept[3] = 5;
  base->distances[3] = 9;
  base->rules[3] = Rule::kLeak;
  base->components = {0, 1, 2, 3, 3, 1, 4};
  const auto columns =
      with_splits_of(base, [&](const ColumnNames& names) { return select_columns(table, names); });
  EXPECT_EQ(columns({}).splits[0], Split::kTest);
  EXPECT_EQ(columns({}).splits[3], Split::kNone);
  Result result = deduplicate(columns, {.threshold = 2});
  merge_base(*base, table.splits, result);
  const Selection& selection = result.selection;
  EXPECT_NO_THROW(check_selection(selection, "test"));
  EXPECT_THAT(selection.weights, ElementsAre(1, 1, 0, 0, 1, 1, 0));
  EXPECT_THAT(selection.kept, ElementsAre(1, 2, 2, 5, 5, 6, 5));
  EXPECT_THAT(selection.rules, ElementsAre(Rule::kKept, Rule::kKept, Rule::kDuplicate, Rule::kLeak,
                                           Rule::kKept, Rule::kKept, Rule::kDuplicate));
  EXPECT_THAT(selection.components, ElementsAre(0, 1, 1, 2, 2, 1, 2));
  EXPECT_EQ(selection.splits, base->splits);
  EXPECT_EQ(result.removed, 3U);
  EXPECT_EQ(result.kept, 4U);

  base->splits[0] = Split::kTrain;
  Result same = deduplicate(with_splits_of(base, columns), {.threshold = 2});
  merge_base(*base, table.splits, same);
  EXPECT_TRUE(same.selection.splits.empty()) << "all are used in their own splits";
  Options judged{.threshold = 2};
  judged.decided = std::make_shared<const Decided>(
      Decided{.same = {}, .apart = {}, .kept = {}, .spared = {}, .dropped = {3, 4}, .reviews = {}});
  Result gone = deduplicate(with_splits_of(base, columns), judged);
  merge_base(*base, table.splits, gone);
  EXPECT_EQ(gone.dropped_by_review, 1U) << "the other had gone before";
  Selection other = *base;
  other.ids.back() = 8;
  const auto of_other = with_splits_of(std::make_shared<Selection>(other), columns);
  EXPECT_THROW(of_other({}), FormatError);
}

TEST(PutUpon, LeavesNoIssueToWhatTheSelectionBelowRemoved) {
  const Fingerprints table = make_table({
      {.id = 1, .code = 0, .file = 1, .pixels = 1, .width_px = 100},
      {.id = 2, .code = ~0ULL, .file = 2, .pixels = 2, .width_px = 100},
      {.id = 3, .code = 0xFF00FF, .file = 3, .pixels = 3},
  });
  auto base = std::make_shared<Selection>(keep_all(table.ids));
  base->weights[0] = 0;
  base->kept[0] = 3;
  base->components = {0, 1, 0};
  base->rules[0] = Rule::kDuplicate;
  Options options;
  options.policy.drop_issues = parse_issues({"odd_shape"});
  Result result = deduplicate(
      with_splits_of(base, [&](const ColumnNames& names) { return select_columns(table, names); }),
      options);
  EXPECT_FALSE(result.issues[0].empty());
  merge_base(*base, table.splits, result);
  EXPECT_TRUE(result.issues[0].empty());
  EXPECT_THAT(names_of(result.issues[1]), ElementsAre("odd_shape"));
  EXPECT_THAT(result.selection.rules, ElementsAre(Rule::kDuplicate, Rule::kIssue, Rule::kKept));
  EXPECT_EQ(nlohmann::json::parse(json_summary(result, options))["issues"]["odd_shape"], 1);
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
  EXPECT_THAT(result.selection.components, ElementsAre(0, 1, 0, 1, 2, 2));
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
  EXPECT_THAT(all.selection.kept, ElementsAre(3, 3, 3, 4));
  EXPECT_THAT(all.selection.distances, ElementsAre(6, 3, 0, 0));
  EXPECT_THAT(all.selection.rules, ElementsAre(Rule::kLeak, Rule::kLeak, Rule::kKept, Rule::kKept));
  ASSERT_EQ(all.groups.size(), 1U);
  EXPECT_EQ(all.groups[0].shape.diameter, 6U);
  EXPECT_TRUE(all.groups[0].shape.chain);
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
  // Links go to the first row of a code, which lies in another split here.
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
  options.policy.keep = KeepPolicy::kLargest;
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
  EXPECT_EQ(parse_scope("across"), Scope::kAcross);
  EXPECT_THROW(parse_scope("between"), UsageError);
}

// Names with everything that breaks CSV.
std::string odd_name(SampleId id) {
  return id == 1 ? "a, \"b\"\n.jpg" : "p/" + std::to_string(id) + ".jpg";
}

struct Reported {
  Fingerprints table = make_table({
      {.id = 1, .split = Split::kTest, .labels = {3, 5}, .code = 0, .file = 1, .pixels = 1},
      {.id = 2, .split = Split::kTrain, .labels = {3}, .code = 1, .file = 2, .pixels = 2},
      {.id = 3, .split = Split::kTrain, .labels = {}, .code = ~0ULL, .file = 3, .pixels = 3},
      {.id = 4, .split = Split::kNone, .labels = {7}, .code = ~1ULL, .file = 4, .pixels = 4},
      {.id = 5, .split = Split::kTrain, .file = 5, .pixels = 5, .quality = 0},
  });
  Options options{.threshold = 2};
  Result result = deduplicate(table, options);

  std::string text(ListForm form, const auto& list) const {
    std::string text;
    list(form, [&](std::string_view line) { text += line; });
    return text;
  }
  ReasonOf because() const {
    return reasons_of([&](const ColumnNames& names) { return select_columns(table, names); },
                      options.policy);
  }
  std::string removed(ListForm form) const {
    return text(form, [&](ListForm f, const TextSink& out) {
      list_removed(result, table, {}, odd_name, because(), {f, out});
    });
  }
};

TEST(Report, ListsTheRemoved) {
  const Reported r;
  EXPECT_EQ(r.removed(ListForm::kCsv),
            "id,name,split,labels,group,kept_id,kept_name,kept_split,kept_labels,distance,rule,"
            "because,probability,transformation\n"
            "2,p/2.jpg,train,3,0,1,\"a, \"\"b\"\"\n.jpg\",test,3 5,1,leak,split,,\n"
            "4,p/4.jpg,none,7,1,3,p/3.jpg,train,,1,duplicate,split,,\n");
  EXPECT_EQ(r.removed(ListForm::kJsonLines),
            R"({"id":2,"name":"p/2.jpg","split":"train","labels":[3],"group":0,"kept_id":1,)"
            R"("kept_name":"a, \"b\"\n.jpg","kept_split":"test","kept_labels":[3,5],"distance":1,)"
            R"("rule":"leak","because":"split","probability":"","transformation":""})"
            "\n"
            R"({"id":4,"name":"p/4.jpg","split":"none","labels":[7],"group":1,"kept_id":3,)"
            R"("kept_name":"p/3.jpg","kept_split":"train","kept_labels":[],"distance":1,)"
            R"("rule":"duplicate","because":"split","probability":"","transformation":""})"
            "\n");
}

TEST(Report, ListsTheGroups) {
  const Reported r;
  EXPECT_EQ(
      r.text(ListForm::kCsv,
             [&](ListForm form, const TextSink& out) {
               list_groups(r.result, r.table, {}, odd_name, r.because(), {form, out});
             }),
      "id,name,split,labels,group,kept_id,kept_name,kept_split,kept_labels,distance,rule,"
      "because,weight,used_in,diameter,chain,probability,transformation\n"
      "1,\"a, \"\"b\"\"\n.jpg\",test,3 5,0,1,\"a, \"\"b\"\"\n.jpg\",test,3 5,0,kept,,1.0,test,1,"
      "false,,\n"
      "2,p/2.jpg,train,3,0,1,\"a, \"\"b\"\"\n.jpg\",test,3 5,1,leak,split,0.0,train,1,false,,\n"
      "3,p/3.jpg,train,,1,3,p/3.jpg,train,,0,kept,,1.0,train,1,false,,\n"
      "4,p/4.jpg,none,7,1,3,p/3.jpg,train,,1,duplicate,split,0.0,none,1,false,,\n");
}

TEST(Report, ListsPairsAndWhatIsOfLowQuality) {
  const Reported r;
  const auto columns = [&](const ColumnNames& names) { return select_columns(r.table, names); };
  EXPECT_EQ(r.text(ListForm::kCsv,
                   [&](ListForm form, const TextSink& out) {
                     list_pairs(columns, r.options, {}, r.table, odd_name, {form, out});
                   }),
            "id,name,split,labels,other_id,other_name,other_split,other_labels,distance\n"
            "1,\"a, \"\"b\"\"\n.jpg\",test,3 5,2,p/2.jpg,train,3,1\n"
            "3,p/3.jpg,train,,4,p/4.jpg,none,7,1\n");
  EXPECT_EQ(r.text(ListForm::kJsonLines,
                   [&](ListForm form, const TextSink& out) {
                     list_low_quality(r.table, {.hash = "phash"}, odd_name, {form, out});
                   }),
            R"({"id":5,"name":"p/5.jpg","split":"train","labels":[0]})"
            "\n");
}

// Pictures with the same code may differ: only pairs that were verified by pictures are listed.
TEST(Report, ListsVerifiedPairsAndLookAlikesApart) {
  const Fingerprints table = make_table({{.id = 1, .code = 5, .file = 1, .pixels = 1},
                                         {.id = 2, .code = 5, .file = 2, .pixels = 2},
                                         {.id = 3, .code = 5, .file = 3, .pixels = 3}});
  const auto columns = [&](const ColumnNames&) { return table; };
  VerifiedLinks told;
  told.verification.pairs = {
      {.row_a = 0, .row_b = 1, .probability = 0.99F, .map = {.xx = 1, .yy = 1}}};
  told.edges = {{0, 1, 0}};
  told.look_alikes = {{.row_a = 0, .row_b = 2, .probability = 0.97F, .map = {.xx = 1, .yy = 1}}};
  const auto verified = std::make_shared<const VerifiedLinks>(told);
  const LinksWithEvidence links{links_of(verified), verified};
  const Options options{.threshold = 2, .matching = {.verified = 0.9}};
  const NameOf name_of = [](SampleId id) { return std::to_string(id); };
  std::string pairs;
  std::string look_alikes;
  list_pairs(columns, options, links, table, name_of,
             {ListForm::kCsv, [&](std::string_view text) { pairs += text; }});
  list_look_alikes(columns, options, links, table, name_of,
                   {ListForm::kCsv, [&](std::string_view text) { look_alikes += text; }});
  const std::string fields =
      "id,name,split,labels,other_id,other_name,other_split,other_labels,distance,probability,"
      "transformation\n";
  EXPECT_EQ(pairs, fields + "1,1,train,0,2,2,train,0,0,0.99,whole\n");
  EXPECT_EQ(look_alikes, fields + "1,1,train,0,3,3,train,0,0,0.97,whole\n");
  const Result result = deduplicate(columns, options, links.source);
  const auto json = nlohmann::json::parse(json_summary(result, options, verified.get()));
  EXPECT_EQ(json.at("verification").at("pairs"), 1);
  EXPECT_EQ(json.at("verification").at("look_alikes"), 1);
  EXPECT_EQ(json.at("verification").at("most_false"), 0);
  EXPECT_FALSE(nlohmann::json::parse(json_summary(result, options)).contains("verification"));
}

// Links verified by pictures ignore the threshold. The report gives their true distance in bits.
TEST(Report, TellsTheTrueDistanceOfWhatPicturesTold) {
  const Fingerprints table = make_table({{.id = 1, .code = 0, .file = 1, .pixels = 1},
                                         {.id = 2, .code = 0xFFFFF, .file = 2, .pixels = 2},
                                         {.id = 3, .code = 0xFF, .file = 3, .pixels = 3}});
  const auto columns = [&](const ColumnNames&) { return table; };
  auto told = std::make_shared<VerifiedLinks>();
  told->verification.pairs = {
      {.row_a = 0, .row_b = 1, .probability = 0.99F, .map = {}},
      {.row_a = 0, .row_b = 2, .probability = 0.96F, .map = {.xx = 2, .x0 = -0.5, .yy = 2}}};
  told->edges = {{0, 1, 0}, {0, 2, 0}};
  const LinksWithEvidence links{links_of(told), told};
  const Options options{.threshold = 2, .matching = {.verified = 0.9}};
  const NameOf name_of = [](SampleId id) { return std::to_string(id); };
  const auto text = [](const auto& list) {
    std::string text;
    list([&](std::string_view line) { text += line; });
    return text;
  };
  EXPECT_EQ(text([&](const TextSink& out) {
              list_pairs(columns, options, links, table, name_of, {ListForm::kCsv, out});
            }),
            "id,name,split,labels,other_id,other_name,other_split,other_labels,distance,"
            "probability,transformation\n"
            "1,1,train,0,2,2,train,0,20,0.99,whole\n"
            "1,1,train,0,3,3,train,0,8,0.96,crop to 50 × 50 %\n");
  const Result result = deduplicate(columns, options, links.source);
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_EQ(result.groups[0].shape.diameter, 20U);
  const ReasonOf first = [](std::uint32_t, std::uint32_t) { return std::string("first"); };
  EXPECT_EQ(text([&](const TextSink& out) {
              list_removed(result, table, told->verification.pairs, name_of, first,
                           {ListForm::kCsv, out});
            }),
            "id,name,split,labels,group,kept_id,kept_name,kept_split,kept_labels,distance,rule,"
            "because,probability,transformation\n"
            "2,2,train,0,0,1,1,train,0,20,duplicate,first,0.99,whole\n"
            "3,3,train,0,0,1,1,train,0,8,duplicate,first,0.96,crop to 50 × 50 %\n");
  EXPECT_EQ(
      text([&](const TextSink& out) {
        list_groups(result, table, told->verification.pairs, name_of, first, {ListForm::kCsv, out});
      }),
      "id,name,split,labels,group,kept_id,kept_name,kept_split,kept_labels,distance,rule,"
      "because,weight,used_in,diameter,chain,probability,transformation\n"
      "1,1,train,0,0,1,1,train,0,0,kept,,1.0,train,20,true,,\n"
      "2,2,train,0,0,1,1,train,0,20,duplicate,first,0.0,train,20,true,0.99,whole\n"
      "3,3,train,0,0,1,1,train,0,8,duplicate,first,0.0,train,20,true,0.96,crop to 50 × 50 %\n");
}

TEST(Deduplicate, CountsDuplicatesInsideEvaluationAndRemovesThemOnRequest) {
  const Fingerprints table = make_table({
      {.id = 1, .split = Split::kTest, .code = 0, .file = 1, .pixels = 1},
      {.id = 2, .split = Split::kTest, .code = 1, .file = 2, .pixels = 2},
      {.id = 3, .split = Split::kTest, .code = 3, .file = 3, .pixels = 3},
      {.id = 4, .split = Split::kVal, .code = 0xFF00, .file = 4, .pixels = 4},
      {.id = 5, .split = Split::kVal, .code = 0xFF01, .file = 5, .pixels = 5},
      {.id = 6, .split = Split::kTrain, .code = 0xFF00FF00, .file = 6, .pixels = 6},
      {.id = 7, .split = Split::kTrain, .code = 0xFF00FF01, .file = 7, .pixels = 7},
  });
  Options options{.threshold = 2};
  const Result stay = deduplicate(table, options);
  EXPECT_EQ(stay.repeated, (std::array<std::uint64_t, kSplitCount>{0, 0, 1, 2}));
  EXPECT_EQ(stay.removed, 1U);
  EXPECT_EQ(stay.selection.settings.find("thin"), std::string::npos);
  options.policy.thin[static_cast<std::size_t>(Split::kTest)] = true;
  const Result thinned = deduplicate(table, options);
  EXPECT_EQ(thinned.repeated, stay.repeated);
  EXPECT_EQ(thinned.removed, 3U);
  EXPECT_THAT(thinned.selection.weights, testing::ElementsAre(1, 0, 0, 1, 1, 1, 0));
  EXPECT_NE(settings_in_words(thinned.selection.settings).find("thins test"), std::string::npos);
}

// Byte for byte: equal decisions give equal files.
TEST(Settings, SayWhatDecided) {
  Options options{.threshold = 2};
  EXPECT_EQ(settings_of(options, 1),
            R"({"groups":"components","hash":"phash","hash_version":1,"keep":"first",)"
            R"("mode":"keep","on_conflict":"keep","on_leak":"drop","scope":"all",)"
            R"("split_order":"test,val,train","threshold":2})");
  options.hash = kExact;
  options.policy.thin[static_cast<std::size_t>(Split::kVal)] = true;
  options.policy.on_leak = LeakAction::kMove;
  EXPECT_EQ(settings_of(options, std::nullopt),
            R"({"groups":"components","hash":"exact","keep":"first","mode":"keep",)"
            R"("on_conflict":"keep","on_leak":"move","scope":"all",)"
            R"("split_order":"test,val,train","thin":["val"],"threshold":0})");
  SplitOptions split{.shares = {0, 0.7, 0.1, 0.2}, .dealing = {.seed = 18446744073709551615U}};
  split.of = {false, true, false, true};
  EXPECT_EQ(settings_of(split, 3),
            R"({"group_keys":true,"hash":"phash","hash_version":3,"of":["train","test"],)"
            R"("seed":18446744073709551615,"shares":{"test":0.2,"train":0.7,"val":0.1},)"
            R"("stay":false,"threshold":4,"verb":"split"})");
  split.chosen_by = {"risk 0.5", /*hash=*/true};
  const std::string chosen = settings_of(split, 3);
  const auto json = nlohmann::json::parse(chosen);
  EXPECT_EQ(json["chosen_by"], "risk 0.5");
  EXPECT_EQ(json["hash_chosen"], true);
  EXPECT_THAT(settings_in_words(chosen), HasSubstr("phash within 4 bits (chosen by risk 0.5)"));
  split.threshold = 5;
  EXPECT_TRUE(same_but_for_choice(chosen, settings_of(split, 3)));
  split.chosen_by.hash = false;
  EXPECT_FALSE(nlohmann::json::parse(settings_of(split, 3)).contains("hash_chosen"));
}

TEST(Settings, AreTheSameButForWhatImagesChose) {
  Options options{.hash = "phash16", .threshold = 80};
  options.chosen_by = {"risk 0.5", /*hash=*/true};
  const std::string of_many = settings_of(options, 1);
  EXPECT_NE(of_many.find(R"("chosen_by":"risk 0.5")"), std::string::npos);
  EXPECT_NE(settings_in_words(of_many).find("phash16 within 80 bits (chosen by risk 0.5)"),
            std::string::npos);
  options.threshold = 90;
  const std::string of_few = settings_of(options, 1);
  EXPECT_TRUE(same_but_for_choice(of_many, of_few));
  options.chosen_by.demand = "risk 2";
  EXPECT_FALSE(same_but_for_choice(of_many, settings_of(options, 1)));
  options.chosen_by.demand = "risk 0.5";
  options.scope = Scope::kWithin;
  EXPECT_FALSE(same_but_for_choice(of_many, settings_of(options, 1)));
  options.scope = Scope::kAll;
  options.hash = "phash";
  options.threshold = 4;
  EXPECT_TRUE(same_but_for_choice(of_many, settings_of(options, 2)));
  // If the hash was named, only the threshold was chosen from the images.
  options.chosen_by.hash = false;
  const std::string of_phash = settings_of(options, 2);
  EXPECT_FALSE(same_but_for_choice(of_phash, of_many));
  EXPECT_FALSE(same_but_for_choice(of_many, of_phash));
  options.threshold = 6;
  EXPECT_TRUE(same_but_for_choice(of_phash, settings_of(options, 2)));
  EXPECT_FALSE(same_but_for_choice(of_phash, settings_of(options, 3)));
  options.hash = "phash16";
  EXPECT_FALSE(same_but_for_choice(of_phash, settings_of(options, 2)));
  options = {.hash = "phash16", .threshold = 80};
  const std::string said = settings_of(options, 1);
  options.threshold = 90;
  EXPECT_FALSE(same_but_for_choice(said, settings_of(options, 1)));
  EXPECT_TRUE(same_but_for_choice(said, said));
  EXPECT_FALSE(same_but_for_choice("{", said));
}

// Similar images of two classes are not copies, unless they are equal.
TEST(Deduplicate, NearImagesOfOtherLabelsStay) {
  const Fingerprints table =
      make_table({{.id = 1, .labels = {0}, .code = 0, .file = 1, .pixels = 1},
                  {.id = 2, .labels = {1}, .code = 1, .file = 2, .pixels = 2},
                  {.id = 3, .labels = {0}, .code = 3, .file = 3, .pixels = 3},
                  {.id = 4, .labels = {1}, .code = 3, .file = 4, .pixels = 4},
                  {.id = 5, .labels = {}, .code = 2, .file = 5, .pixels = 5},
                  {.id = 6, .labels = {0}, .code = ~0ULL, .file = 6, .pixels = 6},
                  {.id = 7, .labels = {2}, .code = ~0ULL, .file = 7, .pixels = 6}});
  Options options{.threshold = 2};
  EXPECT_EQ(deduplicate(table, options).kept, 2U);
  options.policy.on_conflict = ConflictAction::kStay;
  const Result stay = deduplicate(table, options);
  EXPECT_THAT(stay.selection.weights, testing::ElementsAre(1, 1, 0, 0, 0, 1, 0));
  EXPECT_THAT(stay.selection.kept, testing::ElementsAre(1, 2, 1, 2, 1, 6, 6));
  EXPECT_EQ(stay.groups.size(), 2U);
  EXPECT_EQ(stay.conflicts, 2U);
  EXPECT_EQ(stay.near_conflicts, 1U);
  // A leak is still resolved.
  Fingerprints leaky = table;
  leaky.splits[1] = Split::kTest;
  const Result settled = deduplicate(leaky, options);
  EXPECT_EQ(settled.selection.weights[0], 0);
  EXPECT_EQ(settled.selection.weights[1], 1);
}

// PDQ's authors advise a quality of at least 50. Other hashes need only something to match on.
TEST(Deduplicate, HashesHaveALeastQuality) {
  Fingerprints table = make_table({{.id = 1, .code = 5, .file = 1, .pixels = 1},
                                   {.id = 2, .code = 5, .file = 2, .pixels = 2},
                                   {.id = 3, .code = 5, .file = 3, .pixels = 3},
                                   {.id = 4, .code = 5, .file = 4, .pixels = 4}});
  table.quality = {80, 49, 50, 0};
  table.codes.push_back({"pdq", 1, 256, std::vector<std::uint64_t>(16, 7)});
  const Result by_pdq = deduplicate(table, {.hash = "pdq", .threshold = 31});
  EXPECT_THAT(by_pdq.selection.kept, testing::ElementsAre(1, 2, 1, 4));
  EXPECT_EQ(by_pdq.low_quality, 2U);
  const Result by_phash = deduplicate(table, {.hash = "phash", .threshold = 4});
  EXPECT_THAT(by_phash.selection.kept, testing::ElementsAre(1, 1, 1, 4));
  EXPECT_EQ(by_phash.low_quality, 1U);
  EXPECT_THAT(matchable_rows(table, "pdq_dihedral@1/8"), testing::ElementsAre(0, 2));
  EXPECT_THAT(matchable_rows(table), testing::ElementsAre(0, 1, 2));
  // An explicit least quality replaces the hash's own.
  const Options less{.hash = "pdq", .threshold = 31, .matching = {.least_quality = 0}};
  EXPECT_THAT(deduplicate(table, less).selection.kept, testing::ElementsAre(1, 1, 1, 4));
  const Options more{.hash = "phash", .threshold = 4, .matching = {.least_quality = 60}};
  const Result sharp = deduplicate(table, more);
  EXPECT_THAT(sharp.selection.kept, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(sharp.low_quality, 3U);
  EXPECT_NE(settings_in_words(sharp.selection.settings).find("quality from 60"), std::string::npos);
  std::size_t pairs = 0;
  const ColumnSource columns = [&](const ColumnNames& names) {
    return select_columns(table, names);
  };
  for_each_pair(columns, less, {}, [&](const Edge&) { ++pairs; });
  EXPECT_EQ(pairs, 3U);
  const auto listed = [&](const char* hash) {
    std::string text;
    list_low_quality(table, {.hash = hash}, [](SampleId) { return "name"; },
                     {ListForm::kCsv, [&](std::string_view line) { text += line; }});
    return std::ranges::count(text, '\n');
  };
  EXPECT_EQ(listed("pdq"), 3);
  EXPECT_EQ(listed("phash"), 2);
}

TEST(Settings, AreToldInWords) {
  const Reported r;
  EXPECT_EQ(
      settings_in_words(r.result.selection.settings),
      "phash within 2 bits, groups are components, keeps first, shared pictures: drop, splits "
      "in the order test,val,train, differing labels: keep");
  EXPECT_EQ(settings_in_words(R"({"verb":"split","hash":"exact","threshold":0,"seed":3,)"
                              R"("group_keys":true,"of":["none","train"]})"),
            "winnow split of none, train, equal files and pixels, group keys, seed 3");
  EXPECT_EQ(settings_in_words(R"({"hash":"of_later","threshold":7,"later":[{}]})"),
            "of_later within 7 bits");
  EXPECT_EQ(settings_in_words(R"({"hash":"phash16","threshold":63,"verified":0.96784216076})"),
            "phash16 within 63 bits, verified to a probability of 0.9678");
  EXPECT_EQ(in_digits(0.9), "0.9");
  EXPECT_EQ(in_digits(0.99998), "0.99998");
  EXPECT_EQ(in_digits(1), "1");
  for (const char* text : {"", "{}", "[1]", "{"}) EXPECT_EQ(settings_in_words(text), "") << text;
}

TEST(Report, SumsUpInJson) {
  const Reported r;
  EXPECT_EQ(nlohmann::json::parse(json_summary(r.result, r.options)),
            nlohmann::json::parse(R"({"schema": "winnow.dedup/1", "hash": "phash", "threshold": 2,
              "mode": "keep", "groups": 2, "chains": 0, "removed": 2, "kept": 3, "moved": 0,
              "conflicts": 1, "near_conflicts": 0, "blank": 1, "evaluation_duplicates": {"val": 0, "test": 0},
              "leaks": [{"a": "train", "b": "test", "groups": 1, "samples": 1}]})"));
  const auto exact = nlohmann::json::parse(
      json_summary(deduplicate(r.table, {.hash = "exact"}), {.hash = "exact"}));
  EXPECT_EQ(exact.at("threshold"), 0);
  EXPECT_TRUE(exact.at("leaks").empty() && exact.at("leaks").is_array());
  Options asked = r.options;
  asked.matching.least_quality = 30;
  EXPECT_EQ(nlohmann::json::parse(json_summary(r.result, asked)).at("least_quality"), 30);
}

}  // namespace winnow::dedup::deduplicate_test
