#include "common/health/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace winnow::health::diagnosis_test {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kStall = 10;

// Four ranks on h1 .. h4 in step 17, each in its backward pass.
struct Job {
  std::vector<Member> members{{"h1", 0}, {"h2", 1}, {"h3", 2}, {"h4", 3}};
  std::vector<Seen> seen{4};

  Job() {
    for (int r = 0; r < 4; ++r) {
      Seen& s = of(r);
      s.heard = true;
      s.last = {.rank = r, .stage = Stage::kBackward, .bucket = 3, .step = 17};
      s.last.seconds.step = 0.1F;
    }
  }

  Seen& of(int rank) { return seen[static_cast<std::size_t>(rank)]; }
  // All ranks except `rank` wait for its gradients.
  void wait_for(int rank, double seconds) {
    for (int r = 0; r < 4; ++r) {
      if (r == rank) continue;
      of(r).last.stage = Stage::kGradients;
      of(r).last.wait = Wait::kGradients;
      of(r).idle_s = seconds;
    }
  }
  void silence(int rank, double seconds) {
    of(rank).silent_s = seconds;
    of(rank).idle_s = seconds;
  }
  // The machine of `rank` no longer answers questions.
  void lose(int rank, double seconds) {
    silence(rank, seconds);
    of(rank).unanswered = 8;
  }
  // No rank has done a step. All wait, except those that a test changes.
  void begin() {
    for (int r = 0; r < 4; ++r) {
      of(r).last = {.rank = r, .wait = Wait::kOthers};
      of(r).idle_s = 12;
    }
  }
  std::optional<Finding> seen_by(int me) const {
    const std::vector<Finding> found = diagnose(me, seen, members, kStall);
    return found.empty() ? std::nullopt : std::optional(found.front());
  }
  std::string words(int me) const {
    const auto found = seen_by(me);
    return found ? in_words(me, *found, seen, members) : "";
  }
};

struct Situation {
  std::string name;
  std::function<void(Job&)> happens;
  Trouble trouble;
  std::vector<int> ranks;
  int waiting;  // besides rank 0
};

const std::vector<Situation> kSituations{
    {"frozen, as its machine answers",
     [](Job& j) {
       j.wait_for(1, 12);
       j.silence(1, 12);
       j.of(1).machine_answers = true;
     },
     Trouble::kFrozen,
     {1},
     2},
    {"frozen, as another rank of its machine lives",
     [](Job& j) {
       j.members[2] = {"h2", 1};
       j.wait_for(1, 12);
       j.silence(1, 12);
     },
     Trouble::kFrozen,
     {1},
     2},
    {"two are frozen",
     [](Job& j) {
       j.wait_for(1, 12);
       for (const int r : {1, 3}) {
         j.silence(r, 12);
         j.of(r).machine_answers = true;
       }
     },
     Trouble::kFrozen,
     {1, 3},
     1},
    {"dead",
     [](Job& j) {
       j.wait_for(2, 12);
       j.silence(2, 12);
       j.of(2).refused = true;
     },
     Trouble::kDead,
     {2},
     2},
    {"busy with its start, on a machine that answers",
     [](Job& j) {
       j.begin();
       j.silence(1, 12);
       j.of(1).machine_answers = true;
     },
     Trouble::kStarting,
     {1},
     2},
    {"a machine without a core to spare for what starts there",
     [](Job& j) {
       j.begin();
       j.of(1).last.wait = Wait::kNone;
       j.of(1).idle_s = 12;
       j.of(1).most_cpu = 0.1F;
     },
     Trouble::kCompute,
     {1},
     2},
    {"frozen in a step that it has not told of",
     [](Job& j) {
       j.wait_for(1, 12);
       j.silence(1, 12);
       j.of(1).last = {.rank = 1};
       j.of(1).machine_answers = true;
     },
     Trouble::kFrozen,
     {1},
     2},
    {"a lost link",
     [](Job& j) {
       j.wait_for(3, 12);
       j.lose(3, 12);
     },
     Trouble::kLostMachine,
     {3},
     2},
    {"its own link",
     [](Job& j) {
       j.wait_for(0, 12);
       j.of(0).last.wait = Wait::kGradients;
       j.of(0).idle_s = 12;
       for (const int r : {1, 2, 3}) j.lose(r, 12);
     },
     Trouble::kLostAll,
     {1, 2, 3},
     0},
    {"a slow disk",
     [](Job& j) {
       j.wait_for(1, 12);
       j.of(1).last.stage = Stage::kReading;
       j.of(1).last.cpu = 0.05F;
     },
     Trouble::kDisk,
     {1},
     2},
    {"slow decoding",
     [](Job& j) {
       j.wait_for(1, 12);
       j.of(1).last.stage = Stage::kReading;
       j.of(1).last.cpu = 0.9F;
     },
     Trouble::kDecoding,
     {1},
     2},
    {"metrics on a disk that hangs",
     [](Job& j) {
       j.wait_for(1, 12);
       j.of(1).last.stage = Stage::kUpdating;
       j.of(1).last.cpu = 0.05F;
     },
     Trouble::kStuck,
     {1},
     2},
    {"slow compute", [](Job& j) { j.wait_for(1, 12); }, Trouble::kCompute, {1}, 2},
    {"a data exchange that waits, and so do the gradients",
     [](Job& j) {
       j.wait_for(2, 12);
       j.of(2).last.stage = Stage::kReading;
       j.of(2).last.awaits_data = true;
       j.of(2).idle_s = 12;
     },
     Trouble::kExchange,
     {2},
     2},
    {"messages that do not arrive",
     [](Job& j) {
       j.wait_for(-1, 12);
       for (int r = 0; r < 4; ++r) j.of(r).idle_s = 12;
     },
     Trouble::kMessages,
     {0, 1, 2, 3},
     0},
    {"a checkpoint on a disk that hangs",
     [](Job& j) {
       for (int r = 0; r < 4; ++r) {
         j.of(r).last.stage = Stage::kSaving;
         j.of(r).last.wait = r == 0 ? Wait::kNone : Wait::kOthers;
         j.of(r).idle_s = 12;
       }
     },
     Trouble::kStuck,
     {0},
     3},
    {"heartbeats alone are held up",
     [](Job& j) {
       j.silence(1, 16);
       j.of(1).steps_since = 3;
     },
     Trouble::kUnheard,
     {1},
     0},
};

TEST(Diagnosis, NamesWhatIsWrongAndWhoIsWaitedFor) {
  for (const Situation& s : kSituations) {
    Job job;
    s.happens(job);
    const auto found = job.seen_by(0);
    ASSERT_TRUE(found) << s.name;
    EXPECT_EQ(found->trouble, s.trouble) << s.name << ": " << job.words(0);
    EXPECT_EQ(found->ranks, s.ranks) << s.name;
    EXPECT_EQ(found->waiting, s.waiting) << s.name;
    if (s.trouble == Trouble::kUnheard) continue;
    EXPECT_EQ(found->waited_s, 12) << s.name;
  }
}

TEST(Diagnosis, TwoTroublesAtOnceAreTwoFindings) {
  Job job;
  job.wait_for(1, 12);
  job.silence(1, 12);
  job.silence(3, 14);
  job.of(1).refused = true;
  job.of(3).machine_answers = true;
  const auto found = diagnose(0, job.seen, job.members, kStall);
  EXPECT_EQ(found,
            (std::vector<Finding>{{Trouble::kDead, {1}, 12, 1}, {Trouble::kFrozen, {3}, 14, 1}}));
}

// A link or a machine is blamed only for unanswered questions that had time for an answer.
TEST(Diagnosis, WithoutEvidenceNoLinkIsAccused) {
  for (const bool starting : {false, true}) {
    Job job;
    starting ? job.begin() : job.wait_for(3, 12);
    job.silence(3, 12);
    for (job.of(3).unanswered = 0; job.of(3).unanswered < 5; ++job.of(3).unanswered) {
      EXPECT_FALSE(job.seen_by(0)) << job.words(0);
    }
    EXPECT_EQ(job.seen_by(0)->trouble, Trouble::kLostMachine);
    job.of(3).unanswered = 4;
    job.silence(3, 15);
    EXPECT_EQ(job.seen_by(0)->trouble, Trouble::kSilent);
    EXPECT_THAT(job.words(0),
                HasSubstr("nothing comes from it; whether its machine is up is unknown"));
  }
}

// This happens if a machine has no core for its heartbeat thread for a while.
TEST(Diagnosis, ARankThatTookPartWithoutHeartbeatsIsWaitedForSinceItDoesNot) {
  Job job;
  job.wait_for(3, 1);
  job.lose(3, 20);
  job.of(3).steps_since = 2;  // it sent them before it froze, while the link was down
  EXPECT_FALSE(job.seen_by(0)) << job.words(0);
  job.of(3).steps_since = 5;
  EXPECT_EQ(job.seen_by(0)->trouble, Trouble::kUnheard);
  job.silence(3, 14);
  EXPECT_FALSE(job.seen_by(0)) << job.words(0);
  job.wait_for(3, 9);
  job.silence(3, 20);
  EXPECT_FALSE(job.seen_by(0)) << job.words(0);
  job.wait_for(3, 11);
  job.silence(3, 20);
  EXPECT_EQ(job.seen_by(0), (Finding{Trouble::kLostMachine, {3}, 11, 2}));
}

// The reachable machines show whose link is down.
TEST(Diagnosis, WhileAllOthersAreInDoubtNoLinkIsAccused) {
  Job job;
  job.wait_for(0, 12);
  job.lose(1, 12);
  job.lose(2, 12);
  job.silence(3, 4);  // perhaps no more than a second behind the others
  EXPECT_FALSE(job.seen_by(0)) << job.words(0);
  job.silence(3, 1);
  EXPECT_EQ(job.seen_by(0)->trouble, Trouble::kLostMachine);
  EXPECT_EQ(job.seen_by(0)->ranks, (std::vector<int>{1, 2}));
  job.silence(3, 6);
  job.of(3).machine_answers = true;
  EXPECT_EQ(job.seen_by(0)->trouble, Trouble::kLostMachine);
  job.of(3).last.stage = Stage::kLeaving;  // no evidence about any link
  EXPECT_EQ(job.seen_by(0)->trouble, Trouble::kLostAll);
}

TEST(Diagnosis, AProcessThatWasGoneLongAgoIsNoAnswerOfItsMachine) {
  Job job;
  job.members[2] = {"h2", 1};
  job.wait_for(1, 12);
  job.lose(1, 12);
  job.lose(2, 300);
  job.of(2).refused = true;
  const auto found = diagnose(0, job.seen, job.members, kStall);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].trouble, Trouble::kLostMachine);
  EXPECT_EQ(found[1].trouble, Trouble::kDead);
}

TEST(Diagnosis, SaysNothingBeforeItsTime) {
  for (const Situation& s : kSituations) {
    Job job;
    s.happens(job);
    for (Seen& seen : job.seen) {
      if (seen.silent_s > 0) seen.silent_s = 9;
      if (seen.idle_s > 0) seen.idle_s = 9;
    }
    EXPECT_FALSE(job.seen_by(0)) << s.name << ": " << job.words(0);
  }
}

TEST(Diagnosis, IsTheSameForAllThatSeeTheSame) {
  for (const Situation& s : kSituations) {
    if (s.trouble == Trouble::kLostAll || s.trouble == Trouble::kUnheard) continue;
    Job job;
    s.happens(job);
    for (int me = 0; me < 4; ++me) {
      if (job.of(me).silent_s > 0) continue;
      const auto found = job.seen_by(me);
      ASSERT_TRUE(found) << s.name << " by " << me;
      EXPECT_EQ(found->trouble, s.trouble) << s.name << " by " << me;
      EXPECT_EQ(found->ranks, s.ranks) << s.name << " by " << me;
    }
  }
}

const std::vector<std::pair<std::string, std::function<void(Job&)>>> kOrdinary{
    {"all compute",
     [](Job& j) {
       for (Seen& s : j.seen) s.idle_s = 300;
     }},
    {"all wait, and one may be about to fall silent",
     [](Job& j) {
       j.wait_for(-1, 12);
       for (int r = 0; r < 4; ++r) j.of(r).idle_s = 12;
       j.of(1).silent_s = 4;
     }},
    {"a short wait", [](Job& j) { j.wait_for(1, 4); }},
    {"steps of a minute, one rank slower",
     [](Job& j) {
       for (Seen& s : j.seen) s.last.seconds.step = 60;
       j.wait_for(1, 100);
     }},
    {"all go on, and the others have not told yet",
     [](Job& j) {
       j.wait_for(1, 12);
       j.of(1).last.step = 18;
     }},
    {"all evaluate",
     [](Job& j) {
       for (Seen& s : j.seen) {
         s.last.stage = Stage::kEvaluating;
         s.idle_s = 2;
       }
     }},
    {"rank 0 writes a checkpoint, and gets on",
     [](Job& j) {
       for (int r = 0; r < 4; ++r) {
         j.of(r).last.stage = Stage::kSaving;
         j.of(r).last.wait = r == 0 ? Wait::kNone : Wait::kOthers;
         j.of(r).idle_s = r == 0 ? 1 : 100;
       }
     }},
    {"rank 2 compiles for long",
     [](Job& j) {
       for (int r = 0; r < 4; ++r) {
         j.of(r).last = {.rank = r, .wait = r == 2 ? Wait::kNone : Wait::kOthers};
         j.of(r).idle_s = r == 2 ? 0 : 100;
       }
     }},
    {"the first step takes its time",
     [](Job& j) {
       j.wait_for(1, 40);
       for (Seen& s : j.seen) s.last.is_first_step = true;
       j.of(1).idle_s = 1;
     }},
    {"all are long in the first step",
     [](Job& j) {
       for (Seen& s : j.seen) {
         s.last.is_first_step = true;
         s.idle_s = 300;
       }
     }},
    {"one has left, its job being over",
     [](Job& j) {
       j.wait_for(-1, 1);
       j.silence(1, 100);
       j.of(1).last.stage = Stage::kLeaving;
     }},
    {"all others leave, as one gave up waiting",
     [](Job& j) {
       j.wait_for(-1, 12);
       for (const int r : {0, 2, 3}) j.of(r).last.stage = Stage::kLeaving;
     }},
    {"one was never heard",
     [](Job& j) {
       j.of(1) = {};
       j.silence(1, 100);
     }},
    {"a batch is read, others read ahead",
     [](Job& j) {
       j.wait_for(1, 3);
       j.of(1).last.stage = Stage::kReading;
       j.of(1).idle_s = 3;
     }},
};

TEST(Diagnosis, OrdinaryTrainingIsNoTrouble) {
  for (const auto& [name, happens] : kOrdinary) {
    Job job;
    happens(job);
    EXPECT_FALSE(job.seen_by(0)) << name << ": " << job.words(0);
  }
}

TEST(Diagnosis, ASentenceNamesRankMachineStepAndStage) {
  Job job;
  job.wait_for(1, 12);
  job.silence(1, 12);
  job.of(1).machine_answers = true;
  EXPECT_EQ(job.words(0),
            "waiting 12 s for rank 1 (h2), last seen in step 17, backward, bucket 3: its process "
            "is frozen, but its machine answers; 2 others wait too");
  EXPECT_EQ(job.words(2), job.words(0));
  job.of(1).refused = true;
  EXPECT_THAT(job.words(0), HasSubstr("its process is gone"));
  Job begins;
  begins.begin();
  for (const int r : {1, 2}) {
    begins.silence(r, 12);
    begins.of(r).machine_answers = true;
  }
  EXPECT_EQ(begins.words(0),
            "waiting 12 s for ranks 1 and 2 (h2, h3), last seen starting: still starting: their "
            "processes are too busy to say more, or frozen; 1 other waits too");
}

TEST(Diagnosis, OneRankAloneSeesItsOwnDisk) {
  const std::vector<Member> members{{"h1", 0}};
  std::vector<Seen> seen{{.last = {.stage = Stage::kReading, .step = 3}, .heard = true}};
  seen[0].idle_s = 9;
  EXPECT_TRUE(diagnose(0, seen, members, kStall).empty());
  seen[0].idle_s = 11;
  const auto found = diagnose(0, seen, members, kStall);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].trouble, Trouble::kDisk);
  seen[0].last.stage = Stage::kForward;  // it may compute as long as it likes
  EXPECT_TRUE(diagnose(0, seen, members, kStall).empty());
}

TEST(Diagnosis, TheLowestRankThatLivesSpeaks) {
  Job job;
  EXPECT_EQ(speaker(2, job.seen, job.members), 0);
  job.silence(0, 6);
  EXPECT_EQ(speaker(2, job.seen, job.members), 1);
  EXPECT_EQ(speaker(2, job.seen, job.members, 3), 3);
  EXPECT_EQ(speaker(2, job.seen, job.members, 2), 2);
  for (Seen& s : job.seen) s.silent_s = 30;
  EXPECT_EQ(speaker(2, job.seen, job.members), 2);
}

TEST(Diagnosis, GettingOnIsMoreThanBeingThere) {
  const Status before{.stage = Stage::kBackward, .step = 5, .io_kib = 1000, .cpu = 1};
  Status now = before;
  EXPECT_FALSE(progressed(before, now));  // within a step, computing alone is no progress
  now.marks = 1;
  EXPECT_TRUE(progressed(before, now));
  now = before;
  now.added_ms = 1;
  EXPECT_TRUE(progressed(before, now));
  now = before;
  now.wait = Wait::kGradients;
  Status waiting = now;
  EXPECT_FALSE(progressed(now, waiting));
  waiting.io_kib += 64;  // messages arrive
  EXPECT_TRUE(progressed(now, waiting));
  for (const Stage stage : {Stage::kStarting, Stage::kEvaluating, Stage::kSaving}) {
    Status long_work{.stage = stage, .io_kib = 1000, .cpu = 0.1F};
    Status later = long_work;
    EXPECT_FALSE(progressed(long_work, later));
    later.cpu = 0.9F;
    EXPECT_TRUE(progressed(long_work, later));
    later.cpu = 0.1F;
    later.io_kib += 64;
    EXPECT_TRUE(progressed(long_work, later));
  }
}

// A busy machine delayed its messages; then the link of this machine went down.
TEST(Diagnosis, WhoTookPartInAStepSinceItsLastWordIsSilentSinceThatStep) {
  Job job;
  job.wait_for(0, 1);
  job.silence(0, 12);
  job.of(0).last = {.rank = 0};
  job.of(0).machine_answers = true;
  EXPECT_EQ(job.seen_by(3), std::nullopt);
  job.wait_for(0, 11);
  EXPECT_EQ(job.seen_by(3), (Finding{Trouble::kFrozen, {0}, 11, 2}));
}

TEST(Straggler, IsNamedWithItsReason) {
  Job job;
  for (Seen& s : job.seen) {
    s.last.seconds = {.step = 0.3F, .work = 0.1F, .batch = 0.001F};
    s.last.cpu = 1;
  }
  EXPECT_THAT(find_stragglers(job.seen, 0.25), IsEmpty());
  job.of(2).last.seconds.work = 0.25F;
  const auto slow = find_stragglers(job.seen, 0.25);
  ASSERT_EQ(slow.size(), 1);
  EXPECT_EQ(slow[0].rank, 2);
  EXPECT_EQ(slow[0].reason, Straggler::Reason::kCompute);
  EXPECT_EQ(
      in_words(slow[0], job.seen, job.members),
      "rank 2 (h3) holds up every step, last seen in step 17, backward, bucket 3: it needs 251 "
      "ms, others 101 ms; it computes slowly");
  job.of(2).last.seconds = {.step = 0.3F, .work = 0.1F, .batch = 0.15F};
  EXPECT_EQ(find_stragglers(job.seen, 0.25).at(0).reason, Straggler::Reason::kDisk);
  job.of(2).last.cpu = 2;
  EXPECT_EQ(find_stragglers(job.seen, 0.25).at(0).reason, Straggler::Reason::kDecoding);
  job.of(2).last.seconds.exchange = 0.15F;  // it waited for others
  EXPECT_THAT(find_stragglers(job.seen, 0.25), IsEmpty());
}

// Messages of a slow machine are also late, so its own work is a small part of a step.
TEST(Straggler, ThatTakesSeveralTimesAsLongIsNamedWhereStepsAreSpentOnSending) {
  Job job;
  for (Seen& s : job.seen) s.last.seconds = {.step = 0.6F, .work = 0.018F};
  job.of(3).last.seconds.work = 0.11F;
  EXPECT_EQ(find_stragglers(job.seen, 0.2).at(0).rank, 3);
  job.of(3).last.seconds.work = 0.05F;  // less than three times
  EXPECT_THAT(find_stragglers(job.seen, 0.2), IsEmpty());
  for (Seen& s : job.seen) s.last.seconds.step = 6;
  job.of(3).last.seconds.work = 0.11F;
  EXPECT_THAT(find_stragglers(job.seen, 0.2), IsEmpty());
}

TEST(Straggler, SeveralAreNamedWhereEachTakesSeveralTimesAsLong) {
  Job job;
  for (Seen& s : job.seen) s.last.seconds = {.step = 0.6F, .work = 0.1F};
  job.of(1).last.seconds.work = 0.32F;
  job.of(3).last.seconds.work = 0.5F;
  const auto slow = find_stragglers(job.seen, 0.2);
  ASSERT_EQ(slow.size(), 2);
  EXPECT_EQ(slow[0].rank, 1);
  EXPECT_EQ(slow[1].rank, 3);
  job.of(1).last.seconds.work = 0.28F;
  EXPECT_EQ(find_stragglers(job.seen, 0.2).size(), 1);
}

// It wakes late for messages of others, so its own work is only slightly longer than theirs.
TEST(Straggler, WhoseCoresAreTakenIsNamedBadlySlow) {
  Job job;
  for (Seen& s : job.seen) {
    s.last.seconds = {.step = 0.6F, .work = 0.06F};
    s.last.cpu = 0.1F;
    s.last.delayed = 0.5F;  // the machine is busy
  }
  EXPECT_THAT(find_stragglers(job.seen, 0.2), IsEmpty());
  Status& slow = job.of(2).last;
  slow.seconds.work = 0.1F;
  slow.cpu = 0.04F;
  slow.delayed = 1.9F;
  const auto found = find_stragglers(job.seen, 0.2);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].rank, 2);
  EXPECT_TRUE(found[0].badly);
  EXPECT_EQ(found[0].reason, Straggler::Reason::kCores);
  EXPECT_THAT(in_words(found[0], job.seen, job.members), HasSubstr("other work has its cores"));
  slow.delayed = 0.7F;  // more than others, but not for long
  EXPECT_THAT(find_stragglers(job.seen, 0.2), IsEmpty());
  slow.seconds.work = 0.3F;
  slow.cpu = 0.1F;
  EXPECT_EQ(find_stragglers(job.seen, 0.2).at(0).reason, Straggler::Reason::kCompute);
  slow.delayed = 0.9F;
  EXPECT_EQ(find_stragglers(job.seen, 0.2).at(0).reason, Straggler::Reason::kCores);
}

TEST(Straggler, OfTwoRanksTheSlowerOneIs) {
  Job job;
  job.seen.resize(2);
  job.of(0).last.seconds = {.step = 0.3F, .work = 0.29F};
  job.of(1).last.seconds = {.step = 0.3F, .work = 0.1F};
  EXPECT_EQ(find_stragglers(job.seen, 0.25).at(0).rank, 0);
}

TEST(Names, AreShortForManyRanks) {
  const std::vector<Member> members(20, Member{"h", 0});
  EXPECT_EQ(names_of({1}, members), "rank 1 (h)");
  EXPECT_EQ(names_of({1, 2, 5}, members), "ranks 1, 2 and 5 (h)");
  std::vector<int> many;
  for (int r = 0; r < 20; ++r) many.push_back(r);
  EXPECT_EQ(names_of(many, members), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more (h)");
}

}  // namespace winnow::health::diagnosis_test
