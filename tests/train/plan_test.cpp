// The plan of a run: its file, what may change when a run resumes, lanes, state and census.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "common/error.h"
#include "tests/train/some_plan.h"
#include "train/plan/lanes.h"
#include "train/plan/memory.h"
#include "train/plan/run_plan.h"
#include "train/run/record/census.h"
#include "train/run/record/run_state.h"
#include "train/step/task_runner.h"

namespace winnow::train::plan_test {

using testing::HasSubstr;

TEST(Plan, ItsTextReadsBack) {
  const RunPlan plan = some_plan();
  const std::string text = to_text(plan);
  const RunPlan read = parse_plan(text, "it");
  EXPECT_EQ(to_text(read), text);
  EXPECT_EQ(read.step, plan.step);
  EXPECT_EQ(read.supersedes, plan.supersedes);
  EXPECT_EQ(read.numerics.kernels, plan.numerics.kernels);
  EXPECT_EQ(read.layout.ranks[0].lanes, plan.layout.ranks[0].lanes);
  EXPECT_FALSE(compare_plans(read, plan, false).changed);
  EXPECT_EQ(digest_of_plan(text).size(), 32U);
}

TEST(Plan, DamageAndNewerVersionsAreRefused) {
  const std::string text = to_text(some_plan());
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_THROW(parse_plan(text.substr(0, size), "it"), FormatError) << size;
  }
  std::string newer = text;
  newer.replace(newer.find("\"version\": 2"), 12, "\"version\": 3");
  try {
    parse_plan(newer, "RUN/plan.json");
    ADD_FAILURE() << "a newer version was read";
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("RUN/plan.json was written by a newer winnow"));
  }
}

std::string with(std::string text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return text.replace(at, before.size(), after);
}

TEST(Plan, NumbersThatCannotBeAreRefusedByName) {
  const std::string text = to_text(some_plan());
  const auto refused = [&](const std::string& before, const std::string& after,
                           const std::string& what) {
    try {
      parse_plan(with(text, before, after), "RUN/plan.json");
      ADD_FAILURE() << after << " was read";
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), HasSubstr(what)) << after;
      EXPECT_THAT(error.what(), HasSubstr("RUN/plan.json")) << after;
    }
  };
  const std::string threads = "\"lane_threads\": 1";
  for (const char* value : {"0", "-3", "1e9", "1.5", "70000", "18446744073709551615", "\"1\""}) {
    refused(threads, std::string("\"lane_threads\": ") + value, "'numerics', 'lane_threads' is ");
  }
  refused("\"elements\": 300", "\"elements\": 20", "'smaller' 1, 'elements' is not larger than");
  refused("\"elements\": 20", "\"elements\": 0", "'smaller' 0, 'elements' is 0");
  refused("\"colors\": 4", "\"colors\": 0", "'colors' is 0, not a whole number from 1");
  refused("\"segment_elements\": 32768", "\"segment_elements\": -1", "'segment_elements' is -1");
  refused("\"bucket_bytes\": 1048576", "\"bucket_bytes\": 0", "'bucket_bytes' is 0");
  refused("\"threads\": 3", "\"threads\": -1", "'ranks' 0, 'threads' is -1");
  refused("\"nodes\":[3,7]", "\"nodes\":[8,7]", "'nodes' 0 is 8");
  refused("\"part\":[1,3]", "\"part\":[3,3]", "'part' 0 is 3");
  refused("\"lane\":1", "\"lane\":2", "'lane' is 2");
  refused("\"after\":[2]", "\"after\":[3]", "'after' 0 is 3");
  refused("\"after\":[2]", "\"after\":[-1]", "'after' 0 is -1");
  refused("\"task\":\"finish\"", "\"task\":\"fly\"", "is damaged");
  refused("\"sums\": \"f32\"", "\"sums\": \"f16\"", "is damaged");
  refused("\"dtype\": \"bf16\"", "\"dtype\": \"f8\"", "is damaged");
}

TEST(Plan, OtherArithmeticNeedsReplanAndAnotherLayoutOnlyAWord) {
  const RunPlan stored = some_plan();
  EXPECT_FALSE(compare_plans(stored, stored, false).changed);
  RunPlan other = stored;
  other.step = {};
  other.layout.ranks[0].threads = 9;
  EXPECT_FALSE(compare_plans(stored, other, false).changed);

  other.layout.ranks.push_back({.lanes = {1, 1}});
  const PlanChange fast = compare_plans(stored, other, false);
  EXPECT_TRUE(fast.changed);
  EXPECT_THAT(fast.note, HasSubstr("lanes 2 1, now 2 1 2"));
  EXPECT_THAT(fast.note, HasSubstr("will differ"));
  other.numerics.sums = Sums::kWholeNumbers;
  EXPECT_THAT(compare_plans(stored, other, false).note, HasSubstr("the weights do not"));

  RunPlan moved = stored;
  moved.layout.transfers = "00bb";
  EXPECT_THAT(compare_plans(stored, moved, false).note, HasSubstr("transfers 00aa, now 00bb"));

  RunPlan resized = stored;
  resized.layout.smaller.pop_back();
  EXPECT_THAT(
      compare_plans(stored, resized, false).note,
      HasSubstr("smaller all-reduces 20 multicolor 2 32768, 300 ring 4 32768, now 20 mult"));

  RunPlan kernel = stored;
  kernel.numerics.kernels["conv2d forward"] = "jit:avx512";
  EXPECT_THROW(compare_plans(stored, kernel, false), UsageError);

  other.numerics.instruction_set = "avx512";
  EXPECT_THROW(compare_plans(stored, other, false), UsageError);
  EXPECT_THAT(compare_plans(stored, other, true).note, HasSubstr("will differ"));
}

// A run begun by version 1 resumes if everything that its plan states is the same.
TEST(Plan, AFirstVersionIsReadAndCompared) {
  const std::string text = R"({"format": "winnow-plan", "version": 1,
      "numerics": {"backend": "onednn", "build": "1", "instruction_set": "avx2",
                   "lane_threads": "1", "library": "oneDNN 2.6.3"},
      "layout": {"bucket_bytes": "1048576", "colors": "4", "lanes": "2 1", "schedule": "ring",
                 "segment_elements": "32768"},
      "supersedes": ["00ff"], "tasks": [{"task": "bind", "after": []}]})";
  const RunPlan stored = parse_plan(text, "it");
  EXPECT_EQ(stored.version, 1);
  EXPECT_EQ(stored.numerics.lane_threads, 1);
  EXPECT_EQ(stored.layout.schedule_options.segment_elements, 32'768U);
  EXPECT_EQ(stored.supersedes, std::vector<std::string>{"00ff"});
  RunPlan now = some_plan();
  now.layout.smaller.clear();
  now.layout.stage_ranks.clear();
  EXPECT_EQ(compare_plans(stored, now, false).note, "");
  EXPECT_FALSE(compare_plans(stored, now, false).changed);
  now.layout.ranks[1].lanes = {1, 1};
  EXPECT_THAT(compare_plans(stored, now, false).note, HasSubstr("lanes 2 1, now 2 2"));
  // Sums of 32 bits gave other last bits.
  now.numerics.sums = Sums::kWholeNumbers;
  EXPECT_THROW(compare_plans(stored, now, false), UsageError);
  EXPECT_THAT(compare_plans(stored, now, true).note,
              HasSubstr("sums 32-bit whole numbers, now 64-bit whole numbers"));
  for (const auto& [before, after] : {std::pair{"\"lanes\": \"2 1\"", "\"lanes\": \"2 -1\""},
                                      {"\"lanes\": \"2 1\"", "\"lanes\": \"65536 1\""},
                                      {"\"colors\": \"4\"", "\"colors\": \"many\""},
                                      {"\"lane_threads\": \"1\"", "\"lane_threads\": \"0\""}}) {
    EXPECT_THROW(parse_plan(with(text, before, after), "it"), FormatError) << after;
  }
}

TEST(Plan, LanesUseTheCoresAndShareTheMicroBatches) {
  EXPECT_EQ(choose_lane_threads(3, 2, true, 8, 4), 3);   // as requested
  EXPECT_EQ(choose_lane_threads(0, 2, false, 8, 4), 2);  // as in the begun run
  EXPECT_EQ(choose_lane_threads(0, 0, true, 8, 4), 1);   // the same on any machine
  EXPECT_EQ(choose_lane_threads(0, 0, false, 8, 4), 2);
  EXPECT_EQ(choose_lane_threads(0, 0, false, 2, 4), 1);
  EXPECT_EQ(choose_lane_threads(0, 0, false, 8, 1), 8);
  for (const int cores : {1, 2, 7, 64}) {
    for (const int threads : {1, 2, 3}) {
      for (const std::int64_t micro_batches : {1, 2, 3, 24}) {
        const std::vector<int> lanes = choose_lanes(cores, threads, micro_batches, 1000);
        EXPECT_EQ(std::accumulate(lanes.begin(), lanes.end(), 0), micro_batches);
        EXPECT_GE(*std::ranges::min_element(lanes), 1);
        EXPECT_LE(*std::ranges::max_element(lanes) - *std::ranges::min_element(lanes), 1);
        EXPECT_TRUE(lanes.size() == 1 || static_cast<int>(lanes.size()) * threads <= cores);
        EXPECT_EQ(choose_lanes(cores, threads, micro_batches, 1).size(), 1U);
      }
    }
  }
}

constexpr std::size_t kMega = 1'000'000;
constexpr std::size_t kGiga = 1'000'000'000;

TEST(Memory, AsMuchOfWhatIsWishedAsFits) {
  const MemoryNeeds needs{
      .program = 100 * kMega,
      .weights = 100 * kMega,
      .optimizer = 100 * kMega,
      .packed = 50 * kMega,
      .lane = {.values = 200 * kMega, .scratch = 40 * kMega, .gradients = 60 * kMega},
      .evaluation = {.packed = 30 * kMega, .lane = {.values = 40 * kMega, .scratch = 10 * kMega}},
      .checkpoint = 20 * kMega,
      .batch = 10 * kMega};
  EXPECT_EQ(peak_bytes(needs, {}), 780 * kMega);
  const MemoryFit wished{.lanes = 4, .evaluation_lanes = 3, .batches_ahead = 2};
  EXPECT_EQ(peak_bytes(needs, wished), (780 + 3 * 300 + 2 * 50 + 10) * kMega);
  const auto fit = [&](std::size_t megabytes) {
    const MemoryFit got = fit_memory(needs, megabytes * kMega, wished, 32);
    EXPECT_EQ(got.peak, peak_bytes(needs, got));
    EXPECT_LE(got.peak, megabytes * kMega);
    return std::array{got.lanes, got.evaluation_lanes, got.batches_ahead};
  };
  EXPECT_EQ(fit(1790), (std::array{4, 3, 2}));
  EXPECT_EQ(fit(1789), (std::array{4, 3, 1}));
  EXPECT_EQ(fit(1779), (std::array{4, 2, 1}));
  EXPECT_EQ(fit(1680), (std::array{4, 1, 1}));
  EXPECT_EQ(fit(1679), (std::array{3, 1, 1}));
  EXPECT_EQ(fit(780), (std::array{1, 1, 1}));
}

TEST(Memory, WhatDoesNotFitIsRefusedWithWhatWould) {
  const MemoryNeeds needs{.program = 100 * kMega,
                          .weights = 200 * kMega,
                          .lane = {.values = 3200 * kMega},
                          .batch = 10 * kMega};
  const MemoryFit wished{.lanes = 8, .evaluation_lanes = 1, .batches_ahead = 2};
  const auto message = [&](std::size_t available) -> std::string {
    try {
      fit_memory(needs, available, wished, 32);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "it fits";
  };
  EXPECT_THAT(message(2 * kGiga), HasSubstr("needs 3.5 GB"));
  EXPECT_THAT(
      message(2 * kGiga),
      HasSubstr(
          "micro-batches of 32 (values 3.2 GB, weights 200 MB, program 100 MB, batches 30 MB)"));
  EXPECT_THAT(message(2 * kGiga), HasSubstr("only 2.0 GB is available"));
  EXPECT_THAT(message(2 * kGiga), HasSubstr("--micro-batch 16 or less"));
  EXPECT_THAT(message(250 * kMega), HasSubstr("only 250 MB is available"));
  EXPECT_THAT(message(250 * kMega), HasSubstr("a smaller --batch-size or net"));
  MemoryNeeds half = needs;
  half.lane.values /= 2;
  EXPECT_NO_THROW(fit_memory(half, 2 * kGiga, wished, 16));
}

TEST(Memory, ThePeakIsWhereMostIsHeldAtOnce) {
  MemoryNeeds needs{.program = 10 * kMega,
                    .lane = {.values = 100 * kMega, .gradients = 7 * kMega, .further = 5 * kMega},
                    .evaluation = {.packed = 1 * kMega,
                                   .lane = {.values = 30 * kMega, .scratch = 2 * kMega},
                                   .batches = 4 * kMega},
                    .checkpoint = 20 * kMega,
                    .batch = 3 * kMega,
                    .micro_batches = 3};
  const MemoryFit fit{.lanes = 2, .evaluation_lanes = 1, .batches_ahead = 1};
  // one of the two lanes has two micro-batches
  const std::size_t step = (10 + 200 + 14 + 5 + 9) * kMega;
  // Evaluation keeps its memory while a checkpoint is written.
  EXPECT_EQ(peak_bytes(needs, fit), step + (33 + 20) * kMega);
  EXPECT_EQ(parts_at_peak(needs, fit).at, MemoryPeak::kCheckpoint);
  // On a rank that writes no checkpoint, evaluation also holds batches.
  needs.checkpoint = 0;
  EXPECT_EQ(peak_bytes(needs, fit), step + (33 + 4) * kMega);
  EXPECT_EQ(parts_at_peak(needs, fit).at, MemoryPeak::kEvaluation);
  // Evaluation comes after the last checkpoint is complete.
  needs.checkpoint = 20 * kMega;
  needs.evaluation.before_saving = false;
  EXPECT_EQ(peak_bytes(needs, fit), step + 37 * kMega);
  needs.evaluation = {};
  EXPECT_EQ(peak_bytes(needs, fit), step + 20 * kMega);
  EXPECT_EQ(parts_at_peak(needs, fit).at, MemoryPeak::kCheckpoint);
  needs.checkpoint = 0;
  EXPECT_EQ(peak_bytes(needs, fit), step);
  EXPECT_EQ(parts_at_peak(needs, fit).at, MemoryPeak::kStep);
  // A lane with a single micro-batch needs no separate sum.
  needs.micro_batches = 2;
  EXPECT_EQ(peak_bytes(needs, fit), step - 5 * kMega);
}

TEST(Memory, WordsHaveTheLargestPartFirst) {
  const MemoryNeeds needs{.program = 30 * kMega,
                          .weights = 500'000,
                          .lane = {.values = 1200 * kMega},
                          .batch = 100 * kMega};
  EXPECT_EQ(in_words(parts_at_peak(needs, {})), "values 1.2 GB, batches 300 MB, program 30 MB");
}

TEST(RunState, ItsTextReadsBackToTheBit) {
  const RunState state{
      .step = 7,
      .epoch = 7.0 / 3.0,
      .writer = {.seed = ~0ULL, .ranks = 3, .plan = "abc"},
      .evaluated = false,
      .losses = {.interval = {1.0 / 3.0, 2}, .epoch = {0.1 + 0.2, 5}, .last_epoch = 1e-300},
      .interval_hits = {},
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
  count_samples(rows, 6, 4, {3, 8});  // 3 twice, 5 never
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
  // Counting the stream itself, three steps at a time, gives what is due.
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
  // Two blocks of three epochs: each of the three that take turns is due twice.
  for (const SampleId id : {3, 8, 21}) EXPECT_EQ(std::ranges::count(ids, id), 2);
  for (const SampleId id : {5, 13}) EXPECT_EQ(std::ranges::count(ids, id), 6);
  // Replace a due sample by one that is not, in each position.
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

StepTasks diamond(int lanes) {
  StepTasks step{.lanes = lanes, .threads = lanes};
  for (int lane = 0; lane < lanes; ++lane) step.tasks.push_back({Task::Kind::kBind, lane});
  Task all{.kind = Task::Kind::kFinish, .anywhere = true};
  for (int lane = 0; lane < lanes; ++lane) all.after.push_back(lane);
  step.tasks.push_back(all);
  for (int lane = 0; lane < lanes; ++lane) {
    Task after{Task::Kind::kUpdate, lane};
    after.after = {lanes};
    step.tasks.push_back(after);
  }
  return step;
}

// Each part waits until the others have begun, so all threads must take part at once. Patience is
// several minutes; then the test fails.
TEST(TaskRunner, ThreadsBeyondTheLanesHelp) {
  constexpr int kThreads = 5;
  StepTasks step{.lanes = 2, .threads = kThreads};
  step.tasks.push_back({.kind = Task::Kind::kBind, .lane = 1});
  for (int part = 0; part < kThreads; ++part) {
    step.tasks.push_back(
        {.kind = Task::Kind::kRead, .anywhere = true, .part = {part, kThreads}, .after = {0}});
  }
  TaskRunner runner(std::move(step));
  std::mutex mutex;
  std::condition_variable changed;
  bool together = true;
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::set<std::thread::id> begun;
    runner.run([&](const Task& task) {
      if (task.kind != Task::Kind::kRead) return;
      std::unique_lock lock(mutex);
      begun.insert(std::this_thread::get_id());
      changed.notify_all();
      const auto all = [&] { return begun.size() == kThreads || !together; };
      if (!changed.wait_for(lock, std::chrono::minutes(2), all)) together = false;
    });
    ASSERT_TRUE(together);
    EXPECT_EQ(begun.size(), std::size_t{kThreads});
  }
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

}  // namespace winnow::train::plan_test
