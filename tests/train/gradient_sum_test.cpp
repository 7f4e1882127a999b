// Both ways of summing the contributions of micro-batches, driven by a step's plan on several
// lanes.

#include "train/reduce/gradient_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <thread>

#include "common/error.h"
#include "common/rng.h"
#include "tests/common/thread_ranks.h"
#include "train/reduce/fixed_point.h"
#include "train/step/task_runner.h"

namespace winnow::train::gradient_sum_test {

constexpr std::size_t kNodes = 3;

// Three tensors of very different sizes and scales in two buckets, and a tail of two numbers.
GradientLayout some_layout() {
  return {.tensors = {{0, 0, 700}, {1, 700, 5}, {2, 705, 40}},
          .buckets =
              {{.offset = 0, .count = 705, .first_tensor = 0, .last_tensor = 2, .ready_after = 2},
               {.offset = 705,
                .count = 42,
                .first_tensor = 2,
                .last_tensor = 3,
                .ready_after = kNodes}},
          .elements = 747,
          .tail_offset = 745};
}

// The contribution of micro-batch `m` to element `i`.
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

bool finite_all(std::span<const float> values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); });
}

// The transfers of a single rank: none.
const SumTransfers kNoTransfers{.buckets = {{}, {}}, .exponents = {}};

// The sums of the last of `steps` steps, computed by the tasks of a step with parts of a few
// elements.
std::vector<float> sums(const Make& make, const std::vector<int>& lanes, int steps, int parts = 1) {
  const GradientLayout layout = some_layout();
  const auto comm = comm::make_single();
  const int total = std::accumulate(lanes.begin(), lanes.end(), 0);
  const auto sum =
      make(layout, *comm,
           {.micro_batches = lanes, .total_micro_batches = total, .transfers = &kNoTransfers});
  TaskRunner runner(plan_step(layout, kNodes, {.micro_batches = lanes}));
  std::vector<int> first_of_lane;
  for (const Task& task : runner.tasks().tasks) {
    if (task.kind == Task::Kind::kBind && task.lane == static_cast<int>(first_of_lane.size())) {
      first_of_lane.push_back(task.micro_batch);
    }
  }
  const auto in_parts = [&](const auto& what) {
    std::vector<std::thread> threads;
    for (int i = 1; i < parts; ++i) threads.emplace_back([&, i] { what(Part{i, parts}); });
    what(Part{0, parts});
    for (std::thread& thread : threads) thread.join();
  };
  for (int step = 0; step < steps; ++step) {
    auto outcome = GradientSum::Outcome::kRepeat;
    std::atomic<bool> finite = true;
    for (int tries = 0; outcome == GradientSum::Outcome::kRepeat; ++tries) {
      EXPECT_LT(tries, 2);
      sum->begin();
      runner.run([&](const Task& task) {
        const auto bucket = static_cast<std::size_t>(std::max(0, task.bucket));
        if (task.kind == Task::Kind::kBind) {
          const std::span<float> written = sum->written(task.lane);
          for (std::size_t i = 0; i < written.size(); ++i) {
            written[i] = contribution(task.micro_batch, i, step);
          }
        } else if (task.kind == Task::Kind::kAdd) {
          const bool first = task.micro_batch == first_of_lane[static_cast<std::size_t>(task.lane)];
          in_parts([&](Part part) { sum->add(task.lane, bucket, first, part); });
        } else if (task.kind == Task::Kind::kAddLanes) {
          in_parts([&](Part part) { sum->add_lanes(bucket, part); });
        } else if (task.kind == Task::Kind::kReduce) {
          sum->reduce(bucket);
        } else if (task.kind == Task::Kind::kFinish) {
          outcome = sum->finish();
        } else if (task.kind == Task::Kind::kRead && outcome == GradientSum::Outcome::kDone) {
          in_parts([&](Part part) {
            if (!finite_all(sum->read(part))) finite = false;
          });
        }
      });
    }
    EXPECT_EQ(outcome, GradientSum::Outcome::kDone);
    EXPECT_TRUE(finite);
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
  for (const int parts : {2, 3, 16}) {
    EXPECT_EQ(sums(reproducible, {5, 7}, 2, parts), one);
    EXPECT_EQ(sums(fast, {5, 7}, 2, parts), sums(fast, {5, 7}, 2));
  }
  EXPECT_EQ(sums(fast, {4, 4, 4}, 2), sums(fast, {4, 4, 4}, 2));
  EXPECT_NE(sums(fast, {12}, 2), sums(fast, {4, 4, 4}, 2));  // the reason for reproducible sums
}

// Whole numbers cannot hold such a value, so the outcome reports it; f32 sums keep it in its place.
TEST(GradientSum, ANumberThatIsNotFiniteIsSeenAnywhere) {
  const GradientLayout layout = some_layout();
  const auto comm = comm::make_single();
  for (const bool whole : {false, true}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{704}, layout.tail_offset + 1}) {
      for (const float value : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
        const auto sum = (whole ? reproducible : fast)(
            layout, *comm,
            {.micro_batches = {1}, .total_micro_batches = 1, .transfers = &kNoTransfers});
        sum->begin();
        std::ranges::fill(sum->written(0), 1.0F);
        sum->written(0)[at] = value;
        for (std::size_t b = 0; b < 2; ++b) sum->add(0, b, true);
        for (std::size_t b = 0; b < 2; ++b) sum->reduce(b);
        const auto outcome = sum->finish();
        if (whole) {
          EXPECT_EQ(outcome, GradientSum::Outcome::kNotFinite) << at;
        } else {
          EXPECT_EQ(outcome, GradientSum::Outcome::kDone);
          EXPECT_FALSE(finite_all(sum->read()));
          EXPECT_FALSE(std::isfinite(sum->values()[at])) << at;
        }
      }
    }
  }
}

// As 32-bit sums, each micro-batch lost its smallest gradients, however many micro-batches there
// were.
TEST(GradientSum, SmallGradientsOfAThousandMicroBatchesAddUp) {
  constexpr int kMicroBatches = 1024;
  const GradientLayout layout{
      .tensors = {{0, 0, 2}},
      .buckets = {{.offset = 0, .count = 3, .first_tensor = 0, .last_tensor = 1, .ready_after = 1}},
      .elements = 3,
      .tail_offset = 2};
  const auto comm = comm::make_single();
  const SumTransfers none{.buckets = {{}}, .exponents = {}};
  const auto sum = make_fixed_point_sum(
      layout, {"weight", "loss"}, *comm,
      {.micro_batches = {kMicroBatches}, .total_micro_batches = kMicroBatches, .transfers = &none});
  const float small = 0x1.234566p-25F;
  auto outcome = GradientSum::Outcome::kRepeat;
  while (outcome == GradientSum::Outcome::kRepeat) {
    sum->begin();
    for (int m = 0; m < kMicroBatches; ++m) {
      std::ranges::copy(std::vector{1.0F, small, 1.0F}, sum->written(0).begin());
      sum->add(0, 0, m == 0);
    }
    sum->add_lanes(0);
    sum->reduce(0);
    outcome = sum->finish();
  }
  ASSERT_EQ(outcome, GradientSum::Outcome::kDone);
  ASSERT_TRUE(finite_all(sum->read()));
  EXPECT_EQ(sum->values()[0], 1024.0F);
  EXPECT_EQ(sum->values()[1], small * 1024);
}

TEST(GradientSum, RefusesCapacitiesThatNoGradientHas) {
  const GradientLayout layout = some_layout();
  const auto comm = comm::make_single();
  const auto sum = reproducible(
      layout, *comm, {.micro_batches = {1}, .total_micro_batches = 1, .transfers = &kNoTransfers});
  EXPECT_THROW(sum->restore({{"a", 100'000}}), FormatError);
  EXPECT_THROW(sum->restore({{"a", kNotFinite}}), FormatError);
  EXPECT_NO_THROW(sum->restore({{"a", -7}}));
  EXPECT_EQ(sum->state(), (std::map<std::string, std::int32_t>{{"a", -7}}));
}

// The sums of two ranks over some steps of one bucket with constant gradients.
std::vector<std::vector<float>> sums_with_feedback(const std::vector<float>& gradient, int steps,
                                                   int forget_before) {
  const GradientLayout layout{.tensors = {{0, 0, gradient.size()}},
                              .buckets = {{.offset = 0,
                                           .count = gradient.size() + 1,
                                           .first_tensor = 0,
                                           .last_tensor = 1,
                                           .ready_after = kNodes}},
                              .elements = gradient.size() + 1,
                              .tail_offset = gradient.size()};
  const SumTransfers transfers{
      .buckets = {{}}, .exponents = {}, .tail = {{comm::Transfer::Kind::kSend, 0, 0, 0, 0, 1}}};
  std::vector<std::vector<float>> out(static_cast<std::size_t>(steps));
  test::ThreadRanks(2).run([&](comm::Communicator& comm) {
    const auto sum = make_float_sum(layout, comm,
                                    {.micro_batches = {1},
                                     .total_micro_batches = 2,
                                     .transfers = &transfers,
                                     .wire = comm::Wire::kBF16,
                                     .error_feedback = true});
    for (int step = 0; step < steps; ++step) {
      if (step == forget_before) sum->forget_errors();
      sum->begin();
      std::ranges::copy(gradient, sum->written(0).begin());
      sum->written(0).back() = 1.001F;  // the tail, which is never rounded
      sum->add(0, 0, true);
      sum->add_lanes(0);
      sum->reduce(0);
      EXPECT_EQ(sum->finish(), GradientSum::Outcome::kDone);
      EXPECT_EQ(sum->values().back(), 2 * 1.001F);
      if (comm.rank() == 0) {
        out[static_cast<std::size_t>(step)].assign(sum->values().begin(), sum->values().end());
      }
    }
  });
  return out;
}

// Over any number of steps, the total error is that of a single rounding.
TEST(ErrorFeedback, LosesNoMoreInManyStepsThanInOne) {
  const std::vector<float> gradient{1.003F, -0.3333F, 1e-4F, 0.0F, 1e30F};
  constexpr int kSteps = 100;
  const auto steps = sums_with_feedback(gradient, kSteps, -1);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    double total = 0;
    for (const auto& step : steps) total += step[i];
    const double truth = 2.0 * kSteps * double{gradient[i]};
    const double rounding = 2 * 0x1p-8 * double{std::abs(gradient[i])};
    EXPECT_NEAR(total, truth, rounding) << "element " << i;
    if (i < 2) {
      EXPECT_NE(steps[0][i], 2 * gradient[i]) << "it is rounded";
    }
  }
}

// A run resumed from a checkpoint then equals the run that wrote it.
TEST(ErrorFeedback, BeginsAnewWhenItForgets) {
  const std::vector<float> gradient{1.003F, -0.3333F, 1e-4F};
  const auto steps = sums_with_feedback(gradient, 8, 5);
  for (int step = 5; step < 8; ++step) {
    EXPECT_EQ(steps[static_cast<std::size_t>(step)], steps[static_cast<std::size_t>(step - 5)]);
  }
  EXPECT_NE(steps[1], steps[0]);
}

// A step that fails leaves no error behind.
TEST(ErrorFeedback, KeepsNothingOfWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto steps = sums_with_feedback({infinity, std::nanf(""), 3.4e38F}, 2, -1);
  EXPECT_EQ(steps[1][0], infinity);
  EXPECT_TRUE(std::isnan(steps[1][1]));
  EXPECT_EQ(steps[1][2], infinity) << "beyond bf16's largest";
}

}  // namespace winnow::train::gradient_sum_test
