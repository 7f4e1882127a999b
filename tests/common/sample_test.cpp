#include "common/sample.h"

#include <gtest/gtest.h>

#include "common/thread_plan.h"

namespace winnow::sample_test {

TEST(Sample, AnIdIsItsSourceAndPosition) {
  for (const std::uint32_t source : {0U, 1U, 65535U}) {
    for (const std::uint64_t position :
         {std::uint64_t{0}, std::uint64_t{5}, (std::uint64_t{1} << 48) - 1}) {
      const SampleId id = make_sample_id(source, position);
      EXPECT_EQ(source_of(id), source);
      EXPECT_EQ(position_of(id), position);
    }
  }
  EXPECT_LT(make_sample_id(0, (std::uint64_t{1} << 48) - 1), make_sample_id(1, 0));
}

TEST(Sample, SplitsHaveTheNamesPeopleUse) {
  for (int i = 0; i < kSplitCount; ++i) {
    const auto split = static_cast<Split>(i);
    EXPECT_EQ(parse_split(split_name(split)), split);
  }
  EXPECT_EQ(parse_split("Training"), Split::kTrain);
  EXPECT_EQ(parse_split("VALID"), Split::kVal);
  EXPECT_EQ(parse_split("validation"), Split::kVal);
  EXPECT_EQ(parse_split("eval"), Split::kVal);
  EXPECT_EQ(parse_split("testing"), Split::kTest);
  for (const char* other : {"", "trains", "rain", "tes", "cat", "val2"}) {
    EXPECT_EQ(parse_split(other), std::nullopt) << other;
  }
}

TEST(ThreadPlan, IsThisProcessesShare) {
  struct Case {
    ThreadPlanInputs inputs;
    int cores;
  };
  const Case cases[] = {
      {{.affinity_cores = 8}, 8},
      {{.affinity_cores = 8, .quota_cores = 2.5}, 2},
      {{.affinity_cores = 2, .quota_cores = 4}, 2},
      {{.affinity_cores = 8, .local_ranks = 2}, 4},
      {{.affinity_cores = 8, .quota_cores = 4, .local_ranks = 2}, 2},
      {{.affinity_cores = 4, .local_ranks = 2, .own_cores = 4}, 4},
      {{.affinity_cores = 4, .quota_cores = 4, .local_ranks = 2, .own_cores = 4}, 2},
      {{.affinity_cores = 2, .local_ranks = 4}, 1},
      {{.affinity_cores = 8, .quota_cores = 0.5}, 1},
      {{.affinity_cores = 1, .requested = 3}, 3},
      {{.affinity_cores = 0, .local_ranks = 0}, 1},
  };
  for (const Case& c : cases) {
    const ThreadPlan plan = plan_threads(c.inputs);
    EXPECT_EQ(plan.cores, c.cores) << c.inputs.affinity_cores << " cores, quota "
                                   << c.inputs.quota_cores << ", ranks " << c.inputs.local_ranks;
    EXPECT_EQ(plan.compute, c.cores);
    EXPECT_EQ(plan.decode, c.cores);
  }
  EXPECT_EQ(to_string(plan_threads({.affinity_cores = 2})), "2 cores: 2 compute, 2 decode");
  EXPECT_EQ(to_string(plan_threads({})), "1 core: 1 compute, 1 decode");
}

TEST(ThreadPlan, CommunicationHasACoreOfManyAndSharesOneOfFew) {
  using enum ThreadPlan::Communication;
  struct Case {
    ThreadPlanInputs inputs;
    ThreadPlan::Communication communication;
    int compute;
  };
  const Case cases[] = {
      {{.affinity_cores = 64}, kNone, 64},
      {{.affinity_cores = 64, .ranks = 2}, kOwnCore, 63},
      {{.affinity_cores = 8, .ranks = 2}, kOwnCore, 7},
      {{.affinity_cores = 7, .ranks = 2}, kShares, 7},
      {{.affinity_cores = 2, .ranks = 8}, kShares, 2},
      {{.affinity_cores = 2, .ranks = 2, .local_ranks = 2}, kShares, 1},
      {{.affinity_cores = 64, .ranks = 8, .local_ranks = 8}, kOwnCore, 7},
      {{.affinity_cores = 64, .ranks = 16, .local_ranks = 16}, kShares, 4},
      {{.affinity_cores = 64, .ranks = 2, .requested = 16}, kShares, 16},
  };
  for (const Case& c : cases) {
    const ThreadPlan plan = plan_threads(c.inputs);
    const std::string what = std::to_string(c.inputs.affinity_cores) + " cores, ranks " +
                             std::to_string(c.inputs.ranks) + ", here " +
                             std::to_string(c.inputs.local_ranks);
    EXPECT_EQ(plan.communication, c.communication) << what;
    EXPECT_EQ(plan.compute, c.compute) << what;
    EXPECT_EQ(plan.decode, plan.cores) << what;
  }
  EXPECT_EQ(to_string(plan_threads({.affinity_cores = 16, .ranks = 4})),
            "16 cores: 15 compute, 16 decode, 1 communication");
  EXPECT_EQ(to_string(plan_threads({.affinity_cores = 2, .ranks = 4})),
            "2 cores: 2 compute, 2 decode, communication shares");
}

TEST(ThreadPlan, ThisMachineHasACore) {
  const ThreadPlanInputs inputs = detect_threads(1, 1);
  EXPECT_GE(inputs.affinity_cores, 1);
  EXPECT_GE(inputs.quota_cores, 0);
  EXPECT_GE(plan_threads(inputs).cores, 1);
}

}  // namespace winnow::sample_test
