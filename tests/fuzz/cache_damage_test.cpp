// Damage to the other files of a cache: manifest, fingerprints, ledger, selection. Every bit
// counts.
#include <gtest/gtest.h>

#include "pipeline/store/cache.h"
#include "tests/common/temporary_folder.h"
#include "tests/fuzz/damage.h"

namespace winnow::pipeline {
using namespace test;
namespace cache_damage_test {

struct File {
  const char* path;
  void (*read)(const Cache& cache);
};

constexpr File kFiles[] = {
    {"manifest.json", [](const Cache&) {}},
    {"fingerprints/table", [](const Cache& cache) { cache.read_fingerprints(); }},
    {"ledger.jsonl", [](const Cache& cache) { cache.read_ledger(); }},
    {"selections/golden.selection", [](const Cache& cache) { cache.read_selection("golden"); }},
};

class CacheDamage : public testing::TestWithParam<File> {
 protected:
  CacheDamage() {
    copy_golden("v1/original", folder_ / "cache");
    victim_.emplace(folder_ / "cache" / GetParam().path);
  }

  Read read() const {
    return [this] { GetParam().read(Cache::open(folder_ / "cache")); };
  }

  TemporaryFolder folder_;
  std::optional<Victim> victim_;
};

TEST_P(CacheDamage, EveryBitFlipped) {
  Judge judge(*victim_, read());
  flip_every_byte(*victim_, judge, Bits::kEach);
  EXPECT_EQ(judge.refused(), static_cast<int>(9 * victim_->good().size()));
}

TEST_P(CacheDamage, EveryLengthAndGrown) {
  Judge judge(*victim_, read());
  cut_to_every_length(*victim_, judge);
  grow(*victim_, judge);
}

TEST_P(CacheDamage, Scattered) {
  Judge judge(*victim_, read());
  scatter(*victim_, judge, 3000, 40);
  scatter(*victim_, judge, 1000, 1000);
  EXPECT_GT(judge.refused(), 3000);  // copying zeros onto zeros is no damage
}

INSTANTIATE_TEST_SUITE_P(Files, CacheDamage, testing::ValuesIn(kFiles), [](const auto& row) {
  const std::string name = std::filesystem::path(row.param.path).stem();
  return name;
});

}  // namespace cache_damage_test
}  // namespace winnow::pipeline
