#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "app/live/columns.h"
#include "app/live/live_state.h"
#include "app/live/live_view.h"
#include "app/live/rank_rows.h"
#include "app/live/run_files.h"
#include "app/live/runs_view.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"
#include "train/run/log/metrics.h"

namespace winnow::app::live_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using train::MetricsRow;

std::size_t characters_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

// A line of training metrics. 100 images per step at 1,000 images/s take 0.1 s per step.
MetricsRow line(std::int64_t step, double wall, double loss, double waited, double exposed) {
  return {step,
          static_cast<double>(step) / 10,
          wall,
          {{"train.loss", loss},
           {"train.top1", 1 - loss / 4},
           {"train.total_ips", 1000},
           {"data.wait_time", waited},
           {"comm.exposed_time", exposed}}};
}

LiveState example() {
  LiveState state{.name = "run",
                  .batch = 100,
                  .pace = {.first = 0, .done = 6000, .total = 12000, .seconds = 60},
                  .note = "epoch 6, loss 0.25"};
  for (int i = 1; i <= 60; ++i) add(state, {line(i, i, 4.0 - i / 16.0, i * 0.02, i * 0.01)});
  add(state, {{60, 6, 60, {{"val.loss", 1.5}, {"val.top1", 0.625}}}});
  return state;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& each : lines) text += each + "\n";
  return text;
}

// `count` ranks; `slowest` computes `longer` seconds longer than the others.
LiveRanks some_ranks(std::size_t count, std::size_t slowest, double longer = 1) {
  LiveRanks ranks{.step = 60};
  for (std::size_t rank = 0; rank < count; ++rank) {
    const double more = rank == slowest ? longer : 0;
    ranks.table.hosts.push_back("h" + std::to_string(rank));
    ranks.table.figures.push_back({.compute = 2 + more,
                                   .data_wait = 0.25,
                                   .exposed = 1.5 - more,
                                   .reduction = 0.5,
                                   .received = 3 << 20,
                                   .sent = 2 << 20,
                                   .memory = 200 << 20});
  }
  return ranks;
}

TEST(LiveState, TellsStepsFromWhatLiesBetweenThem) {
  LiveState state{.batch = 100};
  add(state, {line(10, 1.0, 3, 0.25, 0.125), line(20, 4.0, 2, 0.75, 0.125)});
  // Ten steps take one second. The other two seconds were something else, such as an evaluation.
  EXPECT_NEAR(state.lately.data, 0.5, 1e-12);
  EXPECT_NEAR(state.lately.communication, 0, 1e-12);
  EXPECT_NEAR(state.lately.computing, 0.5, 1e-12);
  EXPECT_NEAR(state.lately.between, 2, 1e-12);
  EXPECT_NEAR(state.so_far.data, 0.75, 1e-12);
  EXPECT_NEAR(state.so_far.communication, 0.125, 1e-12);
  EXPECT_NEAR(state.so_far.all(), 4, 1e-12);
  EXPECT_EQ(state.images_per_second, 1000);
}

TEST(LiveState, CountersBeginAnewWhereARunGoesOn) {
  LiveState state{.batch = 100};
  add(state, {line(10, 1.0, 3, 0.75, 0.125), line(20, 2.0, 2, 0.25, 0.0625)});
  EXPECT_NEAR(state.lately.data, 0.25, 1e-12);
  EXPECT_NEAR(state.lately.communication, 0.0625, 1e-12);
  EXPECT_NEAR(state.lately.between, 0, 1e-12);
}

TEST(LiveState, EvaluationsArePointsOfTheirOwn) {
  const LiveState state = example();
  EXPECT_EQ(state.loss.train.size(), 60U);
  ASSERT_EQ(state.accuracy.val.size(), 1U);
  EXPECT_EQ(state.accuracy.val[0].value, 0.625);
  EXPECT_EQ(state.accuracy.val[0].epoch, 6);
  EXPECT_TRUE(state.accuracy.test.empty());
  EXPECT_EQ(state.last.step, 60);
}

TEST(LiveState, FollowsAFileThatGrowsAndOneThatBeginsAnew) {
  const TemporaryFolder folder;
  const fs::path path = folder / "metrics.jsonl";
  train::MetricsTail tail(path);
  LiveState state{.name = "run", .note = "here"};
  follow(state, tail);
  EXPECT_TRUE(state.loss.train.empty());
  train::MetricsLog log(path, -1);
  log.write({1, 0.5, 1, {{"train.loss", 2}}});
  follow(state, tail);
  follow(state, tail);
  EXPECT_EQ(state.loss.train.size(), 1U);
  AppendFile(path).append("{\"step\":2,\"epoch\":1,");  // the rest has not been written yet
  follow(state, tail);
  EXPECT_EQ(state.loss.train.size(), 1U);
  AppendFile(path).append(
      "\"wall\":2,\"train.loss\":1}\n{\"step\":3,\"epoch\":1e300,\"wall\":2}\n");
  follow(state, tail);
  ASSERT_EQ(state.loss.train.size(), 2U);
  EXPECT_EQ(state.loss.train[1].value, 1);
  train::MetricsLog(path, 1).write({2, 1, 3, {{"train.loss", 1.5}}});  // step 2 again
  follow(state, tail);
  ASSERT_EQ(state.loss.train.size(), 2U);
  EXPECT_EQ(state.loss.train[1].value, 1.5);
  EXPECT_EQ(state.note, "here");
  fs::remove(path);
}

TEST(LiveView, FillsATerminalOf80By24) {
  const auto lines = live_view(example(), 79, 24);
  EXPECT_EQ(lines.size(), 24U);
  const std::string text = joined(lines);
  EXPECT_THAT(lines[0], testing::StartsWith("winnow train  run "));
  EXPECT_THAT(lines[0], testing::EndsWith("  1 min 0 s left"));
  EXPECT_THAT(lines[1], HasSubstr("50.0 %  epoch 6, loss 0.25  1000 images/s"));
  EXPECT_THAT(text, HasSubstr("loss  ⠒⠒ training 0.25  o val 1.5"));
  EXPECT_THAT(text, HasSubstr("accuracy  ⠒⠒ training 93.8 %  o val 62.5 %"));
  EXPECT_THAT(text, HasSubstr("epoch 6"));
  EXPECT_THAT(text, HasSubstr("  7 %   2 %   1 %  90 %"));
}

TEST(LiveView, NeverLeavesTheTerminal) {
  LiveState state = example();
  state.name = std::string(300, 'n');
  state.sentences = {"first", "läßt " + std::string(400, 'u'), "third", "fourth"};
  state.ranks = some_ranks(5, 2);
  state.waits = {
      "10:31:05 waiting 12 s for rank 1 (h2), last seen in step 231, forward: its process is "
      "frozen, but its machine answers"};
  for (int width = 1; width <= 130; ++width) {
    for (int height = 1; height <= 60; ++height) {
      const auto lines = live_view(state, width, height);
      ASSERT_LE(lines.size(), static_cast<std::size_t>(height)) << width;
      for (const std::string& each : lines) {
        ASSERT_LE(characters_of(each), static_cast<std::size_t>(width)) << width << " x " << height;
      }
    }
  }
  EXPECT_THAT(joined(live_view(state, 79, 24)), HasSubstr("läßt uuu"));
  EXPECT_THAT(joined(live_view(state, 79, 24)), testing::Not(HasSubstr("first")));
}

TEST(LiveView, HasChartsSideBySideWhereTheyFit) {
  const auto lines = live_view(example(), 160, 20);
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& each) {
    return each.starts_with("loss ") && each.find("accuracy ") != std::string::npos;
  }));
}

// The lines of a chart of the training curve, without ticks.
std::vector<std::string> curve_of(const std::vector<LivePoint>& points) {
  LiveState state;
  state.loss.train = points;
  const auto lines = live_view(state, 18, 12);  // eight columns, four rows of curve
  std::vector<std::string> curve;
  for (const std::string& each : lines) {
    const std::size_t at = each.find("│");
    if (at != std::string::npos) curve.push_back(each.substr(at + std::string("│").size()));
  }
  return curve;
}

TEST(LiveView, DrawsAStraightLineStraight) {
  EXPECT_THAT(curve_of({{0, 1}, {1, 0}}),
              ElementsAre("⠑⢄      ", "  ⠑⢄    ", "    ⠑⢄  ", "      ⠑⢄"));
  EXPECT_THAT(curve_of({{0, 0}, {1, 1}}),
              ElementsAre("      ⡠⠊", "    ⡠⠊  ", "  ⡠⠊    ", "⡠⠊      "));
}

TEST(LiveView, DrawsOnePointAndNone) {
  EXPECT_THAT(curve_of({{1, 3}}), ElementsAre("        ", "       ⢀", "        ", "        "));
  EXPECT_THAT(curve_of({}), ElementsAre("        ", "        ", "        ", "        "));
}

TEST(LiveView, SharesOfTimeAddUpToTheBar) {
  LiveState state;
  state.lately = {.computing = 5, .data = 2.5, .communication = 1.25, .between = 1.25};
  const auto lines = live_view(state, 72, 24);  // 40 columns of bar
  std::string bar;
  for (const auto& [sign, count] :
       std::vector<std::pair<std::string, int>>{{"█", 20}, {"▓", 10}, {"▒", 5}, {"░", 5}}) {
    for (int i = 0; i < count; ++i) bar += sign;
  }
  EXPECT_THAT(joined(lines), HasSubstr("lately  " + bar + "  50 %  25 %  12 %  12 %"));
  EXPECT_THAT(joined(lines),
              HasSubstr("so far  " + std::string(40, ' ') + "   - %   - %   - %   - %"));
}

TEST(RankRows, MarkTheSlowestAndSayWhoWaits) {
  LiveState state = example();
  state.ranks = some_ranks(2, 1);
  EXPECT_THAT(rank_rows(state, 79, 8),
              ElementsAre("ranks, to step 60         compute  data wait    exposed     memory",
                          "  rank 0 (h0)               2.0 s     0.25 s      1.5 s    200 MiB",
                          "> rank 1 (h1)               3.0 s     0.25 s     0.50 s    200 MiB",
                          "others wait for rank 1 (h1): 3.2 s against 2.2 s, in computing"));
}

TEST(RankRows, HaveMoreColumnsAndABarWhereTheyFit) {
  LiveState state = example();
  state.ranks = some_ranks(2, 1);
  const auto lines = rank_rows(state, 199, 8);
  EXPECT_THAT(lines[0], HasSubstr("memory  reduction   received       sent"));
  EXPECT_THAT(lines[1], HasSubstr("200 MiB     0.50 s    3.0 MiB    2.0 MiB  ███"));
  EXPECT_THAT(lines[2], HasSubstr("█▓"));
  EXPECT_GT(std::ranges::count(lines[2], '\x88'), std::ranges::count(lines[1], '\x88'))
      << "the slowest computes longest";
  EXPECT_THAT(lines[0], testing::Not(HasSubstr("card")));
  state.ranks.table.figures[1].temperature = 61.4;
  EXPECT_THAT(rank_rows(state, 199, 8)[0], HasSubstr("sent       card"));
  EXPECT_THAT(rank_rows(state, 199, 8)[1], HasSubstr("2.0 MiB          -"));
  EXPECT_THAT(rank_rows(state, 199, 8)[2], HasSubstr("2.0 MiB      61 °C"));
}

TEST(RankRows, BeginWithTheSlowestWhereNotAllFit) {
  LiveState state = example();
  state.ranks = some_ranks(40, 33);
  const auto lines = rank_rows(state, 79, 8);
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_THAT(lines[1], testing::StartsWith("> rank 33 (h33)"));
  EXPECT_THAT(lines[2], testing::StartsWith("  rank 0 (h0)"));
  EXPECT_EQ(lines[6], "  and 35 more, none slower");
  EXPECT_EQ(rank_rows(state, 79, 42).size(), 42U);
  EXPECT_THAT(rank_rows(state, 79, 42)[34], testing::StartsWith("> rank 33 (h33)"));
}

TEST(RankRows, AreNotThereOfOneRankNorOfRunsThatStoredNone) {
  LiveState state = example();
  EXPECT_THAT(rank_rows(state, 79, 8), ElementsAre());
  state.ranks = some_ranks(1, 0);
  EXPECT_THAT(rank_rows(state, 79, 8), ElementsAre());
}

TEST(RankRows, AreTheSpreadOfMetricsWhereRanksAreNotStored) {
  LiveState state = example();
  state.last.values["ranks.slowest"] = 3;
  for (const auto& [end, value] :
       std::vector<std::pair<std::string, double>>{{".min", 1.5}, {".median", 2}, {".max", 12}}) {
    state.last.values["ranks.compute" + end] = value;
  }
  const auto lines = rank_rows(state, 79, 8);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "  least                     1.5 s          -          -          -");
  EXPECT_EQ(lines[3], "  greatest                   12 s          -          -          -");
}

TEST(RankRows, SayThatNobodyWaitsWhereNobodyDoes) {
  EXPECT_EQ(waits_of(some_ranks(3, 1, 0.05).table), "no rank waits long for another");
  EXPECT_EQ(waits_of(some_ranks(1, 0).table), "");
  train::RankTable ranks = some_ranks(3, 1, 0).table;
  ranks.figures[2].data_wait = 9;
  EXPECT_EQ(waits_of(ranks),
            "others wait for rank 2 (h2): 11 s against 2.2 s, in waiting for data");
}

TEST(LiveView, ShowsRanksAndChartsIn80By24) {
  LiveState state = example();
  state.ranks = some_ranks(4, 2);
  state.waits = {"10:31:05 waiting 12 s for rank 1 (h2)"};
  state.sentences = {"Ctrl-C leaves this view, not the run"};
  const auto lines = live_view(state, 79, 24);
  EXPECT_EQ(lines.size(), 24U);
  const std::string text = joined(lines);
  EXPECT_THAT(text,
              HasSubstr("loss  ⠒⠒ training 0.25  o val 1.5       accuracy  ⠒⠒ 93.8 %  o 62.5 %"))
      << "charts side by side, and a key that would not fit is short";
  EXPECT_THAT(text, HasSubstr("> rank 2 (h2)"));
  EXPECT_THAT(text, HasSubstr("10:31:05 waiting 12 s for rank 1 (h2)\nCtrl-C"));
}

TEST(Columns, LongSentencesGoOnInFurtherLines) {
  EXPECT_THAT(wrapped("waiting for rank 1 (h2)", 79, 3), ElementsAre("waiting for rank 1 (h2)"));
  EXPECT_THAT(wrapped("waiting for rank 1 (h2), forward: its process is frozen", 20, 9),
              ElementsAre("waiting for rank 1", "  (h2), forward: its", "  process is frozen"));
  EXPECT_THAT(wrapped("waiting for rank 1 (h2), forward: its process is frozen", 20, 2),
              ElementsAre("waiting for rank 1", "  (h2), forward: its"));
  EXPECT_THAT(wrapped("läßt uns", 4, 3), ElementsAre("läßt", "  un"))
      << "a word longer than a line";
  EXPECT_THAT(wrapped("", 4, 3), ElementsAre(""));
  EXPECT_THAT(wrapped(" begins blank", 5, 3), ElementsAre(" begi"));
}

TEST(RunsView, HasARowARun) {
  LiveState one = example();
  one.name = "lars/seed-1";
  one.ranks = some_ranks(4, 2);
  one.waits = {"10:31:05 waiting 12 s for rank 1 (h2)"};
  LiveState two{.name = "new"};
  two.is_over = true;
  auto lines = runs_view({one, two}, 79, 24);
  EXPECT_THAT(lines,
              ElementsAre("winnow watch  2 runs", "",
                          "run             done  epoch     loss  accuracy  images/s         left",
                          "lars/seed-1   50.0 %   6.00   0.2500   62.50 %      1000    1 min 0 s",
                          "new                -   0.00        -         -         -        ended",
                          "lars/seed-1: 10:31:05 waiting 12 s for rank 1 (h2)"));
  lines = runs_view({one, two}, 199, 24);
  EXPECT_THAT(lines[2], HasSubstr("left  slowest                   loss"));
  EXPECT_THAT(lines[3], HasSubstr("rank 2, compute"));
  EXPECT_THAT(lines[3], HasSubstr("⠤"));
}

TEST(RunsView, NeverLeavesTheTerminal) {
  std::vector<LiveState> runs;
  for (int i = 0; i < 9; ++i) {
    runs.push_back(example());
    runs.back().name = "läufe/" + std::string(static_cast<std::size_t>(20 * i), 'n');
    runs.back().ranks = some_ranks(3, 1);
    runs.back().waits = {std::string(300, 'w')};
  }
  for (int width = 1; width <= 220; width += 3) {
    for (int height = 1; height <= 14; ++height) {
      const auto lines = runs_view(runs, width, height);
      ASSERT_LE(lines.size(), static_cast<std::size_t>(height));
      for (const std::string& each : lines) {
        ASSERT_LE(characters_of(each), static_cast<std::size_t>(width)) << width << " x " << height;
      }
    }
  }
  EXPECT_EQ(runs_view(runs, 79, 8).back(), "and more; a higher terminal shows them");
}

TEST(RunLine, SaysWhatIsKnown) {
  LiveState run = example();
  run.note = "epoch 6.00 of 12";
  EXPECT_EQ(run_line(run),
            "run: step 60, epoch 6.00 of 12, 50.0 %, loss 0.2500, val 62.50 %, 1000 images/s, 1 "
            "min 0 s left");
  run.ranks = some_ranks(2, 1);
  EXPECT_THAT(run_line(run), HasSubstr("left; others wait for rank 1 (h1): 3.2 s against 2.2 s"));
  run.is_over = true;
  EXPECT_EQ(run_line(run),
            "run: step 60, epoch 6.00 of 12, 50.0 %, loss 0.2500, val 62.50 %; ended");
  EXPECT_EQ(run_line({.name = "new"}), "new: no step is logged yet");
}

TEST(RunFiles, RanksAreReadBackAndDamagedOnesPassedOver) {
  const LiveRanks ranks = some_ranks(3, 1);
  const std::string text = train::ranks_json(ranks.table, "0123456789abcdef", 60, 1.5);
  const auto read = parse_ranks(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->step, 60);
  EXPECT_EQ(read->table.hosts, ranks.table.hosts);
  EXPECT_EQ(read->table.figures, ranks.table.figures);
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_FALSE(parse_ranks(text.substr(0, size))) << size;
  }
  std::string other = text;
  other.replace(other.find("ranks/1"), 7, "ranks/2");
  EXPECT_FALSE(parse_ranks(other));
  other = text;
  other.replace(other.find("\"rank\":1"), 8, "\"rank\":7");
  EXPECT_FALSE(parse_ranks(other));
  EXPECT_FALSE(parse_ranks(R"({"schema":"winnow.ranks/1","step":1,"ranks":[{"rank":0}]})"));
}

TEST(RunFiles, LinesOfHealthAreSaidOnceAndInOrder) {
  EXPECT_THAT(newest_lines({"2026-11-26T10:31:05+0000 waiting 12 s for rank 1 (h2)\n"
                            "2026-11-26T10:31:09+0000 rank 1 (h2) goes on\n",
                            "2026-11-26T10:31:05+0000 waiting 12 s for rank 1 (h2)\n"
                            "2026-11-26T10:31:07+0000 the link\n"
                            "2026-11-26T10:3"},
                           2),
              ElementsAre("10:31:07 the link", "10:31:09 rank 1 (h2) goes on"));
  EXPECT_EQ(
      newest_lines({"2026-11-26T10:31:05+0000 a\n", "2026-11-26T10:31:05+0000 a\n"}, 9).size(), 1U);
  EXPECT_THAT(newest_lines({}, 2), ElementsAre());
  EXPECT_THAT(newest_lines({"of a line that begins before\n\nno date\n"}, 2), ElementsAre());
}

}  // namespace winnow::app::live_test
