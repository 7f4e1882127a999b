#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace winnow {

// The CPU cores that a process may use. `root` contains /proc and /sys.

// Numbers of the online cores that a process may run on, ascending. Empty if /proc does not say.
// process  0: this process.
std::vector<int> cores_of(int process, const std::filesystem::path& root = "/");

// The cores of the nearest ancestor process that launches ranks (mpirun, srun, ...) and is not
// bound as they are. Empty if there is none.
std::vector<int> launcher_cores(const std::filesystem::path& root = "/");

// The smallest CPU quota, in cores, of this process's control groups (versions 2 and 1), all
// enclosing groups included. 0: none.
double quota_cores(const std::filesystem::path& root = "/");

// A process's share of the cores when several processes of a machine share them: each core is
// divided by the number of processes that may run on it. Processes bound to cores of their own keep
// these; others get equal shares. Pure.
//
// all   The cores of each process, ascending.
// mine  Index of the process in question.
double share_of_cores(std::span<const std::vector<int>> all, std::size_t mine);

// The same if the others' cores are unknown. There are `processes` of them; they count as bound if
// all their cores, as many as this one's each, fit among those of their launcher.
double share_of_cores(std::size_t own, std::size_t launchers, int processes);

}  // namespace winnow
