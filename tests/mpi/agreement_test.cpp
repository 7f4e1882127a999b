// The behaviour of ranks when one of them differs. Run on several ranks.

#include "common/comm/agreement.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/mpi/mpi_test.h"

namespace winnow::comm::agreement_test {

// The exit code that a rank would have, and its message.
std::pair<int, std::string> outcome_of(const std::function<void()>& work) {
  try {
    work();
    return {0, ""};
  } catch (const std::exception& error) {
    return {exit_code_of_current_exception(), error.what()};
  }
}

TEST(Agreement, EqualFactsPass) {
  EXPECT_NO_THROW(require_agreement(mpi_world(), {{"build", "1"}, {"cache", "abc"}}));
}

TEST(Agreement, ADifferentRankIsNamedWithWhatDiffers) {
  Communicator& comm = mpi_world();
  const int odd = comm.size() - 1;
  const std::string cache = comm.rank() == odd ? "b" : "a";
  const auto [code, words] = outcome_of([&] {
    require_agreement(comm, {{"build", "1"}, {"cache", cache}});
  });
  if (comm.size() == 1) {
    EXPECT_EQ(code, 0);
    return;
  }
  EXPECT_EQ(code, 1);
  if (comm.rank() != odd) return;
  EXPECT_NE(words.find("rank " + std::to_string(odd) + " differs"), std::string::npos) << words;
  EXPECT_NE(words.find("cache (here b, on rank 0 a)"), std::string::npos) << words;
  EXPECT_EQ(words.find("build"), std::string::npos) << words;
}

TEST(Agreement, AFailureOfRankZeroStopsAllWithItsExitCode) {
  Communicator& comm = mpi_world();
  const auto [code, words] = outcome_of([&] { on_root(comm, [] { throw UsageError("no"); }); });
  EXPECT_EQ(code, 2);
  EXPECT_EQ(words, comm.rank() == 0 ? "no" : "another rank failed");
}

TEST(Agreement, AFailureCommonToAllIsToldOnce) {
  Communicator& comm = mpi_world();
  const auto [code, words] = outcome_of([&] { on_all(comm, [] { throw RefusedError("all"); }); });
  EXPECT_EQ(code, 3);
  EXPECT_EQ(words, comm.rank() == 0 ? "all" : "another rank failed");
}

}  // namespace winnow::comm::agreement_test
