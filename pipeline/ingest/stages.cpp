#include "pipeline/ingest/stages.h"

#include <algorithm>

namespace winnow::pipeline {
namespace {

constexpr std::array<std::string_view, kStageCount> kNames{"read", "decode", "fingerprint", "pack",
                                                           "write"};
constexpr std::array kOfWorkers{Stage::kDecode, Stage::kFingerprint, Stage::kPack};

double workers_share(const StageTimes& times) noexcept {
  double share = 0;
  for (const Stage stage : kOfWorkers) share += busy_share(times, stage);
  return std::min(1.0, share);
}

std::string whole_percent(double share) {
  return std::to_string(static_cast<int>(100 * share + 0.5)) + " %";
}

std::string threads_of(const StageTimes& times, Stage stage, const std::string& one) {
  const int count = times[stage].threads;
  return count == 1 ? "its one " + one : "its " + std::to_string(count) + " " + one + "s";
}

std::string of_workers(const StageTimes& times, Stage stage, const std::string& doing,
                       const std::string& advice) {
  const double all = workers_share(times);
  const double part = all > 0 ? busy_share(times, stage) / all : 0;
  return doing + " is the slowest stage: " + threads_of(times, stage, "worker") + " worked " +
         whole_percent(all) + " of the time, " + whole_percent(part) + " of that on it; " + advice;
}

}  // namespace

StageTimes& StageTimes::operator+=(const StageTimes& before) noexcept {
  wall_seconds += before.wall_seconds;
  for (std::size_t i = 0; i < kStageCount; ++i) {
    stages[i].busy_seconds += before.stages[i].busy_seconds;
    stages[i].threads = std::max(stages[i].threads, before.stages[i].threads);
  }
  return *this;
}

std::string_view stage_name(Stage stage) noexcept {
  return kNames[static_cast<std::size_t>(stage)];
}

double busy_share(const StageTimes& times, Stage stage) noexcept {
  const StageTimes::One& one = times[stage];
  if (one.threads <= 0 || times.wall_seconds <= 0) return 0;
  return std::min(1.0, one.busy_seconds / (one.threads * times.wall_seconds));
}

Stage slowest(const StageTimes& times) noexcept {
  const double work = workers_share(times);
  const double write = busy_share(times, Stage::kWrite);
  const double read = busy_share(times, Stage::kRead);
  if (write > std::max(work, read)) return Stage::kWrite;
  if (read > work) return Stage::kRead;
  return *std::ranges::max_element(kOfWorkers, {}, [&](Stage s) { return busy_share(times, s); });
}

std::string bottleneck(const StageTimes& times) {
  constexpr double kIdle = 0.4;
  const Stage stage = slowest(times);
  const double share = std::max(workers_share(times), busy_share(times, stage));
  if (share < kIdle) {
    return "no stage was busy for more than " + whole_percent(share) +
           " of the time: most of it went into starting and into assembling the cache";
  }
  const std::string more = "more cores make it faster (--threads, or another machine)";
  switch (stage) {
    case Stage::kRead:
      return "reading is the slowest stage: " + threads_of(times, stage, "thread") +
             " waited for the source " + whole_percent(share) +
             " of the time; use a faster disk or network, or archives instead of many small files";
    case Stage::kDecode:
      return of_workers(times, stage, "decoding", more);
    case Stage::kFingerprint:
      return of_workers(times, stage, "fingerprinting", more + ", or fewer hashes (--hash)");
    case Stage::kPack:
      return of_workers(times, stage, "packing", more);
    case Stage::kWrite:
      break;
  }
  return "writing is the slowest stage: " + threads_of(times, stage, "thread") +
         " waited for the cache's disk " + whole_percent(share) +
         " of the time; use a faster disk, --memory, or store less (--store original)";
}

}  // namespace winnow::pipeline
