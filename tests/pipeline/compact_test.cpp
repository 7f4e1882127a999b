#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "pipeline/compact/plan.h"
#include "pipeline/store/ledger.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/pack_cutter.h"
#include "pipeline/store/settings.h"
#include "tests/common/growth.h"

namespace winnow::pipeline::compact_test {

std::vector<ShardInfo> shards_of(const std::vector<std::pair<SampleId, SampleId>>& runs) {
  std::vector<ShardInfo> shards;
  for (const auto& [first, last] : runs) {
    shards.push_back({.file = "", .first_id = first, .last_id = last, .block_hashes = {}});
  }
  return shards;
}

TEST(CompactPlan, RunsFollowTheShardsAndLeaveEmptyOnesOut) {
  const auto shards = shards_of({{0, 4}, {5, 9}, {10, 10}, {20, 29}});
  const std::vector<SampleId> kept{0, 4, 10, 20, 21, 29};
  const auto runs = plan_runs(shards, kept);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ((std::vector{runs[0].shard, runs[0].begin, runs[0].end}),
            (std::vector<std::size_t>{0, 0, 2}));
  EXPECT_EQ((std::vector{runs[1].shard, runs[1].begin, runs[1].end}),
            (std::vector<std::size_t>{2, 2, 3}));
  EXPECT_EQ((std::vector{runs[2].shard, runs[2].begin, runs[2].end}),
            (std::vector<std::size_t>{3, 3, 6}));
  EXPECT_TRUE(plan_runs(shards, {}).empty());
}

TEST(CompactPlan, PacksEndByCountAndBytes) {
  PackCutter cutter;
  for (int i = 0; i < 64; ++i) EXPECT_FALSE(cutter.ends_before(1)) << i;
  EXPECT_TRUE(cutter.ends_before(1));
  EXPECT_FALSE(cutter.ends_before((256U << 10) - 1));  // just fits
  EXPECT_TRUE(cutter.ends_before(1));
  EXPECT_TRUE(cutter.ends_before(300U << 10));  // a pack of its own
  EXPECT_TRUE(cutter.ends_before(1));
  EXPECT_FALSE(PackCutter().ends_before(1U << 30));  // no pack is empty
}

TEST(CompactPlan, TheLedgerSaysWhatStandsForASample) {
  const dedup::Selection selection{.name = "s",
                                   .settings = {},
                                   .cache_digest = {},
                                   .ids = {3, 7},
                                   .weights = {0, 1},
                                   .components = {0, 0},
                                   .kept = {7, 7},
                                   .distances = {5, 0},
                                   .rules = {dedup::Rule::kLeak, dedup::Rule::kKept}};
  LedgerRow row{.id = 3, .name = "a.jpg", .split = Split::kTrain, .fate = Fate::kOk, .reason = {}};
  const LedgerRow out = left_out(row, selection, 0, "test/b.jpg");
  EXPECT_EQ(out.fate, Fate::kDuplicate);
  EXPECT_EQ(out.name, "a.jpg");
  EXPECT_EQ(out.reason, "'test/b.jpg', id 7, stands for it: distance 5, rule leak");
  row.reason = "2 extraneous bytes";
  EXPECT_EQ(left_out(row, selection, 0, "b").reason,
            "'b', id 7, stands for it: distance 5, rule leak; the decoder warned: "
            "2 extraneous bytes");
}

TEST(CompactPlan, SettingsListEveryDecision) {
  CacheSettings made;
  made.store = "raw";
  made.fingerprints.hashes = {"phash:1"};
  made.shard_bytes = 7;
  const std::string start =
      R"({"store":"raw","hashes":["phash:1"],"shard_bytes":7,"max_pixels":178956970)";
  const auto with_dropped = [](const CacheSettings& settings, const std::string& decided_by) {
    return pipeline::with_dropped(settings, decided_by, "a.selection");
  };
  const CacheSettings once = with_dropped(made, R"({"hash": "exact"})");
  EXPECT_EQ(to_text(once), start + R"(,"dropped":[{"hash":"exact"}]})");
  EXPECT_EQ(to_text(with_dropped(once, R"({"hash":"phash"})")),
            start + R"(,"dropped":[{"hash":"exact"},{"hash":"phash"}]})");
  EXPECT_EQ(with_dropped(made, "").dropped, std::vector<std::string>{"{}"});
  EXPECT_EQ(without_dropped(once), made);
  EXPECT_EQ(without_dropped(made), made);
  EXPECT_THROW(with_dropped(made, "{"), FormatError);
  EXPECT_THROW(with_dropped(made, "[]"), FormatError);
  EXPECT_THROW(with_dropped(made, std::string(400'000, '[')), FormatError);
}

TEST(CompactPlan, SettingsOfManyNamesAreWrittenInTimeThatTheirNumberBounds) {
  const auto of_names = [](int count) {
    CacheSettings settings;
    settings.store = "raw";
    for (int i = 0; i < count; ++i) settings.rest[std::to_string(i)] = "1";
    EXPECT_EQ(entries(settings).size(), 4U + static_cast<std::size_t>(count));
  };
  EXPECT_LT(test::growth(5'000, of_names), test::kGrowthOfLinear);
}

// A manifest holds the settings some levels deep. Settings that would make it unreadable are
// refused beforehand.
TEST(CompactPlan, SettingsAreNeverDeeperThanAManifestCanBeRead) {
  const auto nested = [](int levels) {
    return R"({"a":)" + std::string(static_cast<std::size_t>(levels) - 1, '[') +
           std::string(static_cast<std::size_t>(levels) - 1, ']') + "}";
  };
  Manifest manifest;
  manifest.store = "none";
  manifest.inputs.by_fate = by_name({});
  manifest.tables.fingerprints_hash = manifest.tables.ledger_hash = std::string(32, '0');
  int refused_at = 0;
  for (int levels = 2; levels < 70 && refused_at == 0; ++levels) {
    try {
      manifest.settings = with_dropped({}, nested(levels), "a.selection");
      EXPECT_NO_THROW(parse_manifest(to_json(manifest), "manifest.json")) << levels;
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("a.selection"));
      refused_at = levels;
    }
  }
  EXPECT_GT(refused_at, 50);
}

}  // namespace winnow::pipeline::compact_test
