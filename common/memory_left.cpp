#include "common/memory_left.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
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

// File and field names of the two versions.
struct Names {
  const char* folder;
  const char* limit;
  const char* used;
  const char* cached;
};
constexpr Names kVersion2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
constexpr Names kVersion1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                          "total_inactive_file"};

// Memory left by a group and its enclosing groups.
std::uint64_t left_by(const ControlGroup& group, const fs::path& top, const Names& names) {
  std::uint64_t left = kNoMemoryLimit;
  for (const fs::path& folder : folders_of(group, top)) {
    const auto limit = read_number(folder / names.limit);  // "max" means no limit
    const auto used = read_number(folder / names.used);
    if (!limit || !used) continue;
    // Cached files count as used, but can be dropped.
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

std::uint64_t code_bytes(std::string_view smaps) {
  struct File {
    bool executed = false;
    std::uint64_t kib = 0;
  };
  std::map<std::string, File> files;
  File* file = nullptr;  // file of the current mapping
  std::istringstream lines{std::string(smaps)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    // Line format: "55d0-55d4 r-xp 00000000 08:01 1234  /usr/bin/winnow".
    if (!first.ends_with(':')) {
      const std::size_t path = line.find('/');
      file = path == std::string::npos ? nullptr : &files[line.substr(path)];
      if (file != nullptr && second.find('x') != std::string::npos) file->executed = true;
    } else if (file != nullptr && first == "Rss:") {
      file->kib += std::strtoull(second.c_str(), nullptr, 10);
    } else if (file != nullptr && first == "Anonymous:") {
      file->kib -= std::min<std::uint64_t>(file->kib, std::strtoull(second.c_str(), nullptr, 10));
    }
  }
  std::uint64_t kib = 0;
  for (const auto& [path, of_file] : files) kib += of_file.executed ? of_file.kib : 0;
  return kib * kKibibyte;
}

std::uint64_t memory_held() {
  std::ifstream in("/proc/self/smaps");
  std::ostringstream smaps;
  smaps << in.rdbuf();
  return read_memory_field("/proc/self/status", "RssAnon:", kKibibyte).value_or(0) +
         code_bytes(smaps.str());
}

}  // namespace winnow
