#include "tools/startup_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tools::startup_watch_test {

using testing::HasSubstr;
using testing::Not;

TEST(StartupWatch, NamesCardsAndTheFlag) {
  const std::vector<NetworkCard> cards{{"eth0", "10.0.0.1"},
                                       {"docker0", "172.17.0.1"},
                                       {"ib0", "10.1.0.1"},
                                       {"virbr0", "192.168.122.1"}};
  const std::string said = startup_sentence("node7", cards, 10, true);
  EXPECT_THAT(said, HasSubstr("node7: MPI has not connected"));
  EXPECT_THAT(said,
              HasSubstr("eth0 10.0.0.1, docker0 172.17.0.1, ib0 10.1.0.1, virbr0 192.168.122.1"));
  EXPECT_THAT(said, HasSubstr("MPI may have taken docker0,virbr0"));
  EXPECT_THAT(said, HasSubstr("--mca btl_tcp_if_include eth0,ib0"));
}

TEST(StartupWatch, SaysNothingOfCardsThatAreNotThere) {
  const std::vector<NetworkCard> one{{"eth0", "10.0.0.1"}};
  EXPECT_THAT(startup_sentence("n", one, 2.5, true), HasSubstr("for 2.5 s"));
  EXPECT_THAT(startup_sentence("n", one, 10, true), Not(HasSubstr("may have taken")));
  EXPECT_THAT(startup_sentence("n", {}, 10, true), HasSubstr("its network cards are none"));
  EXPECT_THAT(startup_sentence("n", {}, 10, true), HasSubstr("btl_tcp_if_include CARD"));
}

TEST(StartupWatch, NamesNoFlagOfAnotherMpi) {
  const std::string said =
      startup_sentence("n", std::vector<NetworkCard>{{"eth0", "10.0.0.1"}}, 10, false);
  EXPECT_THAT(said, Not(HasSubstr("--mca")));
  EXPECT_THAT(said, HasSubstr("as the manual of this MPI says: eth0"));
}

TEST(StartupWatch, IsSilentWhereRanksAreThereInTime) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) const StartupWatch watch(1000, 2000, "");
  for (int i = 0; i < 20; ++i) const StartupWatch never(0, 0, "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(StartupWatchDeathTest, EndsWhatNeverConnects) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto wait = [](double warning_s, const char* flag) {
    const StartupWatch watch(warning_s, 0.02, flag);
    std::this_thread::sleep_for(std::chrono::hours(1));
  };
  EXPECT_EXIT(wait(0.01, "--some-flag"), testing::ExitedWithCode(1),
              "MPI has not connected .*for 0.02 s \\(--some-flag\\); this job ends");
  EXPECT_EXIT(wait(1e6, ""), testing::ExitedWithCode(1), "for 0.02 s; this job ends");
  EXPECT_EXIT(wait(0, ""), testing::ExitedWithCode(1), "^winnow: .*for 0.02 s; this job ends");
}

}  // namespace winnow::tools::startup_watch_test
