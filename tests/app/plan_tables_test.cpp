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

// "12.5 ms" and such as seconds, at `at` and after; moves `at` behind it.
double seconds_at(const std::vector<std::string>& line, std::size_t& at) {
  const double number = std::stod(line.at(at));
  const std::string& unit = line.at(at + 1);
  at += 2;
  const double seconds = unit.starts_with("ms")     ? 1e-3
                         : unit.starts_with("min")  ? 60
                         : unit.starts_with("h")    ? 3600
                         : unit.starts_with("days") ? 86'400
                                                    : 1;
  return number * seconds;
}

// A duration is printed with a tenth of its unit, or a hundredth of a second.
void expect_duration(double printed, double seconds) {
  EXPECT_NEAR(printed, seconds, seconds >= 48 * 3600 ? 4321 : 0.0501 * seconds) << seconds;
}

TEST(PlanTables, EveryNumberOfMachinesIsTheTables) {
  PlanReport of = report();
  PlanHosts one{.hosts = 1, .step = train::StepSeconds{.forward = 1.25}};
  one.images_per_second = 102.4;
  one.all_reduce_seconds = 0.0456;
  one.run_seconds = 345'678;
  one.price = 115.23;
  one.parameter_servers = 3;
  PlanHosts four{.hosts = 4, .step = train::StepSeconds{.forward = 0.3125, .ranks = 0.0987}};
  four.images_per_second = 311.3;
  four.efficiency = 0.76;
  four.lemma_efficiency = 0.786;
  four.all_reduce_seconds = 0.1987;
  four.run_seconds = 7000;
  of.scaling = PlanScaling{.network = {.source = "a file",
                                       .bytes_per_second = 1.25e8,
                                       .latency_seconds = 47.5e-6,
                                       .hiding_bytes_per_second = 3e8,
                                       .hiding_hosts = 4},
                           .wished_efficiency = 0.8,
                           .overhead = 0.1,
                           .most = 3,
                           .needed_overhead = 0.0909,
                           .rows = {one, four},
                           .knee = 1};
  const std::string text = tables_of(of);
  const auto json = nlohmann::ordered_json::parse(json_of(of).dump())["scaling"];
  for (const char* part :
       {"by a file (1.00 Gbit/s, 47.5 us)", "R_O = 0.1000", "80 % allow 3 machines",
        "; 4 need R_O = 0.09090", "on 4 machines 2.40 Gbit/s would hide"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_EQ(json["network"]["bytes_per_second"], 1.25e8);
  EXPECT_EQ(json["network"]["latency_s"], 47.5e-6);
  EXPECT_EQ(json["overhead"], 0.1);
  EXPECT_EQ(json["wished_efficiency"], 0.8);
  EXPECT_EQ(json["most_machines"], 3);
  EXPECT_EQ(json["needed_overhead"], 0.0909);
  EXPECT_EQ(json["hiding_bytes_per_second"], 3e8);
  EXPECT_EQ(json["hiding_hosts"], 4);
  EXPECT_EQ(json["knee"], 1);
  EXPECT_THAT(text, HasSubstr("*      4"));
  const auto rows = table(text, "machines with one rank each", 2);
  ASSERT_EQ(rows.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& row = json["rows"][i];
    std::size_t at = 0;
    EXPECT_EQ(rows[i][at++], std::to_string(row["hosts"].get<int>()));
    EXPECT_NEAR(std::stod(rows[i][at++]), row["images_per_second"].get<double>(), 0.0501);
    expect_duration(seconds_at(rows[i], at), row["step"]["total_s"]);
    expect_duration(seconds_at(rows[i], at), row["all_reduce_s"]);
    expect_duration(seconds_at(rows[i], at), row["step"]["ranks_s"]);
    EXPECT_NEAR(std::stod(rows[i][at++]), 100 * row["efficiency"].get<double>(), 0.0501);
    EXPECT_NEAR(std::stod(rows[i][at++]), 100 * row["lemma_efficiency"].get<double>(), 0.0501);
    expect_duration(seconds_at(rows[i], at), row["run_s"]);
    if (row["price"].is_null()) {
      EXPECT_EQ(rows[i][at++], "-");
    } else {
      EXPECT_NEAR(std::stod(rows[i][at++]), row["price"].get<double>(), 0.00501);
    }
    EXPECT_EQ(rows[i][at++], std::to_string(row["parameter_servers"].get<int>()));
    EXPECT_EQ(at, rows[i].size());
  }
}

TEST(PlanTables, EveryNumberOfBatchesAndOfTheRunIsTheTables) {
  PlanReport of = report();
  of.target = PlanTarget{.target = "top1=0.9",
                         .fit = {.least_steps = 400,
                                 .least_examples = 300'000,
                                 .steps_range = {350, 450},
                                 .examples_range = {250'000, 350'000}},
                         .critical_batch = 750,
                         .rows = {{.batch = 128,
                                   .steps = 2743.75,
                                   .steps_range = {2500, 3000},
                                   .seconds = 6000.0,
                                   .price = 2.75},
                                  {.batch = 512, .steps = 985.9, .steps_range = {900, 1100}}}};
  const std::string text = tables_of(of);
  const auto whole = nlohmann::ordered_json::parse(json_of(of).dump());
  const auto& json = whole["target"];
  EXPECT_THAT(text, HasSubstr("S_min 400 (350 to 450) + E_min 300000 (250000 to 350000) / B"));
  EXPECT_THAT(text, HasSubstr("E_min / S_min = 750"));
  EXPECT_EQ(json["least_steps"], 400);
  EXPECT_EQ(json["least_steps_range"], (nlohmann::ordered_json{350.0, 450.0}));
  EXPECT_EQ(json["least_examples"], 300'000);
  EXPECT_EQ(json["least_examples_range"], (nlohmann::ordered_json{250'000.0, 350'000.0}));
  EXPECT_EQ(json["critical_batch"], 750);
  const auto rows =
      table(text.substr(text.find("steps to top1")), "critical batch", json["rows"].size());
  ASSERT_EQ(rows.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& row = json["rows"][i];
    EXPECT_EQ(rows[i][0], std::to_string(row["batch"].get<int>()));
    EXPECT_EQ(std::stol(rows[i][1]), std::lround(row["steps"].get<double>()));
    EXPECT_EQ(std::stol(rows[i][2]), std::lround(row["steps_range"][0].get<double>()));
    EXPECT_EQ(std::stol(rows[i][4]), std::lround(row["steps_range"][1].get<double>()));
    if (row["seconds"].is_null()) {
      EXPECT_EQ(rows[i][5], "-");
    } else {
      std::size_t at = 5;
      expect_duration(seconds_at(rows[i], at), row["seconds"]);
      EXPECT_NEAR(std::stod(rows[i][at]), row["price"].get<double>(), 0.00501);
    }
  }
  const auto& time = whole["time"];
  EXPECT_THAT(text, HasSubstr("an epoch: 8.0 min of steps, 20.00 s of evaluation, 100.0 ms of "
                              "checkpoints\nthe run: 10 epochs and 1.50 s to start, 1.4 h (1.3 h "
                              "to 1.4 h)"));
  EXPECT_EQ(time["steps_s"]["value"], 480);
  EXPECT_EQ(time["evaluation_s"]["value"], 20);
  EXPECT_EQ(time["checkpoint_s"]["value"], 0.1);
  EXPECT_EQ(time["epochs"], 10);
  EXPECT_EQ(time["start_s"]["value"], 1.5);
  EXPECT_EQ(time["run_s"]["value"], 1.5 + 10 * 500.1);
  EXPECT_EQ(time["run_range_s"], (nlohmann::ordered_json{4800.0, 5200.0}));
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
