#pragma once

#include "common/comm/communicator.h"

namespace winnow::comm {

// The communicator of all ranks of this test program, made by its main (the CMake target
// winnow::mpi_test_main) before the first test.
// In step  after each test the ranks agree whether it failed anywhere; then all exit non-zero
// Fatal    a fatal failure or an exception on one rank ends the whole program at once, because the
//          others may be waiting for it; failed expectations let the test go on
Communicator& mpi_world();

}  // namespace winnow::comm
