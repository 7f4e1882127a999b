#include "train/plan/memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/error.h"

namespace winnow::train {
namespace {

std::size_t times(int count, std::size_t bytes) { return static_cast<std::size_t>(count) * bytes; }

// Number of lanes with several micro-batches, if their sizes differ by at most one.
int lanes_with_several(int micro_batches, int lanes) {
  return std::clamp(micro_batches - lanes, 0, lanes);
}

// The largest micro-batch with which one lane fits, assuming that a lane's memory is proportional
// to it, except for gradients; 0 if none fits.
std::int64_t largest_micro_batch(const MemoryNeeds& needs, std::size_t available,
                                 std::int64_t micro_batch) {
  MemoryNeeds smaller = needs;
  smaller.micro_batches = std::max(2, needs.micro_batches);
  MemoryNeeds rest = smaller;
  for (LaneMemory* const lane : {&rest.lane, &rest.evaluation.lane}) {
    lane->values = lane->scratch = 0;
  }
  const std::size_t others = peak_bytes(rest, {});
  const std::size_t of_micro_batch = peak_bytes(smaller, {}) - others;
  if (others >= available || of_micro_batch == 0) return 0;
  const double share =
      static_cast<double>(available - others) / static_cast<double>(of_micro_batch);
  const auto fits = static_cast<std::int64_t>(share * static_cast<double>(micro_batch));
  return std::min(fits, micro_batch - 1);
}

}  // namespace

std::string_view peak_name(MemoryPeak peak) noexcept {
  switch (peak) {
    case MemoryPeak::kStep:
      return "step";
    case MemoryPeak::kEvaluation:
      return "evaluation";
    case MemoryPeak::kCheckpoint:
      return "checkpoint";
  }
  return "";
}

std::size_t MemoryParts::total() const noexcept {
  std::size_t total = 0;
  for (const auto& [name, bytes] : parts) total += bytes;
  return total;
}

MemoryParts parts_at_peak(const MemoryNeeds& needs, const MemoryFit& fit) noexcept {
  const EvaluationMemory& e = needs.evaluation;
  const std::size_t kept = e.packed + times(fit.evaluation_lanes, e.lane.values + e.lane.scratch);
  const std::size_t evaluating = kept + e.batches;
  const std::size_t saving = needs.checkpoint + (e.before_saving ? kept : 0);
  const bool saves = saving >= evaluating;
  const bool evaluates = !saves && kept > 0;
  const int several = lanes_with_several(needs.micro_batches, fit.lanes);
  return {.parts = {{{"program", needs.program},
                     {"weights", needs.weights + needs.packed},
                     {"optimizer", needs.optimizer},
                     {"averages", needs.averages},
                     {"values", times(fit.lanes, needs.lane.values)},
                     {"scratch", times(fit.lanes, needs.lane.scratch)},
                     {"gradients", needs.sums + times(fit.lanes, needs.lane.gradients) +
                                       times(several, needs.lane.further)},
                     {"evaluation", evaluates ? evaluating : saving - needs.checkpoint},
                     {"checkpoint", evaluates ? 0 : needs.checkpoint},
                     {"batches", times(batches_held(fit.batches_ahead), needs.batch)}}},
          .at = evaluates              ? MemoryPeak::kEvaluation
                : needs.checkpoint > 0 ? MemoryPeak::kCheckpoint
                                       : MemoryPeak::kStep};
}

std::size_t peak_bytes(const MemoryNeeds& needs, const MemoryFit& fit) noexcept {
  return parts_at_peak(needs, fit).total();
}

MemoryFit fit_as_far_as_possible(const MemoryNeeds& needs, std::size_t available,
                                 const MemoryFit& wished) noexcept {
  MemoryFit fit = wished;
  for (int* const number : {&fit.batches_ahead, &fit.evaluation_lanes, &fit.lanes}) {
    *number = std::max(1, *number);
    while (*number > 1 && peak_bytes(needs, fit) > available) --*number;
  }
  fit.peak = peak_bytes(needs, fit);
  return fit;
}

MemoryFit fit_memory(const MemoryNeeds& needs, std::size_t available, const MemoryFit& wished,
                     std::int64_t micro_batch) {
  const MemoryFit fit = fit_as_far_as_possible(needs, available, wished);
  if (fit.peak <= available) return fit;
  std::string what = "a rank needs " + in_bytes(fit.peak) +
                     " of memory to train micro-batches of " + std::to_string(micro_batch) + " (" +
                     in_words(parts_at_peak(needs, fit)) + "), but only " + in_bytes(available) +
                     " is available";
  const std::int64_t smaller = largest_micro_batch(needs, available, micro_batch);
  what += smaller > 0 ? "; --micro-batch " + std::to_string(smaller) + " or less would fit"
                      : "; use a smaller --batch-size or net, or more machines";
  throw UsageError(what);
}

std::string in_words(const MemoryParts& parts) {
  auto sorted = parts.parts;
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& p) { return p.second; });
  std::string text;
  for (const auto& [name, bytes] : sorted) {
    if (bytes < 1'000'000) continue;
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + in_bytes(bytes);
  }
  return text;
}

std::string in_bytes(std::size_t bytes) {
  const bool large = bytes >= 1'000'000'000;
  char text[32];
  std::snprintf(text, sizeof text, large ? "%.1f GB" : "%.0f MB",
                static_cast<double>(bytes) / (large ? 1e9 : 1e6));
  return text;
}

}  // namespace winnow::train
