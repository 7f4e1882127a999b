#pragma once

#include <string>

#include "common/comm/mpi/launcher.h"

namespace winnow::app {

// Facts about MPI in this process.
struct MpiWorld {
  bool built = false;   // whether this build has MPI
  std::string library;  // name of the MPI library, "Open MPI v4.1.4"
  int size = 1;         // number of ranks that MPI connected
};

// Why the processes of this launch are not ranks of one job, and what to type instead. Empty if
// they are, or if there is only one process. `command`: "winnow train". Pure.
std::string launch_fault(const comm::Launch& launch, const MpiWorld& world,
                         const std::string& command);

}  // namespace winnow::app
