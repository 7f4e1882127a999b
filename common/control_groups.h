#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

// A Linux control group (cgroup) that this process is in.
struct ControlGroup {
  std::string controllers;     // names in commas, as ",cpu,cpuacct,"; version 2 has ",,"
  std::filesystem::path path;  // path of the group below the folder of its hierarchy

  bool is_version2() const noexcept { return controllers == ",,"; }
  bool controls(std::string_view name) const;  // for version 1: "cpu", "memory"
};

// The control groups of this process: one of version 2, or one for each hierarchy of version 1.
// `root` contains /proc.
std::vector<ControlGroup> control_groups(const std::filesystem::path& root);

// The folders of a control group and of all groups around it, innermost first. `top`, the folder of
// the hierarchy, is the last.
std::vector<std::filesystem::path> folders_of(const ControlGroup& group,
                                              const std::filesystem::path& top);

}  // namespace winnow
