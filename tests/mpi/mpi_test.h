#pragma once

#include "common/comm/communicator.h"

namespace winnow::comm {

// The communicator of all ranks of this test program, made by its main (the CMake target
// winnow::mpi_test_main) before the first test. Tests run in step on all ranks: after each test the
// ranks agree whether it failed anywhere, and all exit non-zero then. A fatal failure or an
// exception on one rank ends the whole program at once, since the others may already be waiting for
// it; expectations that fail let the test go on.
Communicator& mpi_world();

}  // namespace winnow::comm
