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

Json tell_cost(const ExperimentRequest& asked, std::string_view schema, const Foretold& foretold,
               const Session& session) {
  const std::uint64_t memory = std::min(machine_memory_left(), group_memory_left());
  const std::uint64_t disk = disk_left(asked.out);
  say_each(session, in_words(foretold, asked.lanes, memory));
  if (foretold.done < foretold.runs) say(session, disk_in_words(foretold, disk));
  check_memory(foretold, asked.lanes, memory);
  check_disk(foretold, disk);
  return {{"schema", schema},
          {"runs", foretold.runs},
          {"shared", foretold.shared},
          {"done", foretold.done},
          {"images", static_cast<std::uint64_t>(foretold.images + 0.5)},
          {"seconds", foretold.seconds},
          {"lane_bytes", foretold.lane_bytes},
          {"memory_bytes", memory == kNoMemoryLimit ? Json() : Json(memory)},
          {"disk_bytes", foretold.disk_bytes},
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
