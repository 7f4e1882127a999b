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

// Time limits in seconds: when ranks that do not respond are reported, and when the job ends.
struct Limits {
  double stall_s = 10;   // waiting or silence before the user is informed
  double hang_s = 1800;  // time without progress of any rank before the job ends; 0: never
  // Time after the loss of a process before the job ends; unused if hang_s is 0.
  double dead_s = 60;
  // Least delay of all others by a rank that is reported, as share of a step.
  double straggler = 0.2;
};

// A message, and which ranks shall print it.
struct Sentence {
  std::string text;
  bool to_people = false;  // the lowest live rank prints the message for the user
  bool to_log = false;     // the lowest rank of each machine writes the message to its log
};

// The actions to be taken now. One beat a second.
struct Beat {
  Bytes message;              // message to be sent to all other ranks
  std::vector<int> far{};     // ranks to which the message is sent at all of their addresses
  std::vector<int> probes{};  // ranks whose machines shall be queried: one of each machine
  std::vector<Sentence> sentences{};  // to report
  std::optional<int> exit_code{};     // end the process with this code
};

// Keeps the state of all ranks as known to one rank, and decides what to do. It has no clock and
// sends nothing; its owner (Monitor) does both.
//
// Time   `now` is in seconds of any clock that keeps running while the process is stopped. A rank
//        that was stopped itself, for example suspended by a batch system, blames no other rank for
//        silence.
class Pulse {
 public:
  Pulse(int me, std::vector<Member> members, const JobSecret& secret, const Limits& limits);

  // Processes a received message. Returns the rank that sent it; nullopt if it is no message of
  // this job.
  std::optional<int> hear(const Heard& heard, double now);

  // Decides what to do. Call it once a second, after all received messages were processed.
  // own    Status of this rank.
  // saved  Step of the newest checkpoint on disk; 0: none.
  Beat beat(Status own, std::int64_t saved, double now);

  // Records that a query in Beat::probes was sent to the machine of `rank`. A missing answer only
  // counts from then on.
  void asked(int rank, double now) noexcept { questions_.asked(rank, now); }

  // Reports once which ranks are gone. Call it for each message received while the launcher ends
  // this process. (A launcher ends all ranks within a second when one was killed.)
  std::vector<Sentence> last_words(double now);

  // Encodes a message that tells the other ranks that this rank leaves, as its job ends.
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
  double awake_s_ = 0;  // seconds that this process ran (was not stopped) up to the last beat

  std::vector<Finding> findings_;  // current findings
  std::vector<Finding> told_;      // reported and not over
  double told_at_ = 0;
  double longest_s_ = 0;  // longest reported wait
  double clear_since_ = -1;
  bool told_unheard_ = false;
  bool told_gone_ = false;
  std::optional<int> leaving_;        // exit code with which this rank leaves at the next beat
  std::optional<int> told_to_leave_;  // exit code requested by another rank that gives up
};

}  // namespace winnow::health
