#include "app/experiment/experiment.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/file.h"
#include "common/memory_left.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

// Free disk space for runs in the folder `out`, which need not exist.
std::uint64_t disk_left(const fs::path& out) {
  fs::path there = fs::absolute(out);
  while (!fs::exists(there)) there = there.parent_path();
  return free_bytes(there);
}

}  // namespace

Json tell_cost(const ExperimentRequest& asked, std::string_view schema, const CostEstimate& cost,
               const Session& session) {
  const std::uint64_t memory = std::min(machine_memory_left(), group_memory_left());
  const std::uint64_t disk = disk_left(asked.out);
  say_each(session, in_words(cost, asked.lanes, memory));
  if (cost.done < cost.runs) say(session, disk_in_words(cost, disk));
  check_memory(cost, asked.lanes, memory);
  check_disk(cost, disk);
  return {{"schema", schema},
          {"runs", cost.runs},
          {"shared", cost.shared},
          {"done", cost.done},
          {"images", static_cast<std::uint64_t>(cost.images + 0.5)},
          {"seconds", cost.seconds},
          {"lane_bytes", cost.lane_bytes},
          {"memory_bytes", memory == kNoMemoryLimit ? Json() : Json(memory)},
          {"disk_bytes", cost.disk_bytes},
          {"free_bytes", disk}};
}

void write_files(const ExperimentRequest& asked, const ExperimentFiles& files) {
  for (const auto& [name, text] : files) write_file_durably(asked.out / name, text);
}

void tell_files(const ExperimentRequest& asked, const std::string& json, const Session& session) {
  say(session, fmt::format("page: {}, table: {}", (asked.out / "page.html").string(),
                           (asked.out / "table.csv").string()));
  if (asked.json) print(session, json + "\n");
}

}  // namespace winnow::app
