#include "tools/startup_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "common/error.h"

namespace winnow::tools::startup_reach_test {

using testing::ElementsAre;
using testing::IsEmpty;
using Cards = std::vector<NetworkCard>;

TEST(Introductions, AreReadAsTheyWereWritten) {
  const Introduction plain{"h1", 43211, {{"eth0", "10.0.0.1"}, {"docker0", "172.17.0.1"}}};
  EXPECT_EQ(to_text(plain), "h1 43211 eth0=10.0.0.1 docker0=172.17.0.1");
  EXPECT_EQ(parse_introduction(to_text(plain)), plain);
  const Introduction bare{"h1", 1, {}};
  EXPECT_EQ(parse_introduction(to_text(bare)), bare);
  for (const char* other : {"", "h1", "h1 port", "h1 70000", "h1 12x", "h1 12 eth0"}) {
    EXPECT_EQ(parse_introduction(other), std::nullopt) << other;
  }
}

TEST(Introductions, HaveRoomForSoManyCards) {
  Introduction many{"h1", 1, {}};
  for (int i = 0; i < 200; ++i) {
    many.cards.push_back({"veth" + std::to_string(i), "10.0.0." + std::to_string(i)});
  }
  const std::string text = to_text(many);
  EXPECT_LT(text.size(), 1000U);
  const auto read = parse_introduction(text);
  ASSERT_TRUE(read);
  EXPECT_GT(read->cards.size(), 30U);
  EXPECT_EQ(read->cards.front(), many.cards.front());
}

// All loopback addresses belong to this machine. A port without a listener is like a bell that is
// gone.
TEST(TriedMachines, AnswerRefuseOrAreThisOne) {
  const Doorbell bell;
  std::uint16_t gone = 0;
  {
    const Doorbell other;
    gone = other.port();
  }
  const Cards own{{"docker0", "127.0.0.7"}};
  const auto tried =
      try_machines({{"h2", bell.port(), {{"eth0", "127.0.0.1"}, {"docker0", "127.0.0.7"}}},
                    {"h3", gone, {{"eth0", "127.0.0.2"}}},
                    {"h4", 1, {{"eth0", "no address"}}},
                    {"h5", 1, {}}},
                   own, 60);
  ASSERT_EQ(tried.size(), 4U);
  EXPECT_THAT(tried[0].reach, ElementsAre(Reach::kAnswers, Reach::kOwn));
  EXPECT_THAT(tried[1].reach, ElementsAre(Reach::kRefuses));
  EXPECT_THAT(tried[2].reach, ElementsAre(Reach::kUnknown));
  EXPECT_THAT(tried[3].reach, IsEmpty());
  EXPECT_THAT(try_machines({}, own, 60), IsEmpty());
}

// A process that cannot open more files learns nothing about other machines.
TEST(TriedMachines, AreUnknownWithoutSockets) {
  const Doorbell bell;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto tried = try_machines({{"h2", bell.port(), {{"eth0", "127.0.0.1"}}}}, {}, 60);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_EQ(tried.size(), 1U);
  EXPECT_THAT(tried[0].reach, ElementsAre(Reach::kUnknown));
  EXPECT_THAT(reach_sentences("h1", tried), IsEmpty());
}

TEST(ReachSentences, SayWhoDoesNotReachWhomAndByWhat) {
  const auto machine = [](int number) {
    const std::string n = std::to_string(number);
    return Introduction{"h" + n, 1, {{"eth0", "10.0.0." + n}, {"docker0", "172.17.0.1"}}};
  };
  EXPECT_THAT(
      reach_sentences("h1", std::vector<Tried>{{machine(2), {Reach::kAnswers, Reach::kOwn}}}),
      ElementsAre("h1 reaches h2 by eth0 10.0.0.2, but not by docker0 172.17.0.1, whose "
                  "address h1 has too"));
  EXPECT_THAT(
      reach_sentences("h1", std::vector<Tried>{{machine(2), {Reach::kSilent, Reach::kRefuses}}}),
      ElementsAre("h1 does not reach h2: eth0 10.0.0.2, which does not answer; docker0 "
                  "172.17.0.1, which refuses"));
  EXPECT_THAT(reach_sentences("h1", std::vector<Tried>{{{"h2", 1, {}}, {}}}),
              ElementsAre("h1 does not reach h2: it has no card"));
  EXPECT_THAT(
      reach_sentences("h1", std::vector<Tried>{{machine(2), {Reach::kAnswers, Reach::kAnswers}}}),
      IsEmpty());
}

TEST(ReachSentences, AreOneForMachinesAlike) {
  std::vector<Tried> others;
  for (int n = 2; n < 9; ++n) {
    const std::string host = "h" + std::to_string(n);
    others.push_back({{host, 1, {{"eth0", "10.0.0." + std::to_string(n)}}},
                      {n == 4 ? Reach::kAnswers : Reach::kSilent}});
  }
  EXPECT_THAT(reach_sentences("h1", others),
              ElementsAre("h1 does not reach h2, h3, h5, h6 and 2 more: eth0, which does not "
                          "answer"));
}

TEST(ReachSentences, SayNothingWhereACardWasNotTried) {
  const Introduction other{"h2", 1, {{"eth0", "10.0.0.2"}, {"ib0", "10.1.0.2"}}};
  for (const Reach first : {Reach::kUnknown, Reach::kAnswers, Reach::kSilent}) {
    EXPECT_THAT(reach_sentences("h1", std::vector<Tried>{{other, {first, Reach::kUnknown}}}),
                IsEmpty());
  }
}

}  // namespace winnow::tools::startup_reach_test
