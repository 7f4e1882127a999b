#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "train/plan/run_plan.h"

namespace winnow::train {
namespace {

constexpr int kPlanVersion = 2;
constexpr std::int64_t kMost = std::int64_t{1} << 40;  // limit for any number in a plan
constexpr int kMostThreads = 1 << 16;

constexpr std::pair<Sums, const char*> kSums[] = {
    {Sums::kFloats, "f32"},
    {Sums::kBF16Messages, "f32, bf16 messages"},
    {Sums::kBF16Feedback, "f32, bf16 messages, error feedback"},
    {Sums::kWholeNumbers, "int64"}};

const char* name_of(Sums sums) {
  return std::ranges::find(kSums, sums, &std::pair<Sums, const char*>::first)->second;
}

Sums read_sums(const JsonReader& in) {
  const std::string text = in.text();
  for (const auto& [sums, name] : kSums) {
    if (text == name) return sums;
  }
  in.fail("is not a sum that this winnow knows");
}

Json to_json(const Numerics& n) {
  return {{"backend", n.backend},
          {"build", n.build},
          {"instruction_set", n.instruction_set},
          {"library", n.library},
          {"dtype", dtype_name(n.dtype)},
          {"sums", name_of(n.sums)},
          {"lane_threads", n.lane_threads},
          {"kernels", n.kernels}};
}

Json to_json(const std::string& schedule, const comm::ScheduleOptions& options) {
  return {{"schedule", schedule},
          {"colors", options.colors},
          {"segment_elements", options.segment_elements}};
}

Json to_json(const Layout& layout) {
  Json ranks = Json::array();
  for (const RankLayout& rank : layout.ranks) {
    ranks.push_back({{"lanes", rank.lanes},
                     {"threads", rank.threads},
                     {"evaluation_lanes", rank.evaluation_lanes},
                     {"batches_ahead", rank.batches_ahead},
                     {"node", rank.node}});
  }
  Json json = to_json(layout.schedule, layout.schedule_options);
  for (const SizedSchedule& sized : layout.smaller) {
    Json& smaller = json["smaller"].push_back(to_json(sized.schedule, sized.options));
    smaller["elements"] = sized.elements;
  }
  json["bucket_bytes"] = layout.bucket_bytes;
  json["transfers"] = layout.transfers;
  json["ranks"] = std::move(ranks);
  if (!layout.stage_ranks.empty()) json["stage_ranks"] = layout.stage_ranks;
  return json;
}

Json to_json(const Task& task) {
  Json row{{"task", kind_name(task.kind)}};
  if (task.lane >= 0) row["lane"] = task.lane;
  if (task.lane >= 0 && task.anywhere) row["anywhere"] = true;
  if (task.micro_batch >= 0) row["micro_batch"] = task.micro_batch;
  if (task.bucket >= 0) row["bucket"] = task.bucket;
  if (task.exchange >= 0) row["exchange"] = task.exchange;
  if (task.peer >= 0) row["peer"] = task.peer;
  if (task.part.of > 1) row["part"] = {task.part.index, task.part.of};
  if (task.last_node > 0) row["nodes"] = {task.first_node, task.last_node};
  row["after"] = task.after;
  return row;
}

DType read_dtype(const JsonReader& in) {
  try {
    return parse_dtype(in.text());
  } catch (const UsageError&) {
    in.fail("is not a type that this winnow knows");
  }
}

Numerics read_numerics(const JsonReader& in) {
  std::map<std::string, std::string> kernels;
  for (const auto& [name, kernel] : in.at("kernels").members()) kernels[name] = kernel.text();
  return {.backend = in.at("backend").text(),
          .build = in.at("build").text(),
          .instruction_set = in.at("instruction_set").text(),
          .library = in.at("library").text(),
          .dtype = read_dtype(in.at("dtype")),
          .sums = read_sums(in.at("sums")),
          .lane_threads = in.at("lane_threads").integer(1, kMostThreads),
          .kernels = std::move(kernels)};
}

RankLayout read_rank(const JsonReader& in) {
  RankLayout rank;
  for (const JsonReader& count : in.at("lanes").items()) {
    rank.lanes.push_back(count.integer(1, 1 << 20));  // number of micro-batches
  }
  if (rank.lanes.empty()) in.at("lanes").fail("has none");
  rank.threads = in.at("threads").integer(1, kMostThreads);
  rank.evaluation_lanes = in.at("evaluation_lanes").integer(1, kMostThreads);
  rank.batches_ahead = in.at("batches_ahead").integer(1, kMostThreads);
  rank.node = in.at("node").integer(0, kMostThreads);
  return rank;
}

std::size_t read_size(const JsonReader& in) {
  return static_cast<std::size_t>(in.integer(1, kMost));
}

comm::ScheduleOptions read_schedule_options(const JsonReader& in) {
  return {.colors = in.at("colors").integer(1, kMostThreads),
          .segment_elements = read_size(in.at("segment_elements"))};
}

std::vector<SizedSchedule> read_smaller(const JsonReader& in) {
  std::vector<SizedSchedule> smaller;
  for (const JsonReader& row : in.items()) {
    const JsonReader elements = row.at("elements");
    smaller.push_back({.elements = read_size(elements),
                       .schedule = row.at("schedule").text(),
                       .options = read_schedule_options(row)});
    const std::size_t n = smaller.size();
    if (n > 1 && smaller[n - 1].elements <= smaller[n - 2].elements) {
      elements.fail(
          "is not larger than in the row before; rows must be in the order of their sizes");
    }
  }
  return smaller;
}

void read_stage_ranks(const JsonReader& in, Layout& layout) {
  std::size_t total = 0;
  for (const JsonReader& ranks : in.items()) {
    layout.stage_ranks.push_back(ranks.integer(1, kMostThreads));
    total += static_cast<std::size_t>(layout.stage_ranks.back());
  }
  if (total != layout.ranks.size()) in.fail("does not add up to the number of 'ranks'");
}

Layout read_layout(const JsonReader& in) {
  Layout layout{.schedule = in.at("schedule").text(),
                .schedule_options = read_schedule_options(in),
                .bucket_bytes = read_size(in.at("bucket_bytes")),
                .transfers = in.at("transfers").text()};
  if (const auto smaller = in.find("smaller")) layout.smaller = read_smaller(*smaller);
  for (const JsonReader& rank : in.at("ranks").items()) layout.ranks.push_back(read_rank(rank));
  if (layout.ranks.empty()) in.at("ranks").fail("has none");
  if (const auto stages = in.find("stage_ranks")) read_stage_ranks(*stages, layout);
  return layout;
}

Task::Kind read_kind(const JsonReader& in) {
  const std::string name = in.text();
  for (int k = 0; k <= static_cast<int>(Task::Kind::kUpdate); ++k) {
    const auto kind = static_cast<Task::Kind>(k);
    if (kind_name(kind) == name) return kind;
  }
  in.fail("is not a task that this winnow knows");
}

// A task may only depend on earlier ones, and only name lanes that rank 0 has.
Task read_task(const JsonReader& in, int lanes, std::size_t before) {
  Task task{.kind = read_kind(in.at("task"))};
  if (const auto lane = in.find("lane")) task.lane = lane->integer(0, lanes - 1);
  const auto anywhere = in.find("anywhere");
  task.anywhere = task.lane < 0 || (anywhere && anywhere->boolean());
  if (const auto number = in.find("micro_batch")) task.micro_batch = number->integer(0, 1 << 30);
  if (const auto number = in.find("bucket")) task.bucket = number->integer(0, 1 << 30);
  if (const auto number = in.find("exchange")) task.exchange = number->integer(0, 1 << 30);
  if (const auto number = in.find("peer")) task.peer = number->integer(0, kMostThreads);
  if (const auto part = in.find("part")) {
    const std::vector<JsonReader> pair = part->items(2);
    task.part.of = pair[1].integer(1, kMostThreads);
    task.part.index = pair[0].integer(0, task.part.of - 1);
  }
  if (const auto nodes = in.find("nodes")) {
    const std::vector<JsonReader> pair = nodes->items(2);
    const std::int64_t last = pair[1].integer(0, kMost);
    task.last_node = static_cast<std::size_t>(last);
    task.first_node = static_cast<std::size_t>(pair[0].integer(0, last));
  }
  for (const JsonReader& after : in.at("after").items()) {
    task.after.push_back(after.integer(0, static_cast<int>(before) - 1));
  }
  return task;
}

StepTasks read_tasks(const JsonReader& in, const RankLayout& rank) {
  StepTasks step{.lanes = static_cast<int>(rank.lanes.size()),
                 .threads = std::max(rank.threads, static_cast<int>(rank.lanes.size()))};
  for (const JsonReader& task : in.items()) {
    step.tasks.push_back(read_task(task, step.lanes, step.tasks.size()));
  }
  return step;
}

// For version 1, in which numbers are texts.
std::int64_t read_number(const JsonReader& in, std::string_view text, std::int64_t most) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1 || value > most) {
    in.fail("has an entry that is not a whole number from 1 to " + std::to_string(most));
  }
  return value;
}

RunPlan read_version_1(const JsonReader& in) {
  const auto number = [](const JsonReader& text, std::int64_t most) {
    return read_number(text, text.text(), most);
  };
  const JsonReader n = in.at("numerics");
  const JsonReader l = in.at("layout");
  RunPlan plan{
      .version = 1,
      .numerics = {.backend = n.at("backend").text(),
                   .build = n.at("build").text(),
                   .instruction_set = n.at("instruction_set").text(),
                   .library = n.at("library").text(),
                   .lane_threads = static_cast<int>(number(n.at("lane_threads"), kMostThreads))},
      .layout = {
          .schedule = l.at("schedule").text(),
          .schedule_options = {.colors = static_cast<int>(number(l.at("colors"), kMostThreads)),
                               .segment_elements = static_cast<std::size_t>(
                                   number(l.at("segment_elements"), kMost))},
          .bucket_bytes = static_cast<std::size_t>(number(l.at("bucket_bytes"), kMost)),
          .transfers = ""}};
  std::istringstream lanes(l.at("lanes").text());
  // over all ranks; a small number could otherwise request much memory
  std::int64_t left = kMostThreads;
  for (std::string count; lanes >> count;) {
    const std::int64_t of_rank = read_number(l.at("lanes"), count, left);
    left -= of_rank;
    plan.layout.ranks.push_back({.lanes = std::vector<int>(static_cast<std::size_t>(of_rank), 0)});
  }
  return plan;
}

}  // namespace

std::string to_text(const RunPlan& plan) {
  const Json json{{"format", "winnow-plan"},
                  {"version", kPlanVersion},
                  {"numerics", to_json(plan.numerics)},
                  {"layout", to_json(plan.layout)},
                  {"supersedes", plan.supersedes},
                  {"tasks", Json::array()}};
  std::string tasks;  // one line each
  for (const Task& task : plan.step.tasks) {
    tasks += (tasks.empty() ? "\n  " : ",\n  ") + to_json(task).dump();
  }
  std::string text = json.dump(1);
  text.replace(text.rfind("[]"), 2, "[" + tasks + "\n ]");
  return text + "\n";
}

RunPlan parse_plan(const std::string& text, const std::string& where) {
  const JsonReader in(text, {where, "--replan makes a new one"});
  if (in.at("format").text() != "winnow-plan")
    throw FormatError(where + " is not the plan of a run");
  const std::int64_t version = in.at("version").integer(1, kMost);
  if (version > kPlanVersion) {
    throw FormatError(where + " was written by a newer winnow; use that one");
  }
  RunPlan plan;
  if (version == 1) {
    plan = read_version_1(in);
  } else {
    plan.numerics = read_numerics(in.at("numerics"));
    plan.layout = read_layout(in.at("layout"));
    plan.step = read_tasks(in.at("tasks"), plan.layout.ranks.front());
  }
  plan.supersedes = in.at("supersedes").texts();
  return plan;
}

std::string digest_of_plan(const std::string& text) { return to_hex(xxh3_128(as_bytes(text))); }

}  // namespace winnow::train
