#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace winnow::pipeline {

// The stages of an ingest, in the order in which an input passes them. Decoding, fingerprinting and
// packing share TBB's threads; reading and writing have their own.
enum class Stage { kRead, kDecode, kFingerprint, kPack, kWrite };
inline constexpr std::size_t kStageCount = 5;

struct StageTimes {
  struct One {
    double busy_seconds = 0;  // time that the stage's threads worked, summed
    int threads = 0;
  };
  std::array<One, kStageCount> stages{};  // times of each stage, by Stage
  double wall_seconds = 0;                // duration from the first input to the last shard

  One& operator[](Stage stage) noexcept { return stages[static_cast<std::size_t>(stage)]; }
  const One& operator[](Stage stage) const noexcept {
    return stages[static_cast<std::size_t>(stage)];
  }
  StageTimes& operator+=(const StageTimes& before) noexcept;
};

std::string_view stage_name(Stage stage) noexcept;  // "read", "decode", ...

// The share of the wall time in which the threads of a stage worked, 0 to 1. Pure, like the
// functions below.
double busy_share(const StageTimes& times, Stage stage) noexcept;
// The stage that limits the speed: that of the busiest among readers, TBB's threads and writer; for
// TBB's threads their longest stage.
Stage slowest(const StageTimes& times) noexcept;
// One sentence about the limiting stage, with numbers and advice.
std::string bottleneck(const StageTimes& times);

// Measures seconds since its construction, or since the last call of lap().
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
