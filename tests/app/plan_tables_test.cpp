#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/plan/tables.h"

namespace winnow::app::plan_tables_test {

using testing::HasSubstr;

PlanRow row_of(std::int64_t micro_batch, double forward) {
  const train::MemoryNeeds needs{.program = 50'000'000,
                                 .weights = 100'000'000,
                                 .lane = {.values = 7'000'000 * std::size_t(micro_batch)},
                                 .batch = 3'000'000};
  PlanRow row{.micro_batch = micro_batch, .lane_threads = 1};
  row.memory = {.lanes = 2, .evaluation_lanes = 1, .batches_ahead = 2};
  row.memory.peak = train::peak_bytes(needs, row.memory);
  row.parts = train::parts_at_peak(needs, row.memory);
  row.fits = row.is_allowed = true;
  row.step = train::StepSeconds{.forward = forward, .backward = 2 * forward, .update = 0.0123};
  row.step_how = How::kMeasured;
  return row;
}

PlanReport report() {
  PlanReport report{.net = "resnet20", .side_px = 32, .images = 50'000, .batch = 128};
  report.rank_images = 128;
  report.available = 8'000'000'000;
  report.rows = {row_of(16, 0.5), row_of(32, 0.4)};
  report.best = 1;
  report.time = PlanTime{.start = 1.5,
                         .steps = 480,
                         .evaluation = 20,
                         .checkpoint = 0.1,
                         .epochs = 10,
                         .range = {4800, 5200}};
  report.flags = {{"net", "resnet20"}, {"micro-batch", "32"}};
  return report;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

// The lines after the one that begins with `head`.
std::vector<std::vector<std::string>> table(const std::string& text, const std::string& head,
                                            std::size_t rows) {
  std::istringstream in(text.substr(text.find(head)));
  std::string line;
  std::getline(in, line);
  std::getline(in, line);  // column names
  std::vector<std::vector<std::string>> out;
  for (std::size_t i = 0; i < rows && std::getline(in, line); ++i) {
    if (line.starts_with("* ")) line = line.substr(2);
    out.push_back(words(line));
  }
  return out;
}

TEST(PlanTables, EveryNumberOfTheJsonIsTheTables) {
  const PlanReport of = report();
  const std::string text = tables_of(of);
  const auto json = nlohmann::ordered_json::parse(json_of(of).dump());
  const auto memory = table(text, "memory in MB", 2);
  const auto time = table(text, "a step of", 2);
  ASSERT_EQ(memory.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& row = json["rows"][i];
    EXPECT_EQ(memory[i][0], std::to_string(row["micro_batch"].get<int>()));
    EXPECT_EQ(memory[i][1], std::to_string(row["lanes"].get<int>()) + "x" +
                                std::to_string(row["lane_threads"].get<int>()));
    EXPECT_EQ(std::stol(memory[i][2]),
              std::lround(1e-6 * row["memory"]["peak_bytes"].get<double>()));
    EXPECT_EQ(memory[i][3], row["memory"]["at"].get<std::string>());
    std::size_t column = 4;
    for (const auto& [name, bytes] : row["memory"]["parts"].items()) {
      EXPECT_EQ(std::stol(memory[i][column++]), std::lround(1e-6 * bytes.get<double>())) << name;
    }
    EXPECT_EQ(column, memory[i].size());
    std::vector<double> numbers;
    for (const char* name : {"total_s", "forward_s", "backward_s", "sums_s", "update_s", "data_s",
                             "ranks_s", "idle_s"}) {
      numbers.push_back(1e3 * row["step"][name].get<double>());
    }
    numbers.push_back(row["images_per_second"]["value"].get<double>());
    std::size_t at = 2;
    for (const double number : numbers) {
      if (time[i][at] == "m") ++at;
      EXPECT_NEAR(std::stod(time[i][at++]), number, 0.0501) << at;
    }
  }
  EXPECT_EQ(json["best"], 1);
  EXPECT_THAT(text, HasSubstr("flags: --net resnet20 --micro-batch 32"));
}

TEST(PlanTables, PartsAddUpToThePeak) {
  const auto json = nlohmann::ordered_json::parse(json_of(report()).dump());
  for (const auto& row : json["rows"]) {
    std::size_t sum = 0;
    for (const auto& [name, bytes] : row["memory"]["parts"].items())
      sum += bytes.get<std::size_t>();
    EXPECT_EQ(sum, row["memory"]["peak_bytes"].get<std::size_t>());
  }
}

TEST(PlanTables, TheBestRowIsMarkedAndWhatDoesNotFitIsSaid) {
  PlanReport of = report();
  of.rows[1].fits = false;
  of.rows[1].step.reset();
  of.best = 0;
  const std::string text = tables_of(of);
  EXPECT_THAT(text, HasSubstr("*     16"));
  EXPECT_THAT(text, HasSubstr("too much"));
  EXPECT_EQ(json_of(of)["rows"][1]["step"], nullptr);
}

TEST(PlanTables, MachinesAndBatchesAreThere) {
  PlanReport of = report();
  PlanHosts one{.hosts = 1, .step = train::StepSeconds{.forward = 1}};
  one.price = 12.5;
  of.scaling = PlanScaling{.network = {.source = "10gbit,20us", .bytes_per_second = 1.25e9},
                           .rows = {one, {.hosts = 64}}};
  of.target = PlanTarget{.target = "top1=0.9",
                         .fit = {.least_steps = 400,
                                 .least_examples = 300'000,
                                 .steps_range = {},
                                 .examples_range = {}},
                         .critical_batch = 750,
                         .rows = {{.batch = 128, .steps = 2743.75, .seconds = 60}}};
  const std::string text = tables_of(of);
  for (const char* part : {"10gbit,20us (10.00 Gbit/s", "12.50", "more machines than micro-batches",
                           "S_min 400", "E_min / S_min = 750", "2744"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const auto json = nlohmann::ordered_json::parse(json_of(of).dump());
  EXPECT_EQ(json["scaling"]["rows"][1]["step"], nullptr);
  EXPECT_EQ(json["target"]["critical_batch"], 750);
}

}  // namespace winnow::app::plan_tables_test
