#include "app/plan/timing.h"

#include <gtest/gtest.h>

namespace winnow::app::timing_test {

using train::StepForm;
using train::StepSeconds;

// A trial whose lanes take `of_image` seconds per image, half of it forward, and 0.1 s to update.
Timed timed(StepForm form, int lane_threads, double of_image) {
  const double samples = static_cast<double>(form.rounds() * form.micro_batch);
  Timed one{.lane_threads = lane_threads};
  one.trial.form = form;
  one.step = {.forward = of_image * samples / 2,
              .backward = of_image * samples / 2,
              .sums = 0.01 * static_cast<double>(form.rounds()),
              .update = 0.1};
  return one;
}

TEST(StepBy, WhatWasMeasuredIsTakenForMoreMicroBatches) {
  const std::vector<Timed> trials{timed({64, 2, 2}, 1, 0.5)};
  const StepOf found = step_by(trials, {64, 8, 2}, 1);
  EXPECT_EQ(found.how, How::kMeasured);
  EXPECT_NEAR(found.step.total(), 4 * 64 * 0.5 + 4 * 0.01 + 0.1, 1e-9);
  EXPECT_NEAR(found.step.update, 0.1, 1e-12);
}

TEST(StepBy, BetweenTwoMicroBatchesTheirLogarithmCounts) {
  const std::vector<Timed> trials{timed({16, 2, 2}, 1, 1.0), timed({64, 2, 2}, 1, 0.5)};
  const StepOf found = step_by(trials, {32, 2, 2}, 1);
  EXPECT_EQ(found.how, How::kScaled);
  EXPECT_NEAR(found.step.forward + found.step.backward, 32 * 0.75, 1e-9);
}

TEST(StepBy, OutsideTheNearestSpeedIsTaken) {
  const std::vector<Timed> trials{timed({16, 2, 2}, 1, 1.0), timed({64, 2, 2}, 1, 0.5)};
  EXPECT_NEAR(step_by(trials, {256, 2, 2}, 1).step.forward, 256 * 0.25, 1e-9);
  EXPECT_NEAR(step_by(trials, {8, 2, 2}, 1).step.forward, 8 * 0.5, 1e-9);
}

TEST(StepBy, OtherLanesAreScaledByTheMicroBatchThatBothHave) {
  const std::vector<Timed> trials{timed({16, 2, 2}, 1, 1.0), timed({64, 2, 2}, 1, 0.5),
                                  timed({16, 2, 1}, 2, 0.6)};
  // A lane of two threads takes 0.6 of the time of a lane of one thread, so it does with 64 as
  // well.
  const StepOf found = step_by(trials, {64, 2, 1}, 2);
  EXPECT_EQ(found.how, How::kScaled);
  EXPECT_NEAR(found.step.forward + found.step.backward, 2 * 64 * 0.3, 1e-9);
  EXPECT_EQ(step_by(trials, {16, 4, 1}, 2).how, How::kMeasured);
}

TEST(TimedTrial, WaitingIsTheMeanAndNoPartOfTheMedianStep) {
  train::Trial trial{.form = {16, 2, 2}};
  trial.steps = {{.forward = 3, .data = 4}, {.forward = 1, .data = 0}, {.forward = 2, .data = 2}};
  const Timed one = timed_trial(trial, 1);
  EXPECT_DOUBLE_EQ(one.step.total(), 2);
  EXPECT_DOUBLE_EQ(one.waited, 2);
  EXPECT_DOUBLE_EQ(one.spread, 1);
  EXPECT_EQ(one.trial.steps.size(), 3u);
}

TEST(MicroBatchesOfTrial, StepsOfSmallNetsAreWhole) {
  EXPECT_EQ(micro_batches_of_trial(1e6, {16, 16, 2}), 16);  // 0.8 GFLOP a step
  EXPECT_EQ(micro_batches_of_trial(0, {16, 5, 2}), 5);
}

TEST(MicroBatchesOfTrial, OthersHaveAsManyRoundsAsASecondHas) {
  // A round is 2 * 16 images of 3 GFLOP: one fits into 100 GFLOP, and few images take two.
  EXPECT_EQ(micro_batches_of_trial(1e9, {16, 16, 2}), 4);
  EXPECT_EQ(micro_batches_of_trial(1e9, {128, 16, 2}), 2);
  EXPECT_EQ(micro_batches_of_trial(1e8, {16, 64, 2}), 20);  // 10 rounds of 9.6 GFLOP
  EXPECT_EQ(micro_batches_of_trial(1e12, {64, 1, 2}), 1);
}

TEST(WaitingSeconds, ASlowLoaderSetsThePaceOfAllRows) {
  Timed one = timed({32, 2, 2}, 1, 0.01);
  one.waited = 0.68;  // a step computes 0.43 s
  const double loaded = one.step.total() + one.waited;
  EXPECT_NEAR(waiting_seconds(one, 64, one.step.total()), one.waited, 1e-12);
  EXPECT_NEAR(waiting_seconds(one, 128, 0.5), 2 * loaded - 0.5, 1e-12);
  EXPECT_EQ(waiting_seconds(one, 64, 2 * loaded), 0);
}

TEST(WaitingSeconds, AFastOneIsWaitedForAsLittleByAnyRow) {
  Timed one = timed({32, 2, 2}, 1, 0.01);
  one.waited = 0.01;
  EXPECT_NEAR(waiting_seconds(one, 128, 0.001), 0.02, 1e-12);
}

TEST(ScaledStep, UnevenLanesTakeAsLongAsTheBusiest) {
  const StepSeconds step{.forward = 1, .backward = 2, .sums = 0.5, .update = 0.25};
  const StepSeconds scaled = train::scaled_step(step, {8, 2, 2}, {8, 5, 2});
  EXPECT_DOUBLE_EQ(scaled.forward, 3);
  EXPECT_DOUBLE_EQ(scaled.backward, 6);
  EXPECT_DOUBLE_EQ(scaled.sums, 1.5);
  EXPECT_DOUBLE_EQ(scaled.update, 0.25);
}

TEST(PartsOf, AddUpToTheStep) {
  using Row = train::TraceSpan::Row;
  const auto span = [](Row row, std::int64_t begin_ms, std::int64_t end_ms, const char* name) {
    return train::TraceSpan{.row = row,
                            .step = 1,
                            .begin_ns = begin_ms * 1'000'000,
                            .end_ns = end_ms * 1'000'000,
                            .name = name};
  };
  const train::TraceRecord record{
      .spans = {span(Row::kDataWait, 0, 10, ""), span(Row::kThread, 10, 12, "load parameters"),
                span(Row::kThread, 12, 52, "forward"), span(Row::kThread, 12, 56, "forward"),
                span(Row::kThread, 52, 112, "backward"), span(Row::kThread, 56, 120, "backward"),
                span(Row::kThread, 112, 116, "bucket 0 add"),
                span(Row::kUpdate, 130, 150, "update"), span(Row::kStep, 0, 160, "step 1")}};
  const StepSeconds parts = train::parts_of(record, 2, 0.005);
  EXPECT_NEAR(parts.data, 0.010, 1e-12);
  EXPECT_NEAR(parts.forward, 0.042, 1e-12);
  EXPECT_NEAR(parts.backward, 0.062, 1e-12);
  EXPECT_NEAR(parts.update, 0.021, 1e-12);
  EXPECT_NEAR(parts.sums, 0.002, 1e-12);
  EXPECT_NEAR(parts.ranks, 0.005, 1e-12);
  EXPECT_NEAR(parts.total(), 0.160, 1e-12);
  EXPECT_GT(parts.idle, 0);
}

}  // namespace winnow::app::timing_test
