#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/checksum.h"
#include "common/error.h"
#include "common/json_text.h"
#include "train/plan/run_plan.h"

namespace winnow::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPlanVersion = 2;
constexpr std::int64_t kMost = std::int64_t{1} << 40;  // of any number in a plan
constexpr std::int64_t kMostThreads = 1 << 16;

constexpr const char* kFloats = "f32";
constexpr const char* kWholeNumbers = "int64";

// A plan's JSON, whose numbers are checked as they are read.
class Reader {
 public:
  explicit Reader(std::string where) : where_(std::move(where)) {}

  [[noreturn]] void damaged() const {
    throw FormatError(where_ + " is damaged; --replan makes a new one");
  }
  [[noreturn]] void newer() const {
    throw FormatError(where_ + " was written by a newer winnow; use that one");
  }

  std::int64_t integer(const Json& json, const char* what, std::int64_t least,
                       std::int64_t most) const {
    // A number above the largest signed one reads as negative.
    if (!json.is_number_integer()) refuse(what, json.dump(), least, most);
    const auto value = json.get<std::int64_t>();
    if (value < least || value > most) refuse(what, json.dump(), least, most);
    return value;
  }
  int small(const Json& json, const char* what, std::int64_t least, std::int64_t most) const {
    return static_cast<int>(integer(json, what, least, most));
  }
  // Of version 1: numbers are texts.
  std::int64_t number_in(const std::string& text, const char* what, std::int64_t least,
                         std::int64_t most) const {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < least || value > most) {
      refuse(what, text, least, most);
    }
    return value;
  }

 private:
  [[noreturn]] void refuse(const char* what, const std::string& value, std::int64_t least,
                           std::int64_t most) const {
    throw FormatError(where_ + " says " + what + " " + value +
                      ", which is not a whole number from " + std::to_string(least) + " to " +
                      std::to_string(most) + "; --replan makes a new one");
  }

  std::string where_;
};

Json to_json(const Numerics& n) {
  return {{"backend", n.backend},
          {"build", n.build},
          {"instruction_set", n.instruction_set},
          {"library", n.library},
          {"dtype", dtype_name(n.dtype)},
          {"sums", n.sums == Sums::kFloats ? kFloats : kWholeNumbers},
          {"lane_threads", n.lane_threads},
          {"kernels", n.kernels}};
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
  return {{"schedule", layout.schedule},
          {"colors", layout.schedule_options.colors},
          {"segment_elements", layout.schedule_options.segment_elements},
          {"bucket_bytes", layout.bucket_bytes},
          {"transfers", layout.transfers},
          {"ranks", std::move(ranks)}};
}

Json to_json(const Task& task) {
  Json row{{"task", kind_name(task.kind)}};
  if (task.lane >= 0) row["lane"] = task.lane;
  if (task.lane >= 0 && task.anywhere) row["anywhere"] = true;
  if (task.micro_batch >= 0) row["micro_batch"] = task.micro_batch;
  if (task.bucket >= 0) row["bucket"] = task.bucket;
  if (task.part.of > 1) row["part"] = {task.part.index, task.part.of};
  if (task.last_node > 0) row["nodes"] = {task.first_node, task.last_node};
  row["after"] = task.after;
  return row;
}

Numerics read_numerics(const Json& json, const Reader& read) {
  const std::string sums = json.at("sums");
  if (sums != kFloats && sums != kWholeNumbers) read.damaged();
  return {.backend = json.at("backend"),
          .build = json.at("build"),
          .instruction_set = json.at("instruction_set"),
          .library = json.at("library"),
          .dtype = parse_dtype(json.at("dtype").get<std::string>()),
          .sums = sums == kFloats ? Sums::kFloats : Sums::kWholeNumbers,
          .lane_threads = read.small(json.at("lane_threads"), "lane_threads", 1, kMostThreads),
          .kernels = json.at("kernels").get<std::map<std::string, std::string>>()};
}

Layout read_layout(const Json& json, const Reader& read) {
  Layout layout{
      .schedule = json.at("schedule"),
      .schedule_options = {.colors = read.small(json.at("colors"), "colors", 1, kMostThreads),
                           .segment_elements = static_cast<std::size_t>(read.integer(
                               json.at("segment_elements"), "segment_elements", 1, kMost))},
      .bucket_bytes =
          static_cast<std::size_t>(read.integer(json.at("bucket_bytes"), "bucket_bytes", 1, kMost)),
      .transfers = json.at("transfers")};
  for (const Json& row : json.at("ranks")) {
    RankLayout& rank = layout.ranks.emplace_back();
    for (const Json& count : row.at("lanes")) {
      rank.lanes.push_back(read.small(count, "micro-batches of a lane", 1, 1 << 20));
    }
    rank.threads = read.small(row.at("threads"), "threads of a rank", 1, kMostThreads);
    rank.evaluation_lanes =
        read.small(row.at("evaluation_lanes"), "evaluation_lanes of a rank", 1, kMostThreads);
    rank.batches_ahead =
        read.small(row.at("batches_ahead"), "batches_ahead of a rank", 1, kMostThreads);
    rank.node = read.small(row.at("node"), "node of a rank", 0, kMostThreads);
    if (rank.lanes.empty()) read.damaged();
  }
  if (layout.ranks.empty()) read.damaged();
  return layout;
}

Task::Kind kind_of(const std::string& name, const Reader& read) {
  for (int k = 0; k <= static_cast<int>(Task::Kind::kUpdate); ++k) {
    const auto kind = static_cast<Task::Kind>(k);
    if (kind_name(kind) == name) return kind;
  }
  read.damaged();
}

// A task may follow only those before it, and name only lanes that rank 0 has.
StepTasks read_tasks(const Json& json, const RankLayout& rank, const Reader& read) {
  StepTasks step{.lanes = static_cast<int>(rank.lanes.size()),
                 .threads = std::max(rank.threads, static_cast<int>(rank.lanes.size()))};
  for (const Json& row : json) {
    Task task{.kind = kind_of(row.at("task"), read)};
    if (row.contains("lane")) task.lane = read.small(row.at("lane"), "lane", 0, step.lanes - 1);
    task.anywhere = task.lane < 0 || row.value("anywhere", false);
    const auto optional = [&](const char* name, int& value) {
      if (row.contains(name)) value = read.small(row.at(name), name, 0, 1 << 30);
    };
    optional("micro_batch", task.micro_batch);
    optional("bucket", task.bucket);
    if (row.contains("part")) {
      task.part.of = read.small(row.at("part").at(1), "parts of a task", 1, kMostThreads);
      task.part.index = read.small(row.at("part").at(0), "part of a task", 0, task.part.of - 1);
    }
    if (row.contains("nodes")) {
      task.last_node = static_cast<std::size_t>(
          read.integer(row.at("nodes").at(1), "last node of a task", 0, kMost));
      task.first_node =
          static_cast<std::size_t>(read.integer(row.at("nodes").at(0), "first node of a task", 0,
                                                static_cast<std::int64_t>(task.last_node)));
    }
    for (const Json& after : row.at("after")) {
      task.after.push_back(read.small(after, "task before another", 0,
                                      static_cast<std::int64_t>(step.tasks.size()) - 1));
    }
    step.tasks.push_back(std::move(task));
  }
  return step;
}

RunPlan read_version_1(const Json& json, const Reader& read) {
  const auto text = [](const Json& of, const char* name) { return of.at(name).get<std::string>(); };
  const auto number = [&](const Json& of, const char* name, std::int64_t most) {
    return read.number_in(text(of, name), name, 1, most);
  };
  const Json& n = json.at("numerics");
  const Json& l = json.at("layout");
  RunPlan plan{
      .version = 1,
      .numerics = {.backend = text(n, "backend"),
                   .build = text(n, "build"),
                   .instruction_set = text(n, "instruction_set"),
                   .library = text(n, "library"),
                   .lane_threads = static_cast<int>(number(n, "lane_threads", kMostThreads))},
      .layout = {.schedule = text(l, "schedule"),
                 .schedule_options = {.colors = static_cast<int>(number(l, "colors", kMostThreads)),
                                      .segment_elements = static_cast<std::size_t>(
                                          number(l, "segment_elements", kMost))},
                 .bucket_bytes = static_cast<std::size_t>(number(l, "bucket_bytes", kMost)),
                 .transfers = ""}};
  std::istringstream lanes(text(l, "lanes"));
  for (std::string count; lanes >> count;) {
    const auto of_rank = read.number_in(count, "lanes of a rank", 1, kMostThreads);
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
  std::string tasks;  // a line for each
  for (const Task& task : plan.step.tasks) {
    tasks += (tasks.empty() ? "\n  " : ",\n  ") + to_json(task).dump();
  }
  std::string text = json.dump(1);
  text.replace(text.rfind("[]"), 2, "[" + tasks + "\n ]");
  return text + "\n";
}

RunPlan parse_plan(const std::string& text, const std::string& where) {
  const Reader read(where);
  if (nests_deeper_than(text, kJsonLevels)) read.damaged();
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != "winnow-plan") throw FormatError(where + " is no plan of a run");
    const auto version = read.integer(json.at("version"), "version", 1, kMost);
    if (version > kPlanVersion) read.newer();
    RunPlan plan;
    if (version == 1) {
      plan = read_version_1(json, read);
    } else {
      plan.numerics = read_numerics(json.at("numerics"), read);
      plan.layout = read_layout(json.at("layout"), read);
      plan.step = read_tasks(json.at("tasks"), plan.layout.ranks.front(), read);
    }
    plan.supersedes = json.at("supersedes").get<std::vector<std::string>>();
    return plan;
  } catch (const nlohmann::json::exception&) {
    read.damaged();
  } catch (const UsageError&) {  // a dtype that is none
    read.damaged();
  }
}

std::string digest_of_plan(const std::string& text) { return to_hex(xxh3_128(as_bytes(text))); }

}  // namespace winnow::train
