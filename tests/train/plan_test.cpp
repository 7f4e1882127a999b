// The plan of a run: its file, what may change when a run goes on, lanes; the state and the census.

#include "train/plan/run_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "common/error.h"
#include "train/run/census.h"
#include "train/run/run_state.h"
#include "train/step/task_runner.h"

namespace winnow::train {
namespace {

using testing::HasSubstr;

RunPlan some_plan() {
  return {.numerics = {{"lane_threads", "1"}, {"instruction_set", "avx2"}},
          .layout = {{"lanes", "2 2"}, {"schedule", "ring"}},
          .supersedes = {"00ff"},
          .tasks = R"([{"task":"bind","after":[]},{"task":"compute","after":[0]}])"};
}

TEST(Plan, ItsTextReadsBack) {
  const RunPlan plan = some_plan();
  const std::string text = to_text(plan);
  const RunPlan read = parse_plan(text, "it");
  EXPECT_EQ(read.numerics, plan.numerics);
  EXPECT_EQ(read.layout, plan.layout);
  EXPECT_EQ(read.supersedes, plan.supersedes);
  EXPECT_EQ(read.tasks, plan.tasks);
  EXPECT_EQ(to_text(read), text);
  EXPECT_EQ(digest_of_plan(text).size(), 32U);
}

TEST(Plan, DamageAndNewerVersionsAreRefused) {
  const std::string text = to_text(some_plan());
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_THROW(parse_plan(text.substr(0, size), "it"), FormatError) << size;
  }
  std::string newer = text;
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 2");
  try {
    parse_plan(newer, "RUN/plan.json");
    ADD_FAILURE() << "a newer version was read";
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("RUN/plan.json was written by a newer winnow"));
  }
}

TEST(Plan, OtherArithmeticNeedsReplanAndAnotherLayoutOnlyAWord) {
  const RunPlan stored = some_plan();
  EXPECT_FALSE(compare_plans(stored, stored, false, false).changed);
  RunPlan other = stored;
  other.tasks = "[]";
  EXPECT_FALSE(compare_plans(stored, other, false, false).changed);

  other.layout["lanes"] = "2 2 2";
  const PlanChange fast = compare_plans(stored, other, false, false);
  EXPECT_TRUE(fast.changed);
  EXPECT_THAT(fast.note, HasSubstr("lanes 2 2, now 2 2 2"));
  EXPECT_THAT(fast.note, HasSubstr("will differ"));
  EXPECT_THAT(compare_plans(stored, other, true, false).note, HasSubstr("the weights do not"));

  other.numerics["instruction_set"] = "avx512";
  for (const bool reproducible : {false, true}) {
    EXPECT_THROW(compare_plans(stored, other, reproducible, false), UsageError);
    EXPECT_THAT(compare_plans(stored, other, reproducible, true).note, HasSubstr("will differ"));
  }
}

TEST(Plan, LanesUseTheCoresAndShareTheMicroBatches) {
  EXPECT_EQ(choose_lane_threads(3, 2, true, 8, 4), 3);   // as wished
  EXPECT_EQ(choose_lane_threads(0, 2, false, 8, 4), 2);  // as begun
  EXPECT_EQ(choose_lane_threads(0, 0, true, 8, 4), 1);   // whatever the machine
  EXPECT_EQ(choose_lane_threads(0, 0, false, 8, 4), 2);
  EXPECT_EQ(choose_lane_threads(0, 0, false, 2, 4), 1);
  EXPECT_EQ(choose_lane_threads(0, 0, false, 8, 1), 8);
  for (const int cores : {1, 2, 7, 64}) {
    for (const int threads : {1, 2, 3}) {
      for (const std::int64_t micro_batches : {1, 2, 3, 24}) {
        const std::vector<int> lanes = choose_lanes(cores, threads, micro_batches);
        EXPECT_EQ(std::accumulate(lanes.begin(), lanes.end(), 0), micro_batches);
        EXPECT_GE(*std::ranges::min_element(lanes), 1);
        EXPECT_LE(*std::ranges::max_element(lanes) - *std::ranges::min_element(lanes), 1);
        EXPECT_TRUE(lanes.size() == 1 || static_cast<int>(lanes.size()) * threads <= cores);
      }
    }
  }
}

TEST(RunState, ItsTextReadsBackToTheBit) {
  const RunState state{
      .step = 7,
      .epoch = 7.0 / 3.0,
      .writer = {.seed = ~0ULL, .ranks = 3, .plan = "abc"},
      .evaluated = false,
      .losses = {.interval = {1.0 / 3.0, 2}, .epoch = {0.1 + 0.2, 5}, .last_epoch = 1e-300},
      .sums = {{"fc.weight", -7}},
      .census = {{0, 10, ~1ULL}, {1, 3, 5}}};
  const RunState read = parse_state(to_text(state), "it");
  EXPECT_EQ(to_text(read), to_text(state));
  EXPECT_EQ(read.epoch, state.epoch);
  EXPECT_EQ(read.losses.epoch.sum, state.losses.epoch.sum);
  EXPECT_EQ(read.census, state.census);
  EXPECT_EQ(read.writer.seed, state.writer.seed);
  EXPECT_THROW(parse_state("{}", "it"), FormatError);
  EXPECT_THROW(parse_state(to_text(state).substr(0, 40), "it"), FormatError);
}

TEST(Census, AnyLossOrRepetitionChangesIt) {
  pipeline::SampleSet samples{.ids = {3, 5, 8, 13}, .weights = std::vector<float>(4, 1)};
  std::vector<EpochCensus> full;
  extend_due(full, 3, pipeline::Sampler(samples, 1));
  std::vector<EpochCensus> rows;
  count_samples(rows, 0, 4, {8, 3, 13});
  EXPECT_NO_THROW(check_census(rows, full, 3));  // not complete yet
  EXPECT_THROW(check_census(rows, full, 4), Error);
  count_samples(rows, 3, 4, {5, 13, 3});  // into the second epoch
  EXPECT_NO_THROW(check_census(rows, full, 6));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], full[0]);
  EXPECT_EQ(rows[1].samples, 2U);
  count_samples(rows, 6, 4, {3, 8});  // 3 twice, 5 not at all
  EXPECT_THROW(check_census(rows, full, 8), Error);
  EXPECT_NO_THROW(check_census(rows, full, 7));
}

TEST(Census, KnowsWhoseTurnItIs) {
  const std::vector<SampleId> stands_for{3, 5, 3, 13, 3};
  const pipeline::SampleSet samples =
      pipeline::take_turns({3, 5, 8, 13, 21}, std::vector<float>(5, 1), stands_for);
  const pipeline::Sampler sampler(samples, 4);
  std::vector<EpochCensus> due;
  extend_due(due, 6, sampler);
  // Of the stream itself, three steps at a time, it is what is due.
  std::vector<EpochCensus> rows;
  std::vector<SampleId> ids;
  for (std::uint64_t begin = 0; begin < 18; begin += 2) {
    std::vector<SampleId> batch;
    for (const auto& request : sampler.requests(begin, 2)) batch.push_back(request.id);
    count_samples(rows, begin, 3, batch);
    ids.insert(ids.end(), batch.begin(), batch.end());
  }
  EXPECT_EQ(rows, due);
  EXPECT_NO_THROW(check_census(rows, due, 18));
  // Two blocks of three epochs: each of the three by turns twice.
  for (const SampleId id : {3, 8, 21}) EXPECT_EQ(std::ranges::count(ids, id), 2);
  for (const SampleId id : {5, 13}) EXPECT_EQ(std::ranges::count(ids, id), 6);
  // One that was not due in another's stead, in each place.
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (const SampleId other : samples.ids) {
      if (other == ids[i]) continue;
      std::vector<SampleId> wrong = ids;
      wrong[i] = other;
      rows.clear();
      count_samples(rows, 0, 3, wrong);
      EXPECT_THROW(check_census(rows, due, 18), Error) << i << ": " << other;
    }
  }
}

TEST(Census, IsThatOfTheStreamHoweverSamplesAreDrawn) {
  pipeline::SampleSet samples;
  pipeline::SampleLabels labels{.offsets = {0}, .labels = {}};
  for (std::uint32_t i = 0; i < 40; ++i) {
    samples.ids.push_back(100 + i);
    samples.weights.push_back(0.1F * static_cast<float>(1 + i % 13));
    labels.labels.push_back(i % 7 == 0 ? 1 : 0);
    labels.offsets.push_back(i + 1);
  }
  for (const auto sampling : {pipeline::Sampling::kBalanced, pipeline::Sampling::kRepeatFactor,
                              pipeline::Sampling::kWeighted}) {
    const pipeline::Sampler sampler(samples, 3, {sampling, 0.5}, labels);
    const std::uint64_t n = sampler.epoch_size();
    std::vector<EpochCensus> due;
    extend_due(due, 4, sampler);
    std::vector<SampleId> ids;
    for (const auto& request : sampler.requests(0, 4 * n)) ids.push_back(request.id);
    std::vector<EpochCensus> rows;
    count_samples(rows, 0, n, ids);
    EXPECT_EQ(rows, due);
    ids[n + 1] = ids[n + 1] == 100 ? 101 : 100;
    rows.clear();
    count_samples(rows, 0, n, ids);
    EXPECT_THROW(check_census(rows, due, 4 * n), Error);
    EXPECT_NO_THROW(check_census(rows, due, n));
  }
}

StepPlan diamond(int lanes) {
  StepPlan plan{.lanes = lanes};
  for (int lane = 0; lane < lanes; ++lane) plan.tasks.push_back({Task::Kind::kBind, lane});
  Task all{Task::Kind::kFinish};
  for (int lane = 0; lane < lanes; ++lane) all.after.push_back(lane);
  plan.tasks.push_back(all);
  for (int lane = 0; lane < lanes; ++lane) {
    Task after{Task::Kind::kUpdate, lane};
    after.after = {lanes};
    plan.tasks.push_back(after);
  }
  return plan;
}

TEST(TaskRunner, RunsEveryTaskOnceAfterThoseItNamesAndOnItsLane) {
  constexpr int kLanes = 3;
  TaskRunner runner(diamond(kLanes));
  std::vector<std::thread::id> thread_of_lane(kLanes);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::atomic<int> before{0};
    std::atomic<int> after{0};
    std::atomic<int> met{0};
    std::vector<std::thread::id> threads(kLanes);
    runner.run([&](const Task& task) {
      const auto lane = static_cast<std::size_t>(std::max(0, task.lane));
      if (task.kind == Task::Kind::kBind) {
        threads[lane] = std::this_thread::get_id();
        ++before;
      } else if (task.kind == Task::Kind::kFinish) {
        met = before.load();
      } else {
        EXPECT_TRUE(threads[lane] == std::this_thread::get_id());
        ++after;
      }
    });
    EXPECT_EQ(met, kLanes);
    EXPECT_EQ(after, kLanes);
    EXPECT_TRUE(repeat == 0 || threads == thread_of_lane);
    thread_of_lane = threads;
  }
  EXPECT_TRUE(thread_of_lane[0] == std::this_thread::get_id());
}

TEST(TaskRunner, AnExceptionEndsTheRunAndTheNextOneIsWell) {
  constexpr int kLanes = 4;
  TaskRunner runner(diamond(kLanes));
  for (int lane = 0; lane < kLanes; ++lane) {
    std::atomic<int> updates{0};
    EXPECT_THROW(runner.run([&](const Task& task) {
      if (task.kind == Task::Kind::kBind && task.lane == lane) {
        throw std::runtime_error("on purpose");
      }
      updates += task.kind == Task::Kind::kUpdate;
    }),
                 std::runtime_error);
    EXPECT_EQ(updates, 0);
    runner.run([&](const Task& task) { updates += task.kind == Task::Kind::kUpdate; });
    EXPECT_EQ(updates, kLanes);
  }
}

}  // namespace
}  // namespace winnow::train
