// The two ways of summing what micro-batches contribute, driven by a step's plan on several lanes.

#include "train/reduce/gradient_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "common/rng.h"
#include "train/step/task_runner.h"

namespace winnow::train {
namespace {

constexpr std::size_t kNodes = 3;

// Three tensors of very different sizes and scales in two buckets, and a tail of two numbers.
GradientLayout some_layout() {
  return {
      .slots = {{0, 0, 700}, {1, 700, 5}, {2, 705, 40}},
      .buckets =
          {{.offset = 0, .count = 705, .first_slot = 0, .last_slot = 2, .ready_after = 2},
           {.offset = 705, .count = 42, .first_slot = 2, .last_slot = 3, .ready_after = kNodes}},
      .elements = 747,
      .tail_offset = 745};
}

// What micro-batch `m` contributes to element `i`.
float contribution(int m, std::size_t i, int step) {
  CounterRng rng(static_cast<std::uint64_t>(step), static_cast<std::uint32_t>(m), i,
                 RandomUse::kTest);
  return static_cast<float>((rng.uniform() - 0.5) * (i < 700 ? 1e-3 : 40.0));
}

using Make = std::function<std::unique_ptr<GradientSum>(const GradientLayout&, comm::Communicator&,
                                                        SumOptions)>;

std::unique_ptr<GradientSum> fast(const GradientLayout& layout, comm::Communicator& comm,
                                  SumOptions options) {
  return make_float_sum(layout, comm, std::move(options));
}

std::unique_ptr<GradientSum> reproducible(const GradientLayout& layout, comm::Communicator& comm,
                                          SumOptions options) {
  return make_fixed_point_sum(layout, {"a", "b", "c", "loss", "weight"}, comm, std::move(options));
}

// The sums of the last of some steps.
std::vector<float> sums(const Make& make, const std::vector<int>& lanes, int steps) {
  const GradientLayout layout = some_layout();
  const auto comm = comm::make_single();
  const int total = std::accumulate(lanes.begin(), lanes.end(), 0);
  const auto sum = make(layout, *comm,
                        {.schedule = &comm::find_schedule("ring"),
                         .schedule_options = {},
                         .micro_batches = lanes,
                         .total_micro_batches = total});
  TaskRunner runner(plan_step(layout, kNodes, lanes));
  std::vector<int> first_of_lane;
  for (const Task& task : runner.plan().tasks) {
    if (task.kind == Task::Kind::kBind && task.lane == static_cast<int>(first_of_lane.size())) {
      first_of_lane.push_back(task.micro_batch);
    }
  }
  for (int step = 0; step < steps; ++step) {
    auto outcome = GradientSum::Outcome::kRepeat;
    for (int tries = 0; outcome == GradientSum::Outcome::kRepeat; ++tries) {
      EXPECT_LT(tries, 2);
      runner.run([&](const Task& task) {
        const auto bucket = static_cast<std::size_t>(std::max(0, task.bucket));
        if (task.kind == Task::Kind::kBind) {
          const std::span<float> written = sum->written(task.lane);
          for (std::size_t i = 0; i < written.size(); ++i) {
            written[i] = contribution(task.micro_batch, i, step);
          }
        } else if (task.kind == Task::Kind::kAdd) {
          sum->add(task.lane, bucket,
                   task.micro_batch == first_of_lane[static_cast<std::size_t>(task.lane)]);
        } else if (task.kind == Task::Kind::kReduce) {
          sum->reduce(bucket);
        } else if (task.kind == Task::Kind::kFinish) {
          outcome = sum->finish();
        }
      });
    }
    EXPECT_EQ(outcome, GradientSum::Outcome::kDone);
  }
  return {sum->values().begin(), sum->values().end()};
}

TEST(GradientSum, IsNearTheExactSumHoweverItIsCut) {
  constexpr int kSteps = 3;
  std::vector<double> exact(some_layout().elements, 0.0);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    for (int m = 0; m < 6; ++m) exact[i] += contribution(m, i, kSteps - 1);
  }
  for (const std::vector<int>& lanes : {std::vector{6}, {3, 3}, {2, 2, 2}, {1, 1, 1, 1, 1, 1}}) {
    for (const Make& make : {Make(fast), Make(reproducible)}) {
      const std::vector<float> got = sums(make, lanes, kSteps);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        ASSERT_NEAR(got[i], exact[i], (i < 700 ? 1e-3 : 40.0) * 6 * 1e-6) << i;
      }
    }
  }
}

TEST(GradientSum, WholeNumbersDoNotCareHowTheyAreCutButFloatsRepeatOnly) {
  const std::vector<float> one = sums(reproducible, {12}, 2);
  for (const std::vector<int>& lanes : {std::vector{4, 4, 4}, {5, 7}, {1, 11}, {3, 3, 3, 3}}) {
    EXPECT_EQ(sums(reproducible, lanes, 2), one);
  }
  EXPECT_EQ(sums(fast, {4, 4, 4}, 2), sums(fast, {4, 4, 4}, 2));
  EXPECT_NE(sums(fast, {12}, 2), sums(fast, {4, 4, 4}, 2));  // why the other way exists
}

// Of whole numbers, which cannot have it; f32 sums have it where it was added.
TEST(GradientSum, ANumberThatIsNotFiniteIsSeenAnywhere) {
  const GradientLayout layout = some_layout();
  const auto comm = comm::make_single();
  for (const bool whole : {false, true}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{704}, layout.tail_offset + 1}) {
      for (const float value : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
        const auto sum = (whole ? reproducible : fast)(layout, *comm,
                                                       {.schedule = &comm::find_schedule("ring"),
                                                        .schedule_options = {},
                                                        .micro_batches = {1},
                                                        .total_micro_batches = 1});
        std::ranges::fill(sum->written(0), 1.0F);
        sum->written(0)[at] = value;
        for (std::size_t b = 0; b < 2; ++b) sum->add(0, b, true);
        for (std::size_t b = 0; b < 2; ++b) sum->reduce(b);
        const auto outcome = sum->finish();
        if (whole) {
          EXPECT_EQ(outcome, GradientSum::Outcome::kNotFinite) << at;
        } else {
          EXPECT_EQ(outcome, GradientSum::Outcome::kDone);
          EXPECT_FALSE(std::isfinite(sum->values()[at])) << at;
        }
      }
    }
  }
}

}  // namespace
}  // namespace winnow::train
