#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::health {

// The activity of a training rank.
enum class Stage : std::uint8_t {
  kStarting,    // before the first step: loads data, plan, programs
  kReading,     // waits for its next batch of samples
  kReceiving,   // waits for a micro-batch from the previous stage of a pipeline
  kForward,     // forward pass, and backward pass until the first gradients exist
  kBackward,    // backward pass; the bucket says how far gradients are computed
  kGradients,   // all gradients are computed; waits for their sums over ranks
  kUpdating,    // updates the weights
  kEvaluating,  // evaluates a split
  kSaving,      // saves a checkpoint
  kEnding,      // after the last step
  kLeaving,     // the rank leaves: its job is over, or ends early
};
inline constexpr int kStages = 11;
std::string_view in_words(Stage stage) noexcept;

// Whether the activity is part of a training step. Within steps ranks proceed together. Elsewhere
// one may work for long while the others wait.
constexpr bool is_in_step(Stage stage) noexcept {
  return stage >= Stage::kReading && stage <= Stage::kUpdating;
}

// The reason why a rank waits for others.
enum class Wait : std::uint8_t { kNone, kGradients, kOthers };  // kOthers: any other collective
inline constexpr int kWaits = 3;

// Typical durations in a rank's last steps, in seconds.
struct StepSeconds {
  float step = 0;      // whole step
  float work = 0;      // own work, without waiting for other ranks or for the batch
  float batch = 0;     // waiting for its batch
  float exchange = 0;  // part of `batch`: waiting for data from other ranks

  friend bool operator==(const StepSeconds&, const StepSeconds&) = default;
};

// The heartbeat of a rank: its state, which it sends to the other ranks once a second.
struct Status {
  std::int32_t rank = 0;
  Stage stage = Stage::kStarting;
  Wait wait = Wait::kNone;
  bool awaits_data = false;       // an exchange of data between ranks (all-to-all) is running
  bool is_first_step = false;     // in the first step since this process started
  std::uint16_t bucket = 0;       // gradient bucket in kBackward; micro-batch in kReceiving
  std::int64_t step = 0;          // counted from 1; 0: none yet
  std::uint32_t marks = 0;        // how often the stage has changed
  std::uint32_t added_ms = 0;     // milliseconds spent on adding received data
  std::uint64_t collectives = 0;  // number started
  std::uint64_t exchanges = 0;    // number of data exchanges (all-to-alls) started
  std::uint64_t io_kib = 0;       // KiB read and written by the process
  float cpu = 0;                  // mean number of cores used since the last heartbeat
  float delayed = 0;              // mean number of the process's threads that waited for a core
  std::uint8_t exit_code = 0;     // with kLeaving: exit code of a job that ends early
  StepSeconds seconds{};

  friend bool operator==(const Status&, const Status&) = default;
};

// Whether a rank cannot continue before other ranks have done something.
constexpr bool is_blocked(const Status& s) noexcept {
  const bool needs_data = s.stage == Stage::kReading || s.stage == Stage::kStarting;
  return s.wait != Wait::kNone || (s.awaits_data && needs_data);
}

// Whether a rank has progressed since its earlier status `before`: a stage, step, bucket or count
// has changed. While it waits for others, the traffic of MPI messages counts, too; outside steps,
// everything it reads, writes and computes. Pure.
bool progressed(const Status& before, const Status& now) noexcept;

// The activity of a rank in words: "step 17, backward, bucket 3".
std::string in_words(const Status& status);

// A rank of the job: the host name and the number of its machine.
struct Member {
  std::string host;
  int machine = 0;
};
// Names ranks with their hosts: "rank 1 (h2)"; for several "ranks 1, 2 and 3 (h2, h3)".
std::string names_of(const std::vector<int>& ranks, const std::vector<Member>& members);

}  // namespace winnow::health
