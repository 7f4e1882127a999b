#include "train/run/log/rank_metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "train/run/log/rank_traffic.h"

namespace winnow::train::rank_metrics_test {

RankFigures works(double compute, double data_wait) {
  return {.compute = compute, .data_wait = data_wait};
}

TEST(RankMetrics, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(spread_of({3}), (Spread{3, 3, 3}));
  EXPECT_EQ(spread_of({7, 1}), (Spread{1, 4, 7}));
  EXPECT_EQ(spread_of({9, 1, 2}), (Spread{1, 2, 9}));
  EXPECT_EQ(spread_of({9, 4, 1, 2}), (Spread{1, 3, 9}));
}

TEST(RankMetrics, SlowestIsWhoWorksLongestBeforeTheSums) {
  std::vector<RankFigures> figures{works(1, 0.1), works(3, 0.1), works(1, 0.1), works(1.2, 0.1)};
  figures[0].exposed = 2;  // the rank that waits longest for others is not the slow one
  figures[1].exposed = 0;
  const RankSummary summary = summarise_ranks(figures);
  EXPECT_EQ(summary.slowest, 1U);
  EXPECT_EQ(summary.slowest_in, "compute");
}

TEST(RankMetrics, SlowInDataIsWhoWaitsLongerThanTheMedianByMore) {
  EXPECT_EQ(summarise_ranks(std::vector{works(2, 0), works(2.1, 1), works(2, 0)}).slowest_in,
            "data");
  EXPECT_EQ(summarise_ranks(std::vector{works(2, 0), works(2, 1)}).slowest, 1U);
  // All wait for data, and one also computes longer.
  const RankSummary all = summarise_ranks(std::vector{works(1, 9), works(2, 9), works(1, 9)});
  EXPECT_EQ(all.slowest, 1U);
  EXPECT_EQ(all.slowest_in, "compute");
}

TEST(RankMetrics, OfEqualRanksTheLowestIsSlowestInWhatItTakesLongerFor) {
  const RankSummary equal = summarise_ranks(std::vector{works(1, 2), works(1, 2)});
  EXPECT_EQ(equal.slowest, 0U);
  EXPECT_EQ(equal.slowest_in, "data");
  EXPECT_EQ(summarise_ranks(std::vector{works(2, 1)}).slowest_in, "compute");
  EXPECT_EQ(summarise_ranks(std::vector{works(0, 0)}).slowest_in, "compute");
}

TEST(RankMetrics, TemperatureIsOfThoseThatHaveOne) {
  std::vector<RankFigures> figures(3);
  EXPECT_FALSE(summarise_ranks(figures).temperature);
  figures[1].temperature = 61;
  figures[2].temperature = 55;
  EXPECT_EQ(summarise_ranks(figures).temperature, (Spread{55, 58, 61}));
}

TEST(RankMetrics, EntersEveryColumnInThreeFiguresAndTheSlowestWithItsMachine) {
  std::vector<RankFigures> figures(2);
  double next = 1;
  for (const RankColumn& column : kRankColumns) {
    figures[0].*column.value = next;
    figures[1].*column.value = next + 2;
    next += 10;
  }
  std::map<std::string, double> values{{"train.loss", 1}};
  std::map<std::string, std::string> texts;
  enter(summarise_ranks(figures), std::vector<std::string>{"h1", "h2"}, values, texts);
  EXPECT_EQ(values.size(), 1 + 3 * kRankColumns.size() + 1);
  next = 1;
  for (const char* name :
       {"compute", "data_wait", "exposed", "reduction", "received", "sent", "memory"}) {
    const std::string prefix = std::string("ranks.") + name;
    EXPECT_EQ(values.at(prefix + ".min"), next) << name;
    EXPECT_EQ(values.at(prefix + ".median"), next + 1) << name;
    EXPECT_EQ(values.at(prefix + ".max"), next + 2) << name;
    next += 10;
  }
  EXPECT_EQ(values.at("ranks.slowest"), 1);
  const std::map<std::string, std::string> expected{{"ranks.slowest_host", "h2"},
                                                    {"ranks.slowest_in", "data"}};
  EXPECT_EQ(texts, expected);
}

TEST(RankMetrics, WordsKeepEveryBit) {
  const RankFigures figures{.compute = 1.0 / 3,
                            .data_wait = std::numeric_limits<double>::denorm_min(),
                            .exposed = 1e-9,
                            .reduction = 2,
                            .received = 9007199254740993.0,
                            .sent = 0,
                            .memory = 1e12,
                            .temperature = 47.5};
  EXPECT_EQ(figures_of_words(to_words(figures)), figures);
  RankFigures cold = figures;
  cold.temperature.reset();
  EXPECT_EQ(figures_of_words(to_words(cold)), cold);
}

TEST(RankMetrics, JsonHasARowOfEachRankWithTemperatureWhereThereIsOne) {
  RankTable ranks{.hosts = {"h1", "caf\xe9"}, .figures = {works(1, 2), works(3, 4)}};
  ranks.figures[1].temperature = 50;
  const auto json = nlohmann::json::parse(ranks_json(ranks, "00112233aabbccdd", 40, 1.5e9));
  EXPECT_EQ(json["schema"], "winnow.ranks/1");
  EXPECT_EQ(json["step"], 40);
  EXPECT_EQ(json["time"], 1.5e9);
  ASSERT_EQ(json["ranks"].size(), 2U);
  EXPECT_EQ(json["ranks"][0]["host"], "h1");
  EXPECT_EQ(json["ranks"][0]["compute"], 1);
  EXPECT_FALSE(json["ranks"][0].contains("temperature"));
  EXPECT_EQ(json["ranks"][1]["rank"], 1);
  EXPECT_EQ(json["ranks"][1]["host"], "caf\xee\xbf\xa9");  // U+EFE9, as in other names
  EXPECT_EQ(json["ranks"][1]["data_wait"], 4);
  EXPECT_EQ(json["ranks"][1]["temperature"], 50);
}

// Three elements are sent, five received.
std::vector<comm::Transfer> some_transfers() {
  using Kind = comm::Transfer::Kind;
  return {{Kind::kSend, 1, 0, 0, 0, 3},
          {Kind::kReceiveAdd, 1, 0, 0, 0, 1},
          {Kind::kReceiveCopy, 1, 0, 1, 0, 4}};
}

TEST(RankTraffic, CountsElementsByWhatTheyTakeOnTheirWay) {
  Execution execution;
  EXPECT_EQ(traffic_of_step(execution), (Traffic{0, 0}));
  execution.transfers.buckets = {some_transfers(), {}};
  EXPECT_EQ(traffic_of_step(execution), (Traffic{12, 20}));
  execution.sums = Sums::kBF16Feedback;
  EXPECT_EQ(traffic_of_step(execution), (Traffic{6, 10}));
  execution.transfers.tail = some_transfers();  // always sent as f32
  EXPECT_EQ(traffic_of_step(execution), (Traffic{18, 30}));
  execution.transfers.parts[1].between = some_transfers();
  EXPECT_EQ(traffic_of_step(execution), (Traffic{24, 40}));
}

TEST(RankTraffic, WholeNumbersTakeEightBytesAndTheirExponentsFour) {
  Execution execution{.sums = Sums::kWholeNumbers};
  execution.transfers.buckets = {some_transfers()};
  execution.transfers.exponents = some_transfers();
  EXPECT_EQ(traffic_of_step(execution), (Traffic{24 + 12, 40 + 20}));
  execution.transfers.exchanges = {some_transfers(), some_transfers()};
  EXPECT_EQ(traffic_of_step(execution), (Traffic{24 + 36, 40 + 60}));
}

}  // namespace winnow::train::rank_metrics_test
