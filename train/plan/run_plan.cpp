#include "train/plan/run_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/checksum.h"
#include "common/error.h"
#include "common/json_text.h"
#include "pipeline/load/order.h"

namespace winnow::train {
namespace {

using Json = nlohmann::ordered_json;
using Facts = std::map<std::string, std::string>;

constexpr int kPlanVersion = 1;

// "lane_threads 1, now 2; ..."
std::string differences(const Facts& stored, const Facts& now) {
  std::string text;
  const auto value = [](const Facts& facts, const std::string& key) {
    const auto found = facts.find(key);
    return found == facts.end() ? std::string("none") : found->second;
  };
  Facts all = stored;
  all.insert(now.begin(), now.end());
  for (const auto& [key, unused] : all) {
    if (value(stored, key) == value(now, key)) continue;
    text +=
        (text.empty() ? "" : "; ") + key + " " + value(stored, key) + ", now " + value(now, key);
  }
  return text;
}

}  // namespace

std::string to_text(const RunPlan& plan) {
  const Json json{{"format", "winnow-plan"},       {"version", kPlanVersion},
                  {"numerics", plan.numerics},     {"layout", plan.layout},
                  {"supersedes", plan.supersedes}, {"tasks", Json::array()}};
  std::string tasks;  // a line for each
  for (const Json& task : Json::parse(plan.tasks)) {
    tasks += (tasks.empty() ? "\n  " : ",\n  ") + task.dump();
  }
  std::string text = json.dump(1);
  text.replace(text.rfind("[]"), 2, "[" + tasks + "\n ]");
  return text + "\n";
}

RunPlan parse_plan(const std::string& text, const std::string& where) {
  if (nests_deeper_than(text, kJsonLevels)) {
    throw FormatError(where + " is damaged; --replan makes a new one");
  }
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != "winnow-plan") throw FormatError(where + " is no plan of a run");
    if (json.at("version").get<int>() > kPlanVersion) {
      throw FormatError(where + " was written by a newer winnow; use that one");
    }
    return {.numerics = json.at("numerics").get<Facts>(),
            .layout = json.at("layout").get<Facts>(),
            .supersedes = json.at("supersedes").get<std::vector<std::string>>(),
            .tasks = json.at("tasks").dump()};
  } catch (const nlohmann::json::exception&) {
    throw FormatError(where + " is damaged; --replan makes a new one");
  }
}

std::string digest_of_plan(const std::string& text) { return to_hex(xxh3_128(as_bytes(text))); }

std::string tasks_json(const StepPlan& plan) {
  Json tasks = Json::array();
  for (const Task& task : plan.tasks) {
    Json row{{"task", kind_name(task.kind)}};
    if (task.lane >= 0) row["lane"] = task.lane;
    if (task.micro_batch >= 0) row["micro_batch"] = task.micro_batch;
    if (task.bucket >= 0) row["bucket"] = task.bucket;
    if (task.last_node > 0) row["nodes"] = {task.first_node, task.last_node};
    row["after"] = task.after;
    tasks.push_back(std::move(row));
  }
  return tasks.dump();
}

PlanChange compare_plans(const RunPlan& stored, const RunPlan& now, bool reproducible,
                         bool replan) {
  const std::string numerics = differences(stored.numerics, now.numerics);
  if (!numerics.empty()) {
    if (!replan) {
      throw UsageError(
          "the run would go on with other arithmetic than it began with (" + numerics +
          "); start it as before, or allow other last bits of the weights by --replan");
    }
    return {true,
            "planned anew (" + numerics +
                "): the weights will differ in their last bits from a run that never stopped"};
  }
  const std::string layout = differences(stored.layout, now.layout);
  if (layout.empty()) return {};
  if (reproducible) return {true, "the layout changes (" + layout + "), the weights do not"};
  return {true, "the layout changes (" + layout +
                    "): the weights will differ in their last bits from a run that never stopped; "
                    "those of --reproducible runs do not"};
}

int choose_lane_threads(int wished, int stored, bool reproducible, int cores,
                        std::int64_t micro_batches) {
  if (wished > 0) return wished;
  if (stored > 0) return stored;
  if (reproducible) return 1;
  return cores / static_cast<int>(std::clamp<std::int64_t>(micro_batches, 1, cores));
}

std::vector<int> choose_lanes(int cores, int lane_threads, std::int64_t micro_batches) {
  const auto lanes =
      static_cast<int>(std::clamp<std::int64_t>(cores / lane_threads, 1, micro_batches));
  std::vector<int> counts;
  for (int lane = 0; lane < lanes; ++lane) {
    const auto [first, last] = pipeline::share(micro_batches, lane, lanes);
    counts.push_back(static_cast<int>(last - first));
  }
  return counts;
}

}  // namespace winnow::train
