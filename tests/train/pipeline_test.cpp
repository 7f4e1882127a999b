#include "train/run/start/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/error.h"
#include "tests/train/net_options.h"

namespace winnow::train::pipeline_test {

using testing::HasSubstr;

LocalOptions pipelined(const std::string& stage_ranks = "") {
  return {
      .updates = "greedy", .stages = "layer1,layer2", .pipeline = true, .stage_ranks = stage_ranks};
}

Graph resnet20(const LocalOptions& local) {
  NetOptions net = square_images(32, 10);
  net.batch = 2;
  const Graph forward = find_net("resnet20").make(net);
  return with_heads(choose_stages(local, forward, net), forward, net);
}

std::vector<int> chosen(const LocalOptions& options, int ranks, bool sync_bn = false) {
  return choose_rank_stages(options, sync_bn, resnet20(options), ranks).ranks;
}

std::string refusal_of(const LocalOptions& options, int ranks, bool sync_bn = false) {
  try {
    chosen(options, ranks, sync_bn);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(Pipeline, GivesStagesRanksAsAsked) {
  EXPECT_EQ(chosen(pipelined("2,1,4"), 7), (std::vector{2, 1, 4}));
  EXPECT_EQ(chosen(pipelined(), 3), (std::vector{1, 1, 1}));
  LocalOptions plain = pipelined();
  plain.pipeline = false;
  EXPECT_EQ(chosen(plain, 5), (std::vector{5}));
}

// With its head the first stage has most to do, and each stage of the net itself as much.
TEST(Pipeline, GivesARankMoreWhereMostIsToDo) {
  const std::vector<int> ranks = chosen(pipelined(), 6);
  EXPECT_GE(ranks[0], ranks[2]);
  EXPECT_EQ(ranks[0] + ranks[1] + ranks[2], 6);
}

TEST(Pipeline, SaysWhatIsWrong) {
  EXPECT_THAT(refusal_of(pipelined(), 2), HasSubstr("at least one rank for each of 3 stages"));
  EXPECT_THAT(refusal_of(pipelined("1,1"), 3), HasSubstr("for 2 stages, but there are 3"));
  EXPECT_THAT(refusal_of(pipelined("1,1,2"), 3), HasSubstr("gives 4 ranks, but the job has 3"));
  for (const char* text : {"1,,1", "1,1,", ",1", "1 1", "0,1,2", "-1,2,2", "99999999999,1,1"}) {
    EXPECT_THAT(refusal_of(pipelined(text), 3), HasSubstr("is not a list of the number")) << text;
  }
  LocalOptions overlapping = pipelined();
  overlapping.updates = "overlapping";
  EXPECT_THAT(refusal_of(overlapping, 3), HasSubstr("add --local greedy"));
  EXPECT_THAT(refusal_of(pipelined(), 3, true), HasSubstr("--sync-bn"));
  LocalOptions without = pipelined("1,1,1");
  without.pipeline = false;
  EXPECT_THAT(refusal_of(without, 3), HasSubstr("needs --pipeline"));
}

TEST(Pipeline, IsToldInWords) {
  EXPECT_EQ(in_words(RankStages{{3, 1}}), "stage 1 of 2 on ranks 0 to 2, stage 2 on rank 3");
}

}  // namespace winnow::train::pipeline_test
