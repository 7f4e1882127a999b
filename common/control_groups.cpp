#include "common/control_groups.h"

#include <fstream>

namespace winnow {

namespace fs = std::filesystem;

bool ControlGroup::controls(std::string_view name) const {
  return controllers.find("," + std::string(name) + ",") != std::string::npos;
}

std::vector<ControlGroup> control_groups(const fs::path& root) {
  std::vector<ControlGroup> groups;
  std::ifstream in(root / "proc/self/cgroup");
  // Line formats: "0::/a/b" for version 2; "5:cpu,cpuacct:/a/b" for version 1.
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    groups.push_back({"," + line.substr(first + 1, second - first - 1) + ",",
                      fs::path(line.substr(second + 1)).relative_path()});
  }
  return groups;
}

std::vector<fs::path> folders_of(const ControlGroup& group, const fs::path& top) {
  std::vector<fs::path> folders;
  for (fs::path folder = (top / group.path).lexically_normal();; folder = folder.parent_path()) {
    folders.push_back(folder);
    const bool is_above = folder.native().size() <= top.native().size();
    if (folder == top || !folder.has_relative_path() || is_above) return folders;
  }
}

}  // namespace winnow
