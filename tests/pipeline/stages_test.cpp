#include "pipeline/ingest/stages.h"

#include <gtest/gtest.h>

namespace winnow::pipeline::stages_test {

// Seconds of work of read (4 threads), decode, fingerprint, pack (2 threads) and write (1 thread),
// in 10 seconds.
StageTimes times(double read, double decode, double fingerprint, double pack, double write) {
  return {.stages = {{{read, 4}, {decode, 2}, {fingerprint, 2}, {pack, 2}, {write, 1}}},
          .wall_seconds = 10};
}

TEST(Stages, SharesAreOfTheTimeOfTheirThreads) {
  const StageTimes t = times(10, 10, 4, 2, 3);
  EXPECT_DOUBLE_EQ(busy_share(t, Stage::kRead), 0.25);
  EXPECT_DOUBLE_EQ(busy_share(t, Stage::kDecode), 0.5);
  EXPECT_DOUBLE_EQ(busy_share(t, Stage::kWrite), 0.3);
  EXPECT_DOUBLE_EQ(busy_share(times(100, 0, 0, 0, 0), Stage::kRead), 1.0);
  EXPECT_DOUBLE_EQ(busy_share(StageTimes{}, Stage::kRead), 0.0);
}

TEST(Stages, TheSlowestIsTheOneTheOthersWaitFor) {
  EXPECT_EQ(slowest(times(4, 12, 6, 1, 2)), Stage::kDecode);
  EXPECT_EQ(slowest(times(4, 6, 12, 1, 2)), Stage::kFingerprint);
  EXPECT_EQ(slowest(times(4, 6, 5, 8, 2)), Stage::kPack);
  EXPECT_EQ(slowest(times(38, 6, 3, 1, 2)), Stage::kRead);
  EXPECT_EQ(slowest(times(4, 6, 3, 1, 9.7)), Stage::kWrite);
  // The workers' three stages are added up and compared with the writer's time.
  EXPECT_EQ(slowest(times(4, 7, 6, 6, 9)), Stage::kDecode);
}

TEST(Stages, TheSentenceHasTheNumbersAndWhatHelps) {
  const std::string decode = bottleneck(times(4, 12, 6, 1, 2));
  EXPECT_NE(decode.find("decoding is the slowest stage: its 2 workers worked 95 % of the time, "
                        "63 % of that on it"),
            std::string::npos)
      << decode;
  EXPECT_NE(decode.find("--threads"), std::string::npos);
  EXPECT_NE(bottleneck(times(4, 6, 12, 1, 2)).find("--hash"), std::string::npos);
  EXPECT_NE(bottleneck(times(38, 6, 3, 1, 2)).find("reading"), std::string::npos);
  EXPECT_NE(bottleneck(times(38, 6, 3, 1, 2)).find("95 %"), std::string::npos);
  EXPECT_NE(bottleneck(times(4, 6, 3, 1, 9.7)).find("its one thread"), std::string::npos);
  EXPECT_NE(bottleneck(times(1, 1, 1, 1, 1)).find("no stage was busy"), std::string::npos);
  EXPECT_NE(bottleneck(StageTimes{}).find("no stage was busy"), std::string::npos);
}

}  // namespace winnow::pipeline::stages_test
