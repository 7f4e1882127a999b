#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/mpi/mpi_test.h"

// Tests that fail on purpose on a single rank, to see whether mpi_test_main reports it. Each is run
// alone.

namespace winnow::comm::main_failure_test {

bool on_last_rank() { return mpi_world().rank() == mpi_world().size() - 1; }

TEST(MainFailure, Expectation) {
  EXPECT_FALSE(on_last_rank()) << "on purpose";
  mpi_world().barrier();
}

TEST(MainFailure, Assertion) {
  ASSERT_FALSE(on_last_rank()) << "on purpose";
  mpi_world().barrier();  // the last rank never arrives
}

TEST(MainFailure, Exception) {
  if (on_last_rank()) throw std::runtime_error("on purpose");
  mpi_world().barrier();
}

TEST(MainFailure, None) { mpi_world().barrier(); }

}  // namespace winnow::comm::main_failure_test
