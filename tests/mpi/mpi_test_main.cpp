#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <exception>
#include <memory>

#include "common/comm/mpi/mpi.h"
#include "tests/mpi/mpi_test.h"

namespace winnow::comm {

namespace {

std::unique_ptr<Communicator>& world() {
  static std::unique_ptr<Communicator> communicator;
  return communicator;
}

// Keeps the ranks in step from test to test, and tells each rank of failures on others.
class Agreement : public testing::EmptyTestEventListener {
 public:
  bool failed() const { return failed_; }

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    if (mpi_world().rank() != 0) {  // on rank 0 GoogleTest's own printer reports
      std::printf("%s:%d: Failure on rank %d\n%s\n",
                  result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(),
                  mpi_world().rank(), result.message());
    }
    std::fflush(stdout);
    if (result.fatally_failed()) mpi_world().abort(1);
  }

  void OnTestEnd(const testing::TestInfo& test) override {
    std::array<double, 1> failures{test.result()->Failed() ? 1.0 : 0.0};
    mpi_world().all_reduce(failures);
    if (failures[0] > 0) failed_ = true;
    if (failures[0] > 0 && mpi_world().rank() == 0) {
      std::printf("%s.%s failed on %g of %d ranks\n", test.test_suite_name(), test.name(),
                  failures[0], mpi_world().size());
    }
  }

  bool failed_ = false;
};

}  // namespace

Communicator& mpi_world() { return *world(); }

}  // namespace winnow::comm

int main(int argc, char** argv) {
  using winnow::comm::mpi_world;
  testing::InitGoogleTest(&argc, argv);
  try {
    winnow::comm::world() = winnow::comm::make_mpi();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (mpi_world().rank() != 0) delete listeners.Release(listeners.default_result_printer());
  auto* agreement = new winnow::comm::Agreement;
  listeners.Append(agreement);  // takes ownership
  const int result = RUN_ALL_TESTS();
  const bool failed = result != 0 || agreement->failed();
  winnow::comm::world().reset();
  return failed ? 1 : 0;
}
