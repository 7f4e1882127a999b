#pragma once

#include <string>

#include "common/comm/mpi/launcher.h"

namespace winnow::app {

// What MPI makes of a launch.
struct MpiWorld {
  bool built = false;   // this build has MPI
  std::string library;  // "Open MPI v4.1.4"
  int size = 1;         // ranks that MPI connected
};

// Pure: why processes of this launch are no ranks of one job, and what to type instead. Empty where
// they are, or where there is one. `command`: "winnow train".
std::string launch_fault(const comm::Launch& launch, const MpiWorld& world,
                         const std::string& command);

}  // namespace winnow::app
