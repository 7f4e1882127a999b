#include "app/launch/rank_place.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "common/cores.h"
#include "common/host_name.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/memory_left.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

// Cores of this machine that Slurm gave to the job. 0: no Slurm job.
int slurm_cores() {
  const char* const text = std::getenv("SLURM_CPUS_ON_NODE");
  return text == nullptr ? 0 : static_cast<int>(std::strtol(text, nullptr, 10));
}

int lent_cores() {
  int lent = static_cast<int>(launcher_cores().size());
  if (lent <= 0) return 0;
  if (const int given = slurm_cores(); given > 0) lent = std::min(lent, given);
  const double quota = quota_cores();
  return quota > 0 ? std::min(lent, static_cast<int>(std::ceil(quota))) : lent;
}

std::vector<std::string> cards() {
  std::vector<std::string> models;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", none)) {
    std::ifstream in(entry.path() / "information");
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("Model:")) continue;
      const std::size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
      if (at != std::string::npos) models.push_back(line.substr(at));
    }
  }
  std::ranges::sort(models);
  return models;
}

}  // namespace

RankPlace look_at_rank(std::string build) {
  return {.host = host_name(),
          .cores = cores_of(0),
          .online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)),
          .lent = lent_cores(),
          .memory_left = std::min(machine_memory_left(), group_memory_left()),
          .memory_total = read_memory_field("/proc/meminfo", "MemTotal:", 1024).value_or(0),
          .cards = cards(),
          .build = std::move(build)};
}

std::string to_text(const RankPlace& p) {
  const Json json{{"host", p.host},
                  {"cores", p.cores},
                  {"online", p.online},
                  {"lent", p.lent},
                  {"memory_left", p.memory_left},
                  {"memory_total", p.memory_total},
                  {"cards", p.cards},
                  {"build", p.build}};
  return sorted(json).dump(-1, /*ascii=*/true, Json::Utf8::kReplace);
}

RankPlace rank_place_of(const std::string& text) {
  const JsonReader json(text, {.name = "what a rank said of its place"});
  RankPlace place{.host = json.at("host").text(),
                  .online = json.at("online").number<int>(),
                  .lent = json.at("lent").number<int>(),
                  .memory_left = json.at("memory_left").number(),
                  .memory_total = json.at("memory_total").number(),
                  .cards = json.at("cards").texts(),
                  .build = json.at("build").text()};
  for (const JsonReader& core : json.at("cores").items()) {
    place.cores.push_back(core.number<int>());
  }
  return place;
}

}  // namespace winnow::app
