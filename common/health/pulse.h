#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/health/diagnosis.h"
#include "common/health/message.h"
#include "common/health/questions.h"
#include "common/health/stragglers.h"
#include "common/health/transport.h"

namespace winnow::health {

// When a rank speaks, and when it gives up. In seconds.
struct Limits {
  double stall_s = 10;     // somebody has waited, or was silent, for so long: people are told
  double hang_s = 1800;    // nobody has got on for so long: the job ends; 0: it never does
  double dead_s = 60;      // a process is gone: the job ends, unless hang_s is 0
  double straggler = 0.2;  // share of a step that a rank holds up all others
};

// A sentence for people, and which ranks say it.
struct Sentence {
  std::string text;
  bool to_people = false;  // by the lowest rank that lives
  bool to_log = false;     // by the lowest one of each machine
};

// What is to be done once a second.
struct Beat {
  Bytes message;                      // for all others
  std::vector<int> far{};             // ranks that it should reach by any of their addresses
  std::vector<int> probes{};          // ranks whose machines are to be asked: one of each machine
  std::vector<Sentence> sentences{};  // to say
  std::optional<int> exit_code{};     // the process ends
};

// What a rank knows of all ranks, and what follows. It has no clock and sends nothing: whoever has
// both calls it.
//
// Time   in seconds, of any clock that goes on while the process is stopped. A rank that was
//        stopped itself, as by a batch system that suspends jobs, accuses nobody of the silence
class Pulse {
 public:
  Pulse(int me, std::vector<Member> members, const JobSecret& secret, const Limits& limits);

  // Something came. Out: the rank that sent it; none: it is no message of this job
  std::optional<int> hear(const Heard& heard, double now);

  // Once a second, when all that came was heard. `own`: of this rank. `saved`: step of the newest
  // durable checkpoint, 0: none
  Beat beat(Status own, std::int64_t saved, double now);

  // One of the probes of a beat was sent. No answer counts only from then on.
  void asked(int rank, double now) noexcept { questions_.asked(rank, now); }

  // Whenever something came while the process is about to end, as its launcher has asked it to:
  // which ranks are gone, once. A launcher ends all ranks within a second when one was killed.
  std::vector<Sentence> last_words(double now);

  // What the others are told when this rank leaves, its job being over.
  Bytes farewell(int exit_code) const;

  int size() const noexcept { return static_cast<int>(members_.size()); }

 private:
  struct Known {
    Status last{};
    bool heard = false;
    double heard_at = 0;
    double progress_at = 0;
    float most_cpu = 0;  // since then
    double refused_at = -1;
    std::optional<std::int64_t> missed_in_step{};  // of this rank
  };

  double awake_at(double now) const;
  void learn(const Status& status, double at);
  std::vector<Seen> look(double at) const;
  void say(Beat& beat, const std::vector<Seen>& seen, std::string text) const;
  void tell_findings(Beat& beat, const std::vector<Seen>& seen, double at);
  void tell_unheard(Beat& beat, const std::vector<Seen>& seen, double at);
  void tell_stragglers(Beat& beat, const std::vector<Seen>& seen, double at);
  void decide_end(Beat& beat, const std::vector<Seen>& seen, std::int64_t saved, double at);

  const int me_;
  const std::vector<Member> members_;
  const JobSecret secret_;
  const Limits limits_;
  std::vector<Known> known_;
  Stragglers stragglers_;
  Questions questions_;
  std::optional<double> last_beat_;
  double awake_s_ = 0;  // that this process ran, up to the last beat

  std::vector<Finding> findings_;  // now
  std::vector<Finding> told_;      // that are not over
  double told_at_ = 0;
  double longest_s_ = 0;  // wait of what is told
  double clear_since_ = -1;
  bool told_unheard_ = false;
  bool told_gone_ = false;
  std::optional<int> leaving_;        // with this exit code, at the next beat
  std::optional<int> told_to_leave_;  // by another rank that gives up
};

}  // namespace winnow::health
