#include "dedup/lists/groups_with_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "dedup/decisions/combine.h"
#include "dedup/review/decided.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::groups_with_evidence_test {

// Six pictures: 1 and 3 show the same as 0, and 5 the same as 4. No codes are near.
struct Told {
  Told() {
    links.verification.pairs = {
        {.row_a = 0, .row_b = 1, .probability = 0.99F, .map = {.xx = 2, .x0 = -0.25, .yy = 2}},
        {.row_a = 0, .row_b = 3, .probability = 0.97F, .map = {}},
        {.row_a = 4, .row_b = 5, .probability = 0.95F, .map = {.xx = -1, .x0 = 1}}};
    links.edges = {{0, 1, 0}, {0, 3, 0}, {4, 5, 0}};
    CounterRng rng = test_rng(3);
    std::vector<TestImage> images;
    for (std::uint64_t i = 0; i < 6; ++i) {
      images.push_back({.id = 10 + i,
                        .split = i == 5 ? Split::kTest : Split::kTrain,
                        .labels = {i == 3 ? 1 : 0},
                        .code = rng.next_u64(),
                        .file = i,
                        .pixels = i});
    }
    table = make_table(images);
    columns = [this](const ColumnNames&) { return table; };
    options.matching.verified = 0.9;
    options.scope = Scope::kAll;
    result = deduplicate(columns, options, links_of(std::make_shared<VerifiedLinks>(links)));
    result.selection.name = "default";
  }
  GroupsWithEvidence told() const { return groups_with_evidence(result.groups, &links); }

  VerifiedLinks links;
  Fingerprints table;
  ColumnSource columns;
  Options options{.threshold = 2};
  Result result;
};

void expect_same(const std::vector<Group>& found, const std::vector<Group>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].rows, wanted[i].rows);
    EXPECT_EQ(found[i].leak, wanted[i].leak);
    EXPECT_EQ(found[i].label_conflict, wanted[i].label_conflict);
    EXPECT_EQ(found[i].shape.diameter, wanted[i].shape.diameter);
    EXPECT_EQ(found[i].shape.chain, wanted[i].shape.chain);
  }
}

TEST(GroupsWithEvidence, ComeBackFromTheirFile) {
  const Told one;
  ASSERT_EQ(one.result.groups.size(), 2U);
  EXPECT_TRUE(one.result.groups[0].label_conflict);
  EXPECT_TRUE(one.result.groups[0].shape.chain) << "1 and 3 are linked by 0 alone";
  EXPECT_TRUE(one.result.groups[1].leak);
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "default.groups";
  write_groups(path, one.told(), one.result.selection);
  const std::string bytes = read_text(path);
  const auto back = read_groups(InputFile(path), one.result.selection);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->compared);
  expect_same(back->groups, one.result.groups);
  ASSERT_EQ(back->pairs.size(), 3U);
  const VerifiedPair* pair = find_pair(back->pairs, 1, 0);
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->probability, 0.99F);
  EXPECT_EQ(pair->map.x0, -0.25);
  for (const auto& [row, other] : {std::pair(0U, 1U), std::pair(4U, 5U)}) {
    EXPECT_EQ(transformation_words(*find_pair(back->pairs, row, other), one.table, row, other),
              transformation_words(*find_pair(one.links, row, other), one.table, row, other));
  }
  EXPECT_EQ(find_pair(back->pairs, 1, 3), nullptr);
  write_groups(path, *back, one.result.selection);
  EXPECT_EQ(read_text(path), bytes);
  EXPECT_TRUE(back->splits.empty());
  GroupsWithEvidence of_other_splits = one.told();
  of_other_splits.splits.assign(6, Split::kVal);
  write_groups(path, of_other_splits, one.result.selection);
  EXPECT_EQ(read_groups(InputFile(path), one.result.selection)->splits, of_other_splits.splits);
  write_groups(path, groups_with_evidence(one.result.groups, nullptr), one.result.selection);
  EXPECT_FALSE(read_groups(InputFile(path), one.result.selection)->compared);
}

TEST(GroupsWithEvidence, AreOfOneSelectionWhateverItIsCalled) {
  const Told one;
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "default.groups";
  write_groups(path, one.told(), one.result.selection);
  Selection selection = one.result.selection;
  selection.name = "default.previous";
  EXPECT_TRUE(read_groups(InputFile(path), selection));
  const auto is_other = [&](const auto& change) {
    Selection other = one.result.selection;
    change(other);
    return !read_groups(InputFile(path), other);
  };
  EXPECT_TRUE(is_other([](Selection& s) { s.weights[1] = 1; }));
  EXPECT_TRUE(is_other([](Selection& s) { s.kept[1] = s.ids[1]; }));
  EXPECT_TRUE(is_other([](Selection& s) { s.settings += " "; }));
  EXPECT_TRUE(is_other([](Selection& s) { s.cache_digest = "another"; }));
  EXPECT_TRUE(is_other([](Selection& s) { s.distances[0] = 7; }));
}

TEST(GroupsWithEvidence, AreRefusedWhereTheFileIsNotWhole) {
  const Told one;
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "default.groups";
  write_groups(path, one.told(), one.result.selection);
  const std::string whole = read_text(path);
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_file_durably(path, damaged);
    EXPECT_THROW(read_groups(InputFile(path), one.result.selection), FormatError) << at;
  }
  write_file_durably(path, whole.substr(0, whole.size() - 1));
  EXPECT_THROW(read_groups(InputFile(path), one.result.selection), FormatError);
  // Contents that no writer makes, with a valid checksum.
  const auto refuses = [&](const auto& change) {
    GroupsWithEvidence told = one.told();
    change(told);
    write_groups(path, told, one.result.selection);
    EXPECT_THROW(read_groups(InputFile(path), one.result.selection), FormatError);
  };
  refuses([](GroupsWithEvidence& told) { told.groups[0].rows = {0}; });
  refuses([](GroupsWithEvidence& told) { told.groups[0].rows = {0, 6}; });
  refuses([](GroupsWithEvidence& told) { told.groups[0].rows = {1, 0}; });
  refuses([](GroupsWithEvidence& told) { told.groups[1].rows = {0, 5}; });
  refuses([](GroupsWithEvidence& told) { told.pairs[0].probability = 1.5F; });
  refuses([](GroupsWithEvidence& told) { told.pairs[2].row_b = 6; });
  refuses([](GroupsWithEvidence& told) { std::swap(told.pairs[0], told.pairs[1]); });
  refuses([](GroupsWithEvidence& told) { told.pairs[0].map = {.xx = 0}; });
  refuses([](GroupsWithEvidence& told) { told.compared = false; });
  refuses([](GroupsWithEvidence& told) { told.splits = {Split::kTest}; });
  refuses([](GroupsWithEvidence& told) { told.splits.assign(6, static_cast<Split>(9)); });
}

// The same as deduplicate() reports if groups are connected components.
TEST(GroupsWithEvidence, ByCodesAreThoseThatWereDecided) {
  std::vector<TestImage> images;
  CounterRng rng = test_rng(7);
  for (std::uint32_t row = 0; row < 300; ++row) {
    TestImage image{.id = row * 3, .file = row, .pixels = row};
    image.code = rng.next_u64();
    image.split = static_cast<Split>(1 + rng.below(3));
    image.labels = {static_cast<std::int32_t>(rng.below(3))};
    if (row > 0 && rng.below(2) == 0) {
      image.code = images[rng.below(row)].code ^ random_flips(rng, static_cast<int>(rng.below(5)));
    }
    images.push_back(image);
  }
  const Fingerprints table = make_table(images);
  for (const LeakAction on_leak : {LeakAction::kDrop, LeakAction::kMove}) {
    const Options options{.threshold = 4, .policy = {.on_leak = on_leak}};
    const Result decided = deduplicate(table, options);
    ASSERT_GT(decided.groups.size(), 30U);
    EXPECT_FALSE(says_more_than_codes(decided.selection));
    const Result result = result_of(
        decided.selection, table,
        groups_by_codes(decided.selection, table, &table.codes[0], options.threshold).groups);
    expect_same(result.groups, decided.groups);
    EXPECT_EQ(result.removed, decided.removed);
    EXPECT_EQ(result.kept, decided.kept);
    EXPECT_EQ(result.moved, decided.moved);
    EXPECT_EQ(result.leaks, decided.leaks);
    EXPECT_EQ(result.conflicts, decided.conflicts);
    EXPECT_EQ(result.chains, decided.chains);
  }
  EXPECT_TRUE(groups_by_codes({}, make_table({}), nullptr, 0).groups.empty());
}

TEST(GroupsWithEvidence, SayMoreThanCodesWhereGroupsAreNoComponentsOrPicturesTold) {
  EXPECT_TRUE(says_more_than_codes(Told().result.selection));
  const Fingerprints table = make_table({{.id = 1}, {.id = 2}});
  const auto says_more = [&](const Options& options) {
    return says_more_than_codes(deduplicate(table, options).selection);
  };
  EXPECT_FALSE(says_more({}));
  EXPECT_TRUE(says_more({.groups = GroupKind::kStars}));
  EXPECT_TRUE(says_more({.groups = GroupKind::kCliques}));
  EXPECT_TRUE(says_more({.scope = Scope::kWithin}));
  EXPECT_FALSE(says_more({.scope = Scope::kAcross}));
  EXPECT_FALSE(says_more_than_codes(keep_all(table.ids))) << "without settings";
}

TEST(GroupsWithEvidence, ChainsAreMarkedAsDeduplicateMarksThem) {
  const Told one;
  std::vector<Group> groups = one.result.groups;
  for (Group& group : groups) group.shape.chain = !group.shape.chain;
  mark_chains(one.links, nullptr, one.columns, groups);
  expect_same(groups, one.result.groups);
  Decided decided;
  decided.same = {{1, 3}};
  mark_chains(one.links, &decided, one.columns, groups);
  EXPECT_FALSE(groups[0].shape.chain) << "people say that 1 is 3";
  Fingerprints table = one.table;
  table.pixel_hashes[3] = table.pixel_hashes[1];
  mark_chains(
      one.links, nullptr, [&](const ColumnNames&) { return table; }, groups);
  EXPECT_FALSE(groups[0].shape.chain) << "1 is 3, pixel by pixel";
}

// As winnow split and folds report blocks.
TEST(GroupsWithEvidence, OfComponentsSayWhatPicturesTold) {
  const Told one;
  Selection selection = one.result.selection;
  const GroupsWithEvidence told = components_with_evidence(
      selection, one.columns, {.hash = std::string(kExact), .verified = &one.links});
  EXPECT_TRUE(told.compared);
  EXPECT_EQ(told.pairs.size(), one.links.verification.pairs.size());
  GroupsWithEvidence want = groups_by_codes(selection, one.table, nullptr, 0);
  mark_chains(one.links, nullptr, one.columns, want.groups);
  expect_same(told.groups, want.groups);
  EXPECT_TRUE(std::ranges::any_of(told.groups, [](const Group& g) { return g.shape.chain; }));
  const GroupsWithEvidence by_codes =
      components_with_evidence(selection, one.columns, {.hash = std::string(kExact)});
  EXPECT_FALSE(by_codes.compared);
  EXPECT_TRUE(by_codes.pairs.empty());
}

TEST(GroupsWithEvidence, AreNotKnownOfSelectionsMadeOfOthers) {
  Selection selection = Told().result.selection;
  EXPECT_FALSE(is_made_of_others(selection));
  const std::vector<float> weights(selection.size(), 1);
  EXPECT_TRUE(is_made_of_others(with_weights(selection, weights)));
  EXPECT_FALSE(is_made_of_others(keep_all(selection.ids))) << "it has no groups";
  EXPECT_FALSE(is_made_of_others({}));
}

}  // namespace winnow::dedup::groups_with_evidence_test
