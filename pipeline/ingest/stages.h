#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace winnow::pipeline {

// The stages of an ingest, in the order of an input. Decoding, fingerprinting and packing share the
// TBB workers; reading and writing have their own threads.
enum class Stage { kRead, kDecode, kFingerprint, kPack, kWrite };
inline constexpr std::size_t kStageCount = 5;

struct StageTimes {
  struct One {
    double busy_seconds = 0;  // sum over its threads
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

// The share of the wall time in which its threads worked, 0 to 1. Pure, like the functions below.
double busy_share(const StageTimes& times, Stage stage) noexcept;
// The limiting stage: the busiest of readers, workers and writer; among the workers' stages, the
// longest.
Stage slowest(const StageTimes& times) noexcept;
// One sentence about it, with numbers and advice.
std::string bottleneck(const StageTimes& times);

// Seconds since its construction, or since the last lap.
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
