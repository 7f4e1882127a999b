#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace winnow {

// The cores of this machine that a process may use. `root` is where /proc and /sys are looked for.

// Numbers of the cores that a process may run on and that are online, ascending; however many the
// machine has. None where /proc does not say.  process  0: this one
std::vector<int> cores_of(int process, const std::filesystem::path& root = "/");

// Of the nearest process above this one that starts ranks (mpirun, srun, ...), which is not bound
// as they are. None: no such process is there.
std::vector<int> launcher_cores(const std::filesystem::path& root = "/");

// The least CPU quota, in cores, of the control groups that this process is in, version 2 and 1:
// each group up to the top counts. 0: there is none.
double quota_cores(const std::filesystem::path& root = "/");

// What is one process's of the cores that processes of a machine may run on: each core is divided
// by how many of them may run on it. So processes that are bound to cores of their own keep them,
// and those that are not have an even share. Pure.
//
// all    Of each process its cores, ascending.  mine  Which of them is asked for.
double share_of_cores(std::span<const std::vector<int>> all, std::size_t mine);

// The same where nobody says what the others may run on: they are as many as `processes`, and bound
// where all of their cores, as many as this one's, fit among those of their launcher.
double share_of_cores(std::size_t own, std::size_t launchers, int processes);

}  // namespace winnow
