#include "pipeline/ingest/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>

#include "common/error.h"
#include "tests/common/temporary_folder.h"
#include "tests/pipeline/fake_source.h"

namespace winnow::pipeline::estimate_test {

namespace fs = std::filesystem;

TEST(Estimate, TheOrderIsSpreadEvenly) {
  for (const std::size_t count : {0, 1, 2, 7, 64, 1000}) {
    std::vector<std::size_t> order = spread_order(count);
    std::ranges::sort(order);
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(order, all);
  }
  const std::vector<std::size_t> order = spread_order(1000);
  for (const std::size_t begin : {0, 8, 100, 500}) {  // any 40 in a row: about 4 in each tenth
    std::array<int, 10> tenths{};
    for (std::size_t i = begin; i < begin + 40; ++i) ++tenths[order[i] / 100];
    EXPECT_GE(std::ranges::min(tenths), 2) << begin;
    EXPECT_LE(std::ranges::max(tenths), 7) << begin;
  }
}

TEST(Estimate, WhatAnyRunTakesIsKnownApart) {
  EXPECT_DOUBLE_EQ(extrapolate({1, 1.5}, {11, 6.5}, 101), 51.5);
  EXPECT_DOUBLE_EQ(extrapolate({1, 0.1}, {10, 4}, 100), 40);  // starting costs less than nothing
  EXPECT_DOUBLE_EQ(extrapolate({1, 5}, {10, 4}, 100), 40);    // a clock without resolution
  EXPECT_DOUBLE_EQ(extrapolate({1, 1}, {1, 1}, 3), 3);
}

class EstimateOf : public testing::Test {
 protected:
  // Raw pixels, so that inputs of every size are made quickly.
  void fill(std::size_t count, int side) {
    for (std::size_t i = 0; i < count; ++i) {
      Image image(side, side, 3);
      std::ranges::fill(image.pixels, static_cast<std::uint8_t>(i));
      source_.add("a/" + std::to_string(100'000 + i), std::move(image));
    }
  }
  static IngestOptions one_thread() {
    IngestOptions options;
    options.work.threads = 1;
    return options;
  }
  Estimate estimate() {
    const IngestSource source{.source = &source_, .path = "set"};
    return estimate_ingest(std::span(&source, 1), folder_.path() / "cache", one_thread());
  }
  static std::uint64_t size_of(const IngestResult& result, const fs::path& cache) {
    std::uint64_t bytes =
        fs::file_size(cache / "fingerprints" / "table") + fs::file_size(cache / "ledger.jsonl");
    for (const ShardInfo& shard : result.manifest.shards) bytes += shard.bytes;
    return bytes;
  }

  TemporaryFolder folder_;
  FakeSource source_;
};

TEST_F(EstimateOf, AFewInputsIsWhatTheyTake) {
  fill(300, 20);
  const Estimate estimate = this->estimate();
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  EXPECT_EQ(estimate.inputs, 300U);
  EXPECT_EQ(estimate.input_bytes, 300U * 1200);
  EXPECT_EQ(estimate.sampled_inputs, 300U);
  EXPECT_GT(estimate.seconds, 0);
  const fs::path cache = folder_.path() / "cache";
  const IngestResult result = ingest(source_, "set", cache, one_thread(), {});
  EXPECT_EQ(estimate.cache_bytes, size_of(result, cache));
}

TEST_F(EstimateOf, InputsThatCannotBeReadIsMadeOfOthers) {
  for (int i = 0; i < 4000; ++i) {
    source_.add_error("a/" + std::to_string(100'000 + i),
                      {datasets::ReadError::Kind::kMissing, "is gone"});
  }
  fill(20, 4);
  EXPECT_EQ(estimate().inputs, 4020U);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(EstimateOf, NothingReadableIsRefusedAsTheIngestWould) {
  source_.add_error("a", {datasets::ReadError::Kind::kMissing, "is gone"});
  EXPECT_THROW(estimate(), RefusedError);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(EstimateOf, WhatIsBesideStaysAndALeftoverGoes) {
  fill(10, 4);
  const fs::path cache = folder_.path() / "cache";
  ingest(source_, "set", cache, one_thread(), {});
  const fs::path leftover = folder_.path() / ".cache.winnow-estimate";
  ingest(source_, "set", leftover, one_thread(), {});
  estimate();
  EXPECT_TRUE(fs::exists(cache / "manifest.json"));
  EXPECT_FALSE(fs::exists(leftover));
}

TEST(SampleSource, IsSomeOfAnother) {
  FakeSource source;
  for (int i = 0; i < 5; ++i) {
    source.add("input " + std::to_string(i), Bytes(static_cast<std::size_t>(i + 1)), Split::kVal,
               {i}, "group");
  }
  const SampleSource sample(source, {1, 4});
  ASSERT_EQ(sample.entries().size(), 2U);
  EXPECT_EQ(sample.entries().names()[1], "input 4");
  EXPECT_EQ(sample.entries().labels(1)[0], 4);
  EXPECT_EQ(sample.entries().split(0), Split::kVal);
  EXPECT_EQ(sample.entries().group(0), "group");
  EXPECT_EQ(sample.entries().input_bytes(1), 5U);
  EXPECT_EQ(std::get<Bytes>(*sample.read(1)).size(), 5U);
}

}  // namespace winnow::pipeline::estimate_test
