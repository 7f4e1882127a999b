#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace winnow {

// The CPU cores that a process may use. In all functions `root` contains /proc and /sys.

// The numbers of the online cores that a process may run on, ascending. Empty if /proc does not
// say.
// process  Process id; 0: this process.
std::vector<int> cores_of(int process, const std::filesystem::path& root = "/");

// The cores of the nearest ancestor process that launches ranks (mpirun, srun, ...) and is not
// bound to single cores as its ranks are. Empty if there is none.
std::vector<int> launcher_cores(const std::filesystem::path& root = "/");

// The CPU limit of this process in cores: the smallest quota of its control groups (versions 2 and
// 1) and of the groups around them. 0: no limit.
double quota_cores(const std::filesystem::path& root = "/");

// A process's share of a machine's cores, if several processes share them: each core is divided by
// the number of processes that may run on it. Processes bound to cores of their own keep these;
// others get equal shares. Pure.
//
// all   For each process its cores, ascending.
// mine  Index of the process in `all` whose share is returned.
double share_of_cores(std::span<const std::vector<int>> all, std::size_t mine);

// A process's share of a machine's cores if the cores of the other processes are unknown.
// own        Number of cores that this process may run on.
// launchers  Number of cores of the process that launched all.
// processes  Number of processes. They count as bound if `launchers` has room for `own` cores each.
double share_of_cores(std::size_t own, std::size_t launchers, int processes);

}  // namespace winnow
