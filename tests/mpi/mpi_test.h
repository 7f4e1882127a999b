#pragma once

#include "common/comm/communicator.h"

namespace winnow::comm {

// The communicator of all ranks of this test program. Its main (CMake target winnow::mpi_test_main)
// creates it before the first test.
//
// Tests run in step on all ranks. After each test the ranks agree whether it failed anywhere; if
// so, all exit with a non-zero code at the end. An expectation that fails lets the test continue. A
// fatal failure or an exception on one rank ends the whole program at once, because other ranks may
// already wait for it.
Communicator& mpi_world();

}  // namespace winnow::comm
