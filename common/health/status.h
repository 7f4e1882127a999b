#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::health {

// What a rank of a training does.
enum class Stage : std::uint8_t {
  kStarting,    // until the first step: data, plan, programs
  kReading,     // waits for its next batch
  kForward,     // and backward until the first gradients are there
  kBackward,    // up to the gradients of a bucket
  kGradients,   // all of its own are there; waits for their sums
  kUpdating,    // the weights
  kEvaluating,  // a split
  kSaving,      // a checkpoint
  kEnding,      // after the last step
  kLeaving,     // its job is over, or ends early
};
inline constexpr int kStages = 10;
std::string_view in_words(Stage stage) noexcept;

// Inside a step ranks go side by side. Elsewhere one may work for long while the others wait.
constexpr bool is_in_step(Stage stage) noexcept {
  return stage >= Stage::kReading && stage <= Stage::kUpdating;
}

// What a rank waits for, if it does.
enum class Wait : std::uint8_t { kNone, kGradients, kOthers };  // others: any other collective
inline constexpr int kWaits = 3;

// Typical seconds of a rank's last steps.
struct StepSeconds {
  float step = 0;      // all of one
  float work = 0;      // without what it waited for other ranks, or for its batch
  float batch = 0;     // waited for its batch
  float exchange = 0;  // of that: for data of other ranks

  friend bool operator==(const StepSeconds&, const StepSeconds&) = default;
};

// What each rank tells the others once a second.
struct Status {
  std::int32_t rank = 0;
  Stage stage = Stage::kStarting;
  Wait wait = Wait::kNone;
  bool awaits_data = false;       // a data exchange has begun and is not over
  bool is_first_step = false;     // of this start of the run
  std::uint16_t bucket = 0;       // of kBackward
  std::int64_t step = 0;          // counted from 1; 0: none was begun
  std::uint32_t marks = 0;        // how often its stage changed
  std::uint32_t added_ms = 0;     // spent on adding what came from others
  std::uint64_t collectives = 0;  // begun
  std::uint64_t exchanges = 0;    // of data, begun
  std::uint64_t io_kib = 0;       // read and written by the process
  float cpu = 0;                  // cores that it used since it said so before
  float delayed = 0;              // cores that its threads waited for since then
  std::uint8_t exit_code = 0;     // of a job that ends early, with kLeaving
  StepSeconds seconds{};

  friend bool operator==(const Status&, const Status&) = default;
};

// Whether a rank can do nothing before others have done something.
constexpr bool is_blocked(const Status& s) noexcept {
  const bool needs_data = s.stage == Stage::kReading || s.stage == Stage::kStarting;
  return s.wait != Wait::kNone || (s.awaits_data && needs_data);
}

// Whether a rank whose status was `before` has got on since. While it waits for others, messages of
// MPI count, too; outside steps all that it reads, writes and computes. Pure.
bool progressed(const Status& before, const Status& now) noexcept;

// Where a rank is: "step 17, backward, bucket 3".
std::string in_words(const Status& status);

// A rank of the job, and the machine that it is on.
struct Member {
  std::string host;
  int machine = 0;
};
// "rank 1 (h2)"; of several "ranks 1, 2 and 3 (h2, h3)".
std::string names_of(const std::vector<int>& ranks, const std::vector<Member>& members);

}  // namespace winnow::health
