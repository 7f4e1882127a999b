#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "train/step/trace_recorder.h"
#include "train/trace/clock_offset.h"
#include "train/trace/trace_json.h"
#include "train/trace/trace_steps.h"

namespace winnow::train::trace_test {

using Row = TraceSpan::Row;
using nlohmann::json;
using testing::HasSubstr;

TEST(TraceSteps, AreFirstAndLastOrACountBehindTheWarmUp) {
  EXPECT_EQ(parse_trace_steps("20-25"), (TraceSteps{.first = 20, .last = 25}));
  EXPECT_EQ(parse_trace_steps("7"), (TraceSteps{.first = 7, .last = 7}));
  EXPECT_EQ(parse_trace_steps("+6"), (TraceSteps{.count = 6}));
  EXPECT_EQ(steps_from(parse_trace_steps("+6"), 100), (TraceSteps{.first = 111, .last = 116}));
  EXPECT_EQ(steps_from(parse_trace_steps("20-25"), 100), (TraceSteps{.first = 20, .last = 25}));
  EXPECT_EQ(in_words({.first = 3, .last = 3}), "step 3");
  EXPECT_EQ(in_words({.first = 3, .last = 4}), "steps 3 to 4");
}

TEST(TraceSteps, OthersAreRefused) {
  for (const char* text : {"", "0", "0-5", "-5", "5-", "6-5", "+0", "+", "+-1", "a", "5-6-7", "5 6",
                           "99999999999999999999", "-", "--", "1-5x"}) {
    EXPECT_THROW(parse_trace_steps(text), UsageError) << text;
  }
  EXPECT_NO_THROW(parse_trace_steps("1-1000"));
  EXPECT_THROW(parse_trace_steps("1-1001"), UsageError);
  EXPECT_THROW(parse_trace_steps("+1001"), UsageError);
}

// Simulates a meeting of two clocks; the second is ahead by `offset` ns. Rank 0 arrives `early` ns
// before the other. Each rank learns `late` ns after both have arrived that they have.
void meet(std::int64_t now, std::int64_t offset, std::int64_t early, std::int64_t late,
          std::vector<Meeting>& root, std::vector<Meeting>& rank) {
  const std::int64_t all_came = now + std::max<std::int64_t>(0, early);
  root.push_back({now, all_came + late});
  rank.push_back({now + early + offset, all_came + 2 * late + offset});
}

TEST(ClockOffset, HoldsTheTrueOneWithinItsError) {
  for (const std::int64_t offset : {0L, 5'000'000'000L, -7'777'777L}) {
    std::vector<Meeting> root;
    std::vector<Meeting> rank;
    std::int64_t width = 0;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t early = (i * 7919 % 13 - 6) * 1000;
      const std::int64_t late = 500 + i * 7907 % 17 * 300;
      meet(1'000'000'000 + i * 50'000, offset, early, late, root, rank);
      const ClockOffset found = offset_of(root, rank);
      EXPECT_LE(std::abs(found.ns - offset), found.error_ns) << offset << ' ' << i;
      if (i > 0) {
        EXPECT_LE(found.error_ns, width) << "more meetings know no less";
      }
      width = found.error_ns;
    }
    EXPECT_LE(width, 3000);
  }
}

TEST(ClockOffset, IsExactWhereBothComeAtOnceAndHearAtOnce) {
  EXPECT_EQ(offset_of(std::vector<Meeting>{{100, 102}}, std::vector<Meeting>{{1100, 1102}}),
            (ClockOffset{.ns = 1000, .error_ns = 2}));
}

TEST(ClockLine, TakesWhatClocksDifferEvenlyFromBeginningToEnd) {
  const ClockLine line{
      .begin_ns = 1000, .end_ns = 2000, .begin_offset_ns = 500, .end_offset_ns = 520};
  EXPECT_EQ(line.of_root(1000), 500);
  EXPECT_EQ(line.of_root(1500), 990);
  EXPECT_EQ(line.of_root(2000), 1480);
  std::int64_t before = line.of_root(0);
  for (std::int64_t ns = 1; ns < 3000; ++ns) {
    ASSERT_GE(line.of_root(ns), before) << ns;
    before = line.of_root(ns);
  }
  EXPECT_EQ((ClockLine{.begin_offset_ns = 5, .end_offset_ns = 5}.of_root(7)), 2);
}

TraceRecord example() {
  return {
      .spans = {{.row = Row::kDataWait,
                 .step = 4,
                 .begin_ns = 1100,
                 .end_ns = 1200,
                 .name = "wait for batch"},
                {.row = Row::kThread,
                 .step = 4,
                 .begin_ns = 1210,
                 .end_ns = 3000,
                 .name = "backward",
                 .thread = 0,
                 .micro_batch = 2},
                {.row = Row::kCommunication,
                 .step = 4,
                 .begin_ns = 2000,
                 .end_ns = 4000,
                 .name = "bucket 0 all-reduce",
                 .bytes = 64},
                {.row = Row::kCommunication,
                 .step = 4,
                 .begin_ns = 3000,
                 .end_ns = 4500,
                 .name = "bucket 1 all-reduce",
                 .bytes = 32},
                {.row = Row::kCommunication,
                 .step = 4,
                 .begin_ns = 4000,
                 .end_ns = 4600,
                 .name = "bucket 2 all-reduce",
                 .bytes = 32},
                {.row = Row::kThread,
                 .step = 4,
                 .begin_ns = 3000,
                 .end_ns = 3100,
                 .name = "bucket 1 add",
                 .thread = 1},
                {.row = Row::kStep, .step = 4, .begin_ns = 1100, .end_ns = 5000, .name = "step 4"}},
      .lanes = {0, kAnyLane}};
}

json events_of(const TraceRecord& record, const TracedRank& rank) {
  return json::parse("[" + trace_events(record, rank) + "]");
}

const json* find(const json& events, const std::string& name) {
  for (const json& event : events) {
    if (event["name"] == name) return &event;
  }
  return nullptr;
}

TEST(TraceJson, HasARowForEachThreadAndForCollectivesThatOverlap) {
  const json events = events_of(example(), {.rank = 1, .host = "h\"2", .zero_ns = 1000});
  EXPECT_EQ(events[0]["args"]["name"], "rank 1 (h\"2)");
  std::map<int, std::string> rows;
  for (const json& event : events) {
    EXPECT_EQ(event["pid"], 2);
    if (event["name"] == "thread_name") rows[event["tid"]] = event["args"]["name"];
  }
  EXPECT_EQ(rows, (std::map<int, std::string>{{2, "steps"},
                                              {1000000, "data wait"},
                                              {1001000, "lane 0"},
                                              {1001001, "helper (thread 1)"},
                                              {1003000, "communication"},
                                              {1003001, "communication 2"}}));
  EXPECT_EQ((*find(events, "bucket 0 all-reduce"))["tid"], 1003000);
  EXPECT_EQ((*find(events, "bucket 1 all-reduce"))["tid"], 1003001);
  EXPECT_EQ((*find(events, "bucket 2 all-reduce"))["tid"], 1003000) << "it begins where 0 ends";
}

TEST(TraceJson, SaysTimesInMicrosecondsOfRank0) {
  const json events =
      events_of(example(),
                {.rank = 1, .clock = {.begin_offset_ns = 100, .end_offset_ns = 100}, .zero_ns = 0});
  const json& backward = *find(events, "backward");
  EXPECT_EQ(backward["ph"], "X");
  EXPECT_DOUBLE_EQ(backward["ts"], 1.110);
  EXPECT_DOUBLE_EQ(backward["dur"], 1.790);
  EXPECT_EQ(backward["args"], (json{{"step", 4}, {"micro_batch", 2}}));
  EXPECT_EQ((*find(events, "bucket 0 all-reduce"))["args"], (json{{"step", 4}, {"bytes", 64}}));
  EXPECT_THAT(trace_events(example(), {.zero_ns = 2100}), HasSubstr(R"("ts":-1.000,)"));
}

TEST(TraceJson, IsOneObjectOfAllRanks) {
  const json trace = json::parse(
      trace_json({trace_events(example(), {.rank = 0}), trace_events(example(), {.rank = 1})},
                 {.first_step = 4, .last_step = 5, .clock_errors_ns = {0, 12'345}}));
  EXPECT_EQ(trace["otherData"]["schema"], "winnow.trace/1");
  EXPECT_EQ(trace["otherData"]["first_step"], 4);
  EXPECT_EQ(trace["otherData"]["clock_error_us"], (json{0.0, 12.345}));
  EXPECT_EQ(trace["traceEvents"].size(),
            2 * json::parse("[" + trace_events(example(), {}) + "]").size());
}

// Nets in stages alternate between forward and backward.
TEST(TraceRecorder, CutsTasksWherePassesTurn) {
  TraceRecorder recorder;
  recorder.set_turns({4, 8, 10});
  recorder.begin_step(1);
  recorder.record({.kind = Task::Kind::kCompute, .lane = 0, .first_node = 2, .last_node = 12},
                  [](const Task&) {});
  recorder.end_step();
  std::vector<std::string> names;
  for (const TraceSpan& span : recorder.take().spans) names.push_back(span.name);
  EXPECT_THAT(names, testing::ElementsAre("forward", "backward", "forward", "backward", "step 1"));
}

TEST(TraceRecorder, WritesDownTasksByThreadsAndTheUpdateAsAWhole) {
  TraceRecorder recorder;
  EXPECT_FALSE(recorder.is_on());
  recorder.end_step();  // a step that is not traced
  recorder.set_turns({10});
  recorder.begin_step(3);
  EXPECT_TRUE(recorder.is_on());
  std::vector<std::pair<std::size_t, std::size_t>> ran;
  const auto perform = [&](const Task& task) {
    recorder.record(task, [&](const Task& part) {
      if (part.kind == Task::Kind::kCompute) ran.emplace_back(part.first_node, part.last_node);
    });
  };
  perform({.kind = Task::Kind::kBind, .lane = 1, .micro_batch = 7});
  perform({.kind = Task::Kind::kCompute, .lane = 1, .first_node = 0, .last_node = 4});
  perform({.kind = Task::Kind::kCompute, .lane = 1, .first_node = 4, .last_node = 12});
  perform({.kind = Task::Kind::kCompute, .lane = 1, .first_node = 12, .last_node = 15});
  using Nodes = std::pair<std::size_t, std::size_t>;
  EXPECT_THAT(ran, testing::ElementsAre(Nodes(0, 4), Nodes(4, 10), Nodes(10, 12), Nodes(12, 15)));
  std::thread([&] {
    perform({.kind = Task::Kind::kReduce, .anywhere = true, .bucket = 2});
    recorder.end_collective(recorder.begin_collective(Row::kCommunication, 16));
    recorder.end_collective(recorder.begin_collective(Row::kDataExchange, 8));
  }).join();
  perform({.kind = Task::Kind::kBeginUpdate, .anywhere = true});
  perform({.kind = Task::Kind::kUpdate, .anywhere = true, .bucket = 0});
  recorder.end_step();
  EXPECT_FALSE(recorder.is_on());

  const TraceRecord record = recorder.take();
  EXPECT_EQ(record.lanes, (std::vector<int>{1, kAnyLane}));
  std::vector<std::string> names;
  for (const TraceSpan& span : record.spans) {
    EXPECT_EQ(span.step, 3);
    EXPECT_LE(span.begin_ns, span.end_ns);
    names.push_back(span.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("bind micro-batch", "forward", "forward", "backward",
                                          "backward", "bucket 2 all-reduce, begin",
                                          "bucket 2 all-reduce", "data exchange", "begin update",
                                          "bucket 0 update", "update", "step 3"));
  EXPECT_EQ(record.spans[0].micro_batch, 7);
  EXPECT_EQ(record.spans[5].thread, 1);
  EXPECT_EQ(record.spans[9].thread, 0);
  const TraceSpan& update = record.spans[10];
  EXPECT_LE(update.begin_ns, record.spans[8].begin_ns);
  EXPECT_EQ(update.end_ns, record.spans[9].end_ns);
  EXPECT_TRUE(recorder.take().spans.empty());
}

}  // namespace winnow::train::trace_test
