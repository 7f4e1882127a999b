#pragma once

#include <string>

#include "common/comm/mpi/launcher.h"

namespace winnow::app {

// The launch as MPI sees it.
struct MpiWorld {
  bool built = false;   // this build has MPI
  std::string library;  // "Open MPI v4.1.4"
  int size = 1;         // ranks that MPI connected
};

// Why processes of this launch are no ranks of one job, and what to type instead. Empty if they
// are, or if there is only one process. `command`: "winnow train". Pure.
std::string launch_fault(const comm::Launch& launch, const MpiWorld& world,
                         const std::string& command);

}  // namespace winnow::app
