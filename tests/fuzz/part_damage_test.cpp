// Parts of a shard from a stopped ingest are reused only if they are as they were written.
#include <gtest/gtest.h>

#include "pipeline/ingest/part.h"
#include "tests/common/temporary_folder.h"
#include "tests/fuzz/damage.h"

namespace winnow::pipeline {
using namespace test;
namespace part_damage_test {

TEST(PartDamage, IsFoundAndTheShardDoneAgain) {
  const TemporaryFolder folder;
  copy_golden("v1/original", folder / "cache");
  const Cache cache = Cache::open(folder / "cache");
  const CachePaths paths = cache.paths();
  std::filesystem::create_directories(parts_folder(paths));
  const dedup::Fingerprints table = cache.read_fingerprints();
  const std::vector<LedgerRow> ledger = cache.read_ledger();
  PartWriter writer(paths, "0", "key");
  writer.append(ledger, table);
  writer.append({}, {});
  writer.finish({.info = cache.manifest().shards[0],
                 .tally = {},
                 .fates = count_fates(ledger),
                 .size = dedup::FingerprintWriter::size_of(table)});
  ASSERT_TRUE(read_part(paths, "0", "key"));
  EXPECT_EQ(read_part(paths, "0", "key")->inputs(), ledger.size());
  int pieces = 0;
  for_each_piece(paths, "0", [&](const std::string& lines, const dedup::Fingerprints& rows) {
    EXPECT_EQ(lines, ++pieces == 1 ? to_json_lines(ledger) : "");
    EXPECT_EQ(rows.size(), pieces == 1 ? table.size() : 0);
  });
  EXPECT_EQ(pieces, 2);
  EXPECT_FALSE(read_part(paths, "0", "another key"));
  EXPECT_FALSE(read_part(paths, "1", "key"));

  Victim victim(parts_folder(paths) / "0");
  // A part that is not trusted counts as refused.
  Judge judge(victim, [&] {
    if (!read_part(paths, "0", "key")) throw FormatError("0 is not believed");
  });
  flip_every_byte(victim, judge, Bits::kTwo);
  cut_to_every_length(victim, judge);
  grow(victim, judge);
  scatter(victim, judge, 2000, 100);
  EXPECT_GT(judge.refused(), 10'000);
}

}  // namespace part_damage_test
}  // namespace winnow::pipeline
