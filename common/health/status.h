#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::health {

// The activity of a training rank.
enum class Stage : std::uint8_t {
  kStarting,    // until the first step: data, plan, programs
  kReading,     // waits for its next batch
  kReceiving,   // a pipeline's rank waits for a micro-batch of the stage before
  kForward,     // forward, and backward until the first gradients exist
  kBackward,    // backward, up to the gradients of a bucket
  kGradients,   // its gradients are complete; waits for their sums
  kUpdating,    // updates the weights
  kEvaluating,  // evaluates a split
  kSaving,      // saves a checkpoint
  kEnding,      // after the last step
  kLeaving,     // its job is over, or ends early
};
inline constexpr int kStages = 11;
std::string_view in_words(Stage stage) noexcept;

// Whether the stage is part of a step. Within steps ranks proceed together; elsewhere one may work
// for long while the others wait.
constexpr bool is_in_step(Stage stage) noexcept {
  return stage >= Stage::kReading && stage <= Stage::kUpdating;
}

// The reason why a rank waits.
enum class Wait : std::uint8_t { kNone, kGradients, kOthers };  // kOthers: any other collective
inline constexpr int kWaits = 3;

// Typical durations of a rank's last steps, in seconds.
struct StepSeconds {
  float step = 0;      // whole step
  float work = 0;      // without waiting for other ranks or for its batch
  float batch = 0;     // waiting for its batch
  float exchange = 0;  // part of it: waiting for data from other ranks

  friend bool operator==(const StepSeconds&, const StepSeconds&) = default;
};

// The heartbeat of a rank, sent to the others once a second.
struct Status {
  std::int32_t rank = 0;
  Stage stage = Stage::kStarting;
  Wait wait = Wait::kNone;
  bool awaits_data = false;       // a data exchange is running
  bool is_first_step = false;     // first step since this process started
  std::uint16_t bucket = 0;       // for kBackward; for kReceiving the micro-batch
  std::int64_t step = 0;          // counted from 1; 0: none yet
  std::uint32_t marks = 0;        // number of changes of stage
  std::uint32_t added_ms = 0;     // time spent on adding received data
  std::uint64_t collectives = 0;  // number started
  std::uint64_t exchanges = 0;    // number of data exchanges started
  std::uint64_t io_kib = 0;       // read and written by the process
  float cpu = 0;                  // cores used since the last heartbeat
  float delayed = 0;              // cores that its threads waited for since then
  std::uint8_t exit_code = 0;     // exit code of a job that ends early, with kLeaving
  StepSeconds seconds{};

  friend bool operator==(const Status&, const Status&) = default;
};

// Whether a rank cannot continue before others have done something.
constexpr bool is_blocked(const Status& s) noexcept {
  const bool needs_data = s.stage == Stage::kReading || s.stage == Stage::kStarting;
  return s.wait != Wait::kNone || (s.awaits_data && needs_data);
}

// Whether a rank has progressed since its status `before`. While it waits for others, MPI messages
// count, too; outside steps, everything it reads, writes and computes. Pure.
bool progressed(const Status& before, const Status& now) noexcept;

// The position of a rank: "step 17, backward, bucket 3".
std::string in_words(const Status& status);

// A rank of the job, with its machine.
struct Member {
  std::string host;
  int machine = 0;
};
// "rank 1 (h2)"; for several "ranks 1, 2 and 3 (h2, h3)".
std::string names_of(const std::vector<int>& ranks, const std::vector<Member>& members);

}  // namespace winnow::health
