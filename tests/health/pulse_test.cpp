#include "common/health/pulse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace winnow::health::pulse_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const JobSecret kSecret{std::byte{7}};

// A job in simulated time. Ranks take steps together, exchange their status, and may freeze, die,
// lose their link or get no core for a while. Messages to the user are kept.
class World {
 public:
  struct Rank {
    bool frozen = false;
    bool dead = false;
    bool cut_off = false;  // cut off from other machines
    bool starved = false;  // no core: messages wait for it
    bool mute = false;     // its machine refuses nothing, as behind a firewall
    std::optional<int> ended;
    std::int64_t step = 1;
    std::uint32_t marks = 0;
    std::vector<std::string> said;
    std::vector<Heard> inbox;
  };

  explicit World(const Limits& limits, std::vector<int> machines = {0, 1, 2, 3}) {
    std::vector<Member> members;
    for (const int m : machines) members.push_back({"h" + std::to_string(m + 1), m});
    machines_ = std::move(machines);
    for (int r = 0; r < size(); ++r) pulses_.emplace_back(r, members, kSecret, limits);
    ranks.resize(machines_.size());
  }

  int size() const { return static_cast<int>(machines_.size()); }

  void run(double seconds) {
    for (const double end = now + seconds; now < end; now += 1) second();
  }

  std::vector<std::string> told() const {
    std::vector<std::string> all;
    for (const Rank& rank : ranks) all.insert(all.end(), rank.said.begin(), rank.said.end());
    return all;
  }

  std::vector<Rank> ranks;
  double now = 0;
  int muffled = -1;  // a rank whose heartbeats nobody hears
  std::int64_t saved = 0;
  std::int64_t steps_a_second = 1;
  int questions = 0;  // to machines
  int answers = 0;
  bool steps = true;                              // false: all compute one long step
  std::function<void(int rank, Status&)> change;  // changes the status that a rank sends

 private:
  bool runs(int r) const {
    const Rank& rank = ranks[static_cast<std::size_t>(r)];
    return !rank.frozen && !rank.dead && !rank.ended && !rank.starved;
  }
  bool reach(int a, int b) const {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    return machines_[i] == machines_[j] || !(ranks[i].cut_off || ranks[j].cut_off);
  }

  void second() {
    bool all = steps;
    for (int r = 0; r < size(); ++r) {
      all = all && runs(r) && !ranks[static_cast<std::size_t>(r)].cut_off;
    }
    if (all) {
      for (Rank& rank : ranks) rank.step += steps_a_second;
    }
    for (int r = 0; r < size(); ++r) {
      if (runs(r)) beat(r, all);
    }
  }

  void beat(int r, bool all) {
    Rank& rank = ranks[static_cast<std::size_t>(r)];
    Status status{.rank = r, .stage = Stage::kBackward, .step = rank.step};
    status.marks = rank.marks += all ? 1 : 0;
    if (!all && steps) {
      status.stage = Stage::kGradients;
      status.wait = Wait::kGradients;
    }
    if (change) change(r, status);
    Pulse& pulse = pulses_[static_cast<std::size_t>(r)];
    for (const Heard& heard : std::exchange(rank.inbox, {})) pulse.hear(heard, now);
    const Beat done = pulse.beat(status, saved, now);
    for (const Sentence& s : done.sentences) {
      if (s.to_people) rank.said.push_back(s.text);
    }
    for (const int p : done.probes) probe(r, p);
    for (int to = 0; to < size(); ++to) {
      if (to != r) deliver(r, to, done.message);
    }
    if (!done.exit_code) return;
    rank.ended = done.exit_code;
    for (int to = 0; to < size(); ++to) {
      if (to != r) deliver(r, to, pulses_[static_cast<std::size_t>(r)].farewell(*done.exit_code));
    }
  }

  void deliver(int from, int to, const Bytes& message) {
    if (!reach(from, to) || from == muffled) return;
    if (ranks[static_cast<std::size_t>(to)].dead) {
      pulses_[static_cast<std::size_t>(from)].hear({.kind = Heard::Kind::kRefused, .rank = to},
                                                   now);
    } else if (ranks[static_cast<std::size_t>(to)].starved) {
      ranks[static_cast<std::size_t>(to)].inbox.push_back({.bytes = message});
    } else if (runs(to)) {
      EXPECT_EQ(pulses_[static_cast<std::size_t>(to)].hear({.bytes = message}, now), from);
    }
  }

  // A kernel answers whatever its processes do, but only one question per second.
  void probe(int from, int of) {
    ++questions;
    pulses_[static_cast<std::size_t>(from)].asked(of, now);
    if (!reach(from, of) || ranks[static_cast<std::size_t>(of)].mute) return;
    std::optional<double>& last = answered_[{machines_[static_cast<std::size_t>(from)],
                                             machines_[static_cast<std::size_t>(of)]}];
    if (std::exchange(last, now) == now) return;
    ++answers;
    ranks[static_cast<std::size_t>(from)].inbox.push_back(
        {.kind = Heard::Kind::kAnswered, .rank = of});
  }

  std::map<std::pair<int, int>, std::optional<double>>
      answered_;  // when the second machine answered the first
  std::vector<int> machines_;
  std::vector<Pulse> pulses_;
};

TEST(Pulse, AnHourOfTrainingIsSilent) {
  World world({});
  world.run(3600);
  EXPECT_TRUE(world.told().empty());
  EXPECT_GT(world.ranks[0].step, 3600);
}

TEST(Pulse, AnHourOfOneStepIsSilent) {
  World world({});
  world.steps = false;
  world.run(3600);
  EXPECT_TRUE(world.told().empty());
}

TEST(Pulse, AFrozenRankIsNamedOnceAndThatAllGoOn) {
  World world({});
  world.run(20);
  world.ranks[1].frozen = true;
  world.run(14);
  ASSERT_EQ(world.told().size(), 1U);
  EXPECT_THAT(world.ranks[0].said.at(0),
              AllOf(HasSubstr("s for rank 1 (h2), last seen in step 21, backward, bucket 0: its "
                              "process is frozen"),
                    HasSubstr("2 others wait too")));
  world.ranks[1].frozen = false;
  world.run(10);
  EXPECT_THAT(world.told().back(), HasSubstr("all ranks continue, after"));
  const auto said = world.told().size();
  world.run(600);
  EXPECT_EQ(world.told().size(), said);
}

// With short steps, a rank's last status is soon old.
TEST(Pulse, AFrozenRankIsNamedWhereStepsAreShort) {
  World world({});
  world.steps_a_second = 500;
  world.run(20);
  world.ranks[1].frozen = true;
  for (const int r : {0, 2, 3}) world.ranks[static_cast<std::size_t>(r)].step += 300;
  world.run(14);
  EXPECT_THAT(world.ranks[0].said.at(0), HasSubstr("its process is frozen"));
}

TEST(Pulse, HeartbeatsThatAreHeldUpAccuseNobody) {
  World world({.hang_s = 100});
  world.run(20);
  world.muffled = 2;
  world.run(600);
  EXPECT_EQ(world.told().size(), 1U);
  EXPECT_THAT(world.told().at(0), HasSubstr("heartbeats do not arrive, though it takes part"));
  EXPECT_FALSE(world.ranks[0].ended);
}

TEST(Pulse, ALinkThatIsLostAfterSomeHeartbeatsIsToldAsALink) {
  World world({.stall_s = 5});
  world.run(20);
  world.muffled = 2;
  world.run(4);
  world.ranks[2].cut_off = true;
  world.run(14);
  EXPECT_FALSE(world.ranks[0].said.empty());
  for (const std::string& sentence : world.ranks[0].said) {
    EXPECT_THAT(sentence, AllOf(HasSubstr("rank 2 (h3)"), HasSubstr("link is down")));
  }
}

TEST(Pulse, AWaitThatLastsIsToldMoreAndMoreSeldom) {
  World world({});
  world.run(5);
  world.ranks[3].frozen = true;
  world.run(1000);
  EXPECT_EQ(world.told().size(), 7U);  // 10, 20, 40, ... 640 s
}

TEST(Pulse, WhereRankZeroIsFrozenTheNextOneSpeaks) {
  World world({});
  world.run(5);
  world.ranks[0].frozen = true;
  world.run(14);
  EXPECT_TRUE(world.ranks[0].said.empty());
  EXPECT_EQ(world.ranks[1].said.size(), 1U);
  EXPECT_TRUE(world.ranks[2].said.empty());
}

TEST(Pulse, ALostLinkIsToldOnBothSides) {
  World world({});
  world.run(5);
  world.ranks[2].cut_off = true;
  world.run(14);
  EXPECT_THAT(world.ranks[0].said.at(0),
              AllOf(HasSubstr("rank 2 (h3)"), HasSubstr("link is down")));
  EXPECT_THAT(world.ranks[2].said.at(0),
              HasSubstr("nothing comes from any other machine: the link of this one, h3, is down"));
  world.ranks[2].cut_off = false;
  world.run(10);
  EXPECT_THAT(world.ranks[0].said.back(), HasSubstr("all ranks continue"));
}

bool accuses(const std::string& sentence) {
  return sentence.find("frozen, ") != std::string::npos ||
         sentence.find("nothing comes") != std::string::npos ||
         sentence.find("link") != std::string::npos || sentence.find("gone") != std::string::npos;
}

// All ranks start on machines without a spare core.
TEST(Pulse, RanksThatStartOnABusyMachineAreAccusedOfNothing) {
  int told = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    World world({.stall_s = 5});
    world.steps = false;
    world.change = [](int r, Status& s) {
      s = {.rank = r, .wait = r == 0 ? Wait::kOthers : Wait::kNone, .cpu = 0.05F};
    };
    for (int s = 0; s < 300; ++s) {
      for (auto& rank : world.ranks) rank.starved = random() % 8 != 0;
      world.run(1);
    }
    for (const std::string& sentence : world.told()) {
      EXPECT_FALSE(accuses(sentence)) << seed << ": " << sentence;
      told += sentence.find("still starting") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(told, 100);
}

// A rank that seldom runs reads what arrived meanwhile, and blames nobody who was there all the
// time.
TEST(Pulse, ARankThatRunsSeldomAccusesNobody) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    World world({.stall_s = 5});
    world.steps = false;
    for (int s = 0; s < 600; ++s) {
      world.ranks[0].starved = random() % 8 != 0;
      world.run(1);
    }
    EXPECT_TRUE(world.ranks[0].said.empty()) << seed << ": " << world.ranks[0].said.front();
  }
}

TEST(Pulse, ALinkThatIsLostInTheStartIsToldInTime) {
  World world({});
  world.steps = false;
  world.change = [](int r, Status& s) { s = {.rank = r, .wait = Wait::kOthers}; };
  world.run(5);
  world.ranks[2].cut_off = true;
  world.run(14);
  EXPECT_THAT(world.ranks[0].said.at(0),
              AllOf(HasSubstr("rank 2 (h3), last seen starting"), HasSubstr("link is down")));
}

// If questions are never answered, a missing answer means nothing.
TEST(Pulse, BehindAFirewallNoLinkIsAccused) {
  World world({});
  world.ranks[2].mute = true;
  world.run(60);
  world.ranks[2].frozen = true;
  world.run(18);
  ASSERT_EQ(world.told().size(), 1U);
  EXPECT_THAT(world.told().at(0),
              HasSubstr("rank 2 (h3), last seen in step 61, backward, bucket "
                        "0: nothing comes from it; whether its machine is up is unknown"));
}

// The report of rank 0 about rank 1, which falls silent. Questions are sent only at some times, and
// none is answered.
std::string said_where(const std::function<bool(double now)>& is_sent) {
  Pulse pulse(0, {{"h1", 0}, {"h2", 1}, {"h3", 2}}, kSecret, {});
  const auto hear = [&](int r, double now) {
    pulse.hear({.bytes = encode({.rank = r, .stage = Stage::kBackward, .step = 5}, kSecret)}, now);
  };
  pulse.hear({.kind = Heard::Kind::kAnswered, .rank = 1}, 0);
  hear(1, 0);
  std::string said;
  for (int tick = 0; tick < 300; ++tick) {
    const double now = 0.1 * tick;
    hear(2, now);
    const Beat beat = pulse.beat({.stage = Stage::kGradients, .step = 5}, 0, now);
    for (const Sentence& s : beat.sentences) said += s.text + "\n";
    for (const int rank : beat.probes) {
      if (rank == 1 && is_sent(now)) pulse.asked(1, now);
    }
  }
  return said;
}

// Questions that were not sent, or whose answers had no time to arrive, are no evidence.
TEST(Pulse, OnlyQuestionsThatCouldBeAnsweredCount) {
  EXPECT_THAT(said_where([](double) { return true; }), HasSubstr("link is down"));
  const auto within_a_second = [](double now) { return now >= 9 && now < 10; };
  for (const std::string& said :
       {said_where([](double) { return false; }), said_where(within_a_second)}) {
    EXPECT_THAT(said, AllOf(HasSubstr("rank 1 (h2)"), HasSubstr("is unknown")));
    EXPECT_THAT(said, Not(HasSubstr("link is down")));
  }
}

// Eight ranks ask as seldom as one, so that a kernel that answers once per second can answer all.
TEST(Pulse, RanksOfOneMachineAskTogether) {
  World world({}, {0, 0, 0, 0, 1, 1, 1, 1});
  world.run(20);
  EXPECT_EQ(world.questions, 2);  // each machine once, whether it answers
  for (const int r : {4, 5, 6, 7}) world.ranks[static_cast<std::size_t>(r)].frozen = true;
  world.run(40);
  EXPECT_EQ(world.questions, world.answers);
  EXPECT_GT(world.questions, 30);
  for (const std::string& sentence : world.told()) {
    EXPECT_THAT(sentence, HasSubstr("ranks 4, 5, 6 and 7 (h2)"));
    EXPECT_THAT(sentence, HasSubstr("frozen"));
  }
}

TEST(Pulse, AJobThatWasSuspendedAccusesNobody) {
  World world({});
  world.run(20);
  for (auto& rank : world.ranks) rank.frozen = true;
  world.now += 3600;
  for (auto& rank : world.ranks) rank.frozen = false;
  world.run(60);
  EXPECT_TRUE(world.told().empty());
}

TEST(Pulse, ADeadRankEndsAllWithinAMinute) {
  World world({.hang_s = 1800});
  world.saved = 12;
  world.run(20);
  world.ranks[2].dead = true;
  world.run(14);
  EXPECT_THAT(world.told().at(0), AllOf(HasSubstr("rank 2 (h3)"), HasSubstr("is gone")));
  EXPECT_FALSE(world.ranks[0].ended);
  world.run(50);
  for (const int r : {0, 1, 3}) EXPECT_EQ(world.ranks[static_cast<std::size_t>(r)].ended, 75);
  EXPECT_THAT(world.told().back(), HasSubstr("step 12"));
}

TEST(Pulse, AHangEndsAllRanksWithTheSameCode) {
  for (const std::int64_t saved : {0, 40}) {
    World world({.hang_s = 100});
    world.saved = saved;
    world.run(20);
    world.ranks[1].frozen = true;
    world.run(95);
    EXPECT_FALSE(world.ranks[0].ended);
    world.run(10);
    for (const int r : {0, 2, 3}) {
      EXPECT_EQ(world.ranks[static_cast<std::size_t>(r)].ended, saved > 0 ? 75 : 1);
    }
    EXPECT_THAT(world.told().back(), HasSubstr(saved > 0 ? "--resume auto" : "no checkpoint"));
  }
}

TEST(Pulse, BothSidesOfALostLinkEnd) {
  World world({.hang_s = 100});
  world.run(20);
  world.ranks[3].cut_off = true;
  world.run(110);
  for (const auto& rank : world.ranks) EXPECT_EQ(rank.ended, 1);
}

TEST(Pulse, WithoutATimeoutNoJobEnds) {
  World world({.hang_s = 0});
  world.run(20);
  world.ranks[1].dead = true;
  world.ranks[2].frozen = true;
  world.run(100'000);
  EXPECT_FALSE(world.ranks[0].ended);
}

TEST(Pulse, ALongCheckpointIsNoHang) {
  World world({.hang_s = 100});
  world.steps = false;
  world.change = [&](int r, Status& s) {
    s.stage = Stage::kSaving;
    s.wait = r == 0 ? Wait::kNone : Wait::kOthers;
    s.io_kib = r == 0 ? static_cast<std::uint64_t>(world.now * 1000) : 0;
  };
  world.run(1000);
  EXPECT_TRUE(world.told().empty());
  EXPECT_FALSE(world.ranks[0].ended);
}

TEST(Pulse, RanksThatWereNeverHeardAreToldOnce) {
  World world({});
  world.ranks[3].cut_off = true;
  world.steps = false;
  world.run(600);
  EXPECT_EQ(world.ranks[0].said.size(), 1U);
  EXPECT_THAT(world.ranks[0].said.at(0),
              AllOf(HasSubstr("no heartbeats from rank 3 (h4)"), HasSubstr("the run continues")));
}

TEST(Pulse, AStragglerIsToldAfterHalfAMinute) {
  World world({});
  world.change = [](int r, Status& s) {
    // It is not slow in every second.
    s.seconds = {.step = 0.3F, .work = r == 2 && s.step % 8 != 0 ? 0.2F : 0.1F};
  };
  world.run(25);
  EXPECT_TRUE(world.told().empty());
  world.run(35);
  ASSERT_EQ(world.told().size(), 1U);
  EXPECT_THAT(world.told().at(0),
              AllOf(HasSubstr("rank 2 (h3) holds up every step, last seen in step"),
                    HasSubstr("computes slowly")));
  world.run(600);
  EXPECT_EQ(world.told().size(), 1U);
}

// Machines are asked once at the beginning. An answer from then says nothing about later.
TEST(Pulse, ALinkThatGoesDownAtTheBeginningLeavesNobodyFrozen) {
  for (int begin = 1; begin <= 12; ++begin) {
    World world({.stall_s = 5});
    world.run(begin);
    world.ranks[3].cut_off = true;
    world.run(30);
    EXPECT_FALSE(world.told().empty());
    for (const std::string& said : world.told()) {
      EXPECT_THAT(said, Not(HasSubstr("frozen"))) << "after " << begin << " s";
    }
  }
}

// A straggler is reported again even if another one, or the same, was reported before.
TEST(Pulse, AStragglerIsToldAnewWhenItWasOver) {
  World world({});
  int slow = 2;
  world.change = [&](int r, Status& s) {
    s.seconds = {.step = 0.3F, .work = r == slow ? 0.2F : 0.1F};
  };
  const auto run_with = [&](int rank, double seconds) {
    slow = rank;
    world.run(seconds);
  };
  run_with(2, 60);
  run_with(-1, 20);  // briefly
  run_with(2, 60);
  EXPECT_EQ(world.told().size(), 1U);
  run_with(1, 60);
  ASSERT_EQ(world.told().size(), 2U);
  EXPECT_THAT(world.told().back(), HasSubstr("rank 1 (h2) holds up every step"));
  run_with(-1, 60);
  run_with(2, 60);
  ASSERT_EQ(world.told().size(), 3U);
  EXPECT_THAT(world.told().back(), HasSubstr("rank 2 (h3) holds up every step"));
}

TEST(Pulse, ARankThatIsTenTimesAsSlowIsToldAsSoonAsOneThatIsFrozen) {
  World world({});
  world.change = [](int r, Status& s) {
    s.seconds = {.step = 0.9F, .work = r == 2 ? 0.4F : 0.04F};  // its messages are also late
  };
  world.run(5);  // a few slow steps are not reported
  EXPECT_TRUE(world.told().empty());
  world.run(5);
  ASSERT_EQ(world.told().size(), 1U);
  EXPECT_THAT(world.told().at(0), HasSubstr("rank 2 (h3) holds up every step"));
}

TEST(Pulse, TwoThatAreTenTimesAsSlowAreToldBoth) {
  World world({});
  world.change = [](int r, Status& s) {
    s.seconds = {.step = 0.9F, .work = r % 2 == 1 ? 0.4F + 0.1F * static_cast<float>(r) : 0.04F};
  };
  world.run(10);
  ASSERT_EQ(world.told().size(), 2U);
  EXPECT_THAT(world.told().at(0), HasSubstr("rank 1 (h2) holds up every step"));
  EXPECT_THAT(world.told().at(1), HasSubstr("rank 3 (h4) holds up every step"));
}

// As when all wait for a frozen rank, after some steps in which another was slow.
TEST(Pulse, NobodyIsToldToBeSlowWhereNoStepEnds) {
  World world({});
  world.change = [](int r, Status& s) {
    s.seconds = {.step = 0.9F, .work = r == 2 ? 0.4F : 0.04F};
  };
  world.run(3);
  world.steps = false;
  world.run(60);
  for (const std::string& said : world.told()) EXPECT_THAT(said, Not(HasSubstr("holds up")));
}

TEST(Pulse, ASecondFaultDoesNotWaitForTheFirstOnesNextSentence) {
  World world({});
  world.run(30);
  world.ranks[1].frozen = true;
  world.run(2);
  world.ranks[3].frozen = true;
  world.run(12);
  EXPECT_THAT(world.told().back(), HasSubstr("ranks 1 and 3 (h2, h4)"));
}

TEST(Pulse, TheLastWordsNameThoseThatAreGone) {
  Pulse pulse(0, {{"h1", 0}, {"h2", 1}, {"h3", 2}}, kSecret, {});
  const auto hear = [&](const Status& status, double now) {
    pulse.hear({.bytes = encode(status, kSecret)}, now);
  };
  pulse.beat({.step = 17}, 0, 0);
  hear({.rank = 1, .stage = Stage::kBackward, .bucket = 3, .step = 17}, 0.2);
  hear({.rank = 2, .stage = Stage::kLeaving, .step = 17}, 0.2);  // it has finished its part
  EXPECT_TRUE(pulse.last_words(0.3).empty());
  for (const int r : {1, 2}) pulse.hear({.kind = Heard::Kind::kRefused, .rank = r}, 0.4);
  const std::vector<Sentence> words = pulse.last_words(0.5);
  ASSERT_EQ(words.size(), 1U);
  EXPECT_TRUE(words[0].to_people);
  EXPECT_EQ(words[0].text,
            "rank 1 (h2) is gone, last seen in step 17, backward, bucket 3: its process was killed "
            "or crashed");
  EXPECT_TRUE(pulse.last_words(0.6).empty());  // only once
}

TEST(Pulse, MessagesOfOthersChangeNothing) {
  Pulse pulse(0, {{"h1", 0}, {"h2", 1}}, kSecret, {});
  const Bytes strange = encode({.rank = 1}, JobSecret{std::byte{8}});
  EXPECT_FALSE(pulse.hear({.bytes = strange}, 1));
  EXPECT_FALSE(pulse.hear({.bytes = Bytes(2000)}, 1));
  EXPECT_FALSE(pulse.hear({.bytes = encode({.rank = 0}, kSecret)}, 1));  // its own message
  EXPECT_EQ(pulse.hear({.bytes = encode({.rank = 1}, kSecret)}, 1), 1);
}

// Random faults, one or two at a time, of ranks on two or four machines. They are reported in time
// and for the right ranks, and end when the faults do.
TEST(Pulse, RandomFaultsAreToldInTime) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const bool pairs = seed % 2 == 1;
    World world({}, pairs ? std::vector<int>{0, 0, 1, 1} : std::vector<int>{0, 1, 2, 3});
    world.run(5 + static_cast<double>(random() % 60));
    std::vector<int> hit{static_cast<int>(random() % 4)};
    if (random() % 2 == 0) hit.push_back((hit[0] + 1) % 4);
    for (const int r : hit) {
      auto& rank = world.ranks[static_cast<std::size_t>(r)];
      (random() % 2 == 0 ? rank.frozen : rank.dead) = true;
    }
    world.run(15);
    const auto told = world.told();
    ASSERT_FALSE(told.empty()) << seed;
    for (const int r : hit) {
      const bool named = std::ranges::any_of(told, [&](const std::string& sentence) {
        return sentence.find(std::to_string(r)) != std::string::npos;
      });
      EXPECT_TRUE(named) << seed << ", rank " << r << ": " << told.back();
    }
    for (int r = 0; r < 4; ++r) {
      if (std::ranges::find(hit, r) != hit.end()) continue;
      for (const std::string& sentence : told) {
        EXPECT_EQ(sentence.find("for rank " + std::to_string(r)), std::string::npos)
            << seed << ": " << sentence;
      }
    }
  }
}

}  // namespace winnow::health::pulse_test
