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

// Time limits in seconds: when to report, and when to give up.
struct Limits {
  double stall_s = 10;   // waiting or silence before the user is informed
  double hang_s = 1800;  // time without progress of any rank before the job ends; 0: never
  // Time after the loss of a process before the job ends; unused if hang_s is 0.
  double dead_s = 60;
  double straggler = 0.2;  // share of a step by which a rank must delay all others to be reported
};

// A message with the ranks that report it.
struct Sentence {
  std::string text;
  bool to_people = false;  // by the lowest live rank
  bool to_log = false;     // by the lowest rank of each machine
};

// Actions of one beat, once a second.
struct Beat {
  Bytes message;                      // to send to all others
  std::vector<int> far{};             // ranks to be sent to at all of their addresses
  std::vector<int> probes{};          // ranks whose machines to query: one for each machine
  std::vector<Sentence> sentences{};  // to report
  std::optional<int> exit_code{};     // the process must end with it
};

// The state of all ranks as known to one rank, and the resulting actions. It has no clock and sends
// nothing; its owner does both.
//
// Time   In seconds of any clock that keeps running while the process is stopped. A rank that was
//        stopped itself, for example suspended by a batch system, blames nobody for the silence.
class Pulse {
 public:
  Pulse(int me, std::vector<Member> members, const JobSecret& secret, const Limits& limits);

  // Processes a received message. Returns the rank that sent it; nullopt if it is no message of
  // this job.
  std::optional<int> hear(const Heard& heard, double now);

  // Call it once a second, after all received messages were processed. `own`: status of this rank.
  // `saved`: step of the newest durable checkpoint, 0: none.
  Beat beat(Status own, std::int64_t saved, double now);

  // A probe of a beat was sent. A missing answer only counts from then on.
  void asked(int rank, double now) noexcept { questions_.asked(rank, now); }

  // Call it for each message received while the launcher is ending this process: reports once which
  // ranks are gone. (A launcher ends all ranks within a second when one was killed.)
  std::vector<Sentence> last_words(double now);

  // The message to the others when this rank leaves because its job is over.
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
    std::optional<std::int64_t> missed_in_step{};  // step of this rank
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
  double awake_s_ = 0;  // running time of this process up to the last beat

  std::vector<Finding> findings_;  // current findings
  std::vector<Finding> told_;      // reported and not over
  double told_at_ = 0;
  double longest_s_ = 0;  // longest reported wait
  double clear_since_ = -1;
  bool told_unheard_ = false;
  bool told_gone_ = false;
  std::optional<int> leaving_;        // leaves with this exit code at the next beat
  std::optional<int> told_to_leave_;  // requested by another rank that gives up
};

}  // namespace winnow::health
