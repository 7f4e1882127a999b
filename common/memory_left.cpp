#include "common/memory_left.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "common/control_groups.h"

namespace winnow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kKibibyte = 1024;

std::optional<std::uint64_t> read_number(const fs::path& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

// The names that the two versions give the same things.
struct Names {
  const char* folder;
  const char* limit;
  const char* used;
  const char* cached;
};
constexpr Names kVersion2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
constexpr Names kVersion1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                          "total_inactive_file"};

// Of a group and all groups it is in.
std::uint64_t left_by(const ControlGroup& group, const fs::path& top, const Names& names) {
  std::uint64_t left = kNoMemoryLimit;
  for (const fs::path& folder : folders_of(group, top)) {
    const auto limit = read_number(folder / names.limit);  // "max" is no number
    const auto used = read_number(folder / names.used);
    if (!limit || !used) continue;
    // Cached files count as used but give way.
    const std::uint64_t cached =
        read_memory_field(folder / "memory.stat", names.cached, 1).value_or(0);
    const std::uint64_t held = *used - std::min(*used, cached);
    left = std::min(left, *limit - std::min(*limit, held));
  }
  return left;
}

}  // namespace

std::optional<std::uint64_t> read_memory_field(const fs::path& file, const std::string& name,
                                               std::uint64_t unit) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string field;
    std::uint64_t value = 0;
    if (fields >> field >> value && field == name) return value * unit;
  }
  return std::nullopt;
}

std::uint64_t machine_memory_left() {
  return read_memory_field("/proc/meminfo", "MemAvailable:", kKibibyte).value_or(kNoMemoryLimit);
}

std::uint64_t group_memory_left(const fs::path& root) {
  std::uint64_t left = kNoMemoryLimit;
  for (const ControlGroup& group : control_groups(root)) {
    if (group.is_version2()) {
      left = std::min(left, left_by(group, root / kVersion2.folder, kVersion2));
    } else if (group.controls("memory")) {
      left = std::min(left, left_by(group, root / kVersion1.folder, kVersion1));
    }
  }
  return left;
}

std::uint64_t memory_held() {
  return read_memory_field("/proc/self/status", "RssAnon:", kKibibyte).value_or(0);
}

}  // namespace winnow
