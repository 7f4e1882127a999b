#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace winnow::pipeline {

// What an ingest does, in the order an input goes through it. Decoding, fingerprinting and packing
// share the TBB workers; reading and writing have threads of their own.
enum class Stage { kRead, kDecode, kFingerprint, kPack, kWrite };
inline constexpr std::size_t kStageCount = 5;

struct StageTimes {
  struct One {
    double busy_seconds = 0;  // of all its threads together
    int threads = 0;
  };
  std::array<One, kStageCount> stages{};  // by Stage
  double wall_seconds = 0;                // from the first input to the last shard

  One& operator[](Stage stage) noexcept { return stages[static_cast<std::size_t>(stage)]; }
  const One& operator[](Stage stage) const noexcept {
    return stages[static_cast<std::size_t>(stage)];
  }
  StageTimes& operator+=(const StageTimes& before) noexcept;
};

std::string_view stage_name(Stage stage) noexcept;  // "read", "decode", ...

// Which part of the wall time its threads worked on it, 0 to 1. Pure, as are those below.
double busy_share(const StageTimes& times, Stage stage) noexcept;
// The stage that the others waited for: of readers, workers and writer those who were busy the
// largest part of the time, and of what the workers do that which took them longest.
Stage slowest(const StageTimes& times) noexcept;
// In a sentence, with the numbers and what would help.
std::string bottleneck(const StageTimes& times);

// Seconds since it was made, or since the last lap.
class Stopwatch {
 public:
  double lap() noexcept {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(since_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_ = Clock::now();
};

}  // namespace winnow::pipeline
