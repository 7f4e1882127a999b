#include "common/cores.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "common/control_groups.h"
#include "common/memory_left.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCores = 1 << 16;  // sanity limit of a list

fs::path folder_of(int process, const fs::path& root) {
  return root / "proc" / (process == 0 ? std::string("self") : std::to_string(process));
}

// Parses a list in the kernel's form: "0-3,8".
std::vector<int> parse_list(std::string_view text) {
  std::vector<int> cores;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) break;
    int last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    for (int core = first; core <= std::min(last, kMostCores); ++core) cores.push_back(core);
    at = read.ptr < end && *read.ptr == ',' ? read.ptr + 1 : end;
  }
  return cores;
}

// Filters `cores` by whether they are online: in the root cpuset a process may run on all cores
// that the machine could ever have. All of them if /sys does not say.
std::vector<int> online_ones(const std::vector<int>& cores, const fs::path& root) {
  std::string text;
  std::getline(std::ifstream(root / "sys/devices/system/cpu/online"), text);
  const std::vector<int> online = parse_list(text);
  if (online.empty()) return cores;
  std::vector<int> both;
  std::ranges::set_intersection(cores, online, std::back_inserter(both));
  return both;
}

bool is_launcher(const std::string& name) {
  constexpr std::array kNames{"mpirun", "mpiexec",       "orterun",         "orted", "prterun",
                              "prted",  "mpiexec.hydra", "hydra_pmi_proxy", "srun",  "slurmstepd"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The quota of one group. Version 2: "max 100000" or "150000 100000"; version 1: one file for each
// number.
std::optional<double> quota_of(const fs::path& folder, bool version2) {
  double quota = 0;
  double period = 0;
  if (version2) {
    std::ifstream in(folder / "cpu.max");
    if (!(in >> quota >> period)) return std::nullopt;
  } else {
    std::ifstream of_quota(folder / "cpu.cfs_quota_us");  // -1: none
    std::ifstream of_period(folder / "cpu.cfs_period_us");
    if (!(of_quota >> quota) || !(of_period >> period)) return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

// The smallest quota of a group and its enclosing groups; 0: none.
double least_quota(const ControlGroup& group, const fs::path& top) {
  double least = 0;
  for (const fs::path& folder : folders_of(group, top)) {
    const std::optional<double> quota = quota_of(folder, group.is_version2());
    if (quota && (least == 0 || *quota < least)) least = *quota;
  }
  return least;
}

}  // namespace

std::vector<int> cores_of(int process, const fs::path& root) {
  constexpr std::string_view kName = "Cpus_allowed_list:";
  std::ifstream in(folder_of(process, root) / "status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kName)) continue;
    const std::size_t at = line.find_first_not_of(" \t", kName.size());
    return at == std::string::npos
               ? std::vector<int>()
               : online_ones(parse_list(std::string_view(line).substr(at)), root);
  }
  return {};
}

std::vector<int> launcher_cores(const fs::path& root) {
  constexpr int kMostLevels = 16;
  const auto above = [&](int process) {
    return static_cast<int>(
        read_memory_field(folder_of(process, root) / "status", "PPid:", 1).value_or(0));
  };
  int process = above(0);
  for (int level = 0; process > 1 && level < kMostLevels; ++level) {
    std::string name;
    std::getline(std::ifstream(folder_of(process, root) / "comm"), name);
    if (is_launcher(name)) return cores_of(process, root);
    process = above(process);
  }
  return {};
}

double quota_cores(const fs::path& root) {
  double least = 0;
  const auto take = [&](double quota) {
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  };
  for (const ControlGroup& group : control_groups(root)) {
    if (group.is_version2()) {
      take(least_quota(group, root / "sys/fs/cgroup"));
    } else if (group.controls("cpu")) {
      for (const char* folder : {"cpu", "cpu,cpuacct"}) {
        take(least_quota(group, root / "sys/fs/cgroup" / folder));
      }
    }
  }
  return least;
}

double share_of_cores(std::span<const std::vector<int>> all, std::size_t mine) {
  double share = 0;
  for (const int core : all[mine]) {
    const auto has_it = [&](const std::vector<int>& cores) {
      return std::ranges::binary_search(cores, core);
    };
    share += 1.0 / static_cast<double>(std::ranges::count_if(all, has_it));
  }
  return share;
}

double share_of_cores(std::size_t own, std::size_t launchers, int processes) {
  const auto count = static_cast<std::size_t>(std::max(1, processes));
  const bool are_bound = own * count <= launchers;
  return static_cast<double>(own) / (are_bound ? 1.0 : static_cast<double>(count));
}

}  // namespace winnow
