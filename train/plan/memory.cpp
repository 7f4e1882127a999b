#include "train/plan/memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/error.h"

namespace winnow::train {
namespace {

// The largest micro-batch whose one lane fits, when what a lane needs is in proportion to it; 0:
// none does.
std::int64_t largest_micro_batch(const MemoryNeeds& needs, std::size_t available,
                                 std::int64_t micro_batch) {
  MemoryNeeds rest = needs;
  rest.lane = rest.evaluation_lane = 0;
  const std::size_t others = peak_bytes(rest, {});
  const std::size_t of_micro_batch = needs.lane + needs.evaluation_lane;
  if (others >= available || of_micro_batch == 0) return 0;
  const double share =
      static_cast<double>(available - others) / static_cast<double>(of_micro_batch);
  const auto fits = static_cast<std::int64_t>(share * static_cast<double>(micro_batch));
  return std::min(fits, micro_batch - 1);
}

}  // namespace

std::size_t peak_bytes(const MemoryNeeds& needs, const MemoryFit& fit) noexcept {
  const auto times = [](int count, std::size_t bytes) {
    return static_cast<std::size_t>(count) * bytes;
  };
  return needs.program + needs.model + needs.shared + times(fit.lanes, needs.lane) +
         needs.evaluation + times(fit.evaluation_lanes, needs.evaluation_lane) + needs.checkpoint +
         times(batches_held(fit.batches_ahead), needs.batch);
}

MemoryFit fit_memory(const MemoryNeeds& needs, std::size_t available, const MemoryFit& wished,
                     std::int64_t micro_batch) {
  MemoryFit fit = wished;
  for (int* const number : {&fit.batches_ahead, &fit.evaluation_lanes, &fit.lanes}) {
    *number = std::max(1, *number);
    while (*number > 1 && peak_bytes(needs, fit) > available) --*number;
  }
  fit.peak = peak_bytes(needs, fit);
  if (fit.peak <= available) return fit;
  std::string what = "a rank needs " + in_bytes(fit.peak) + " of memory to train, " +
                     in_bytes(needs.lane) + " of it for a micro-batch of " +
                     std::to_string(micro_batch) + ", " + in_bytes(needs.batch) + " for each of " +
                     std::to_string(batches_held(fit.batches_ahead)) + " batches; there are " +
                     in_bytes(available) + " for it";
  const std::int64_t smaller = largest_micro_batch(needs, available, micro_batch);
  what += smaller > 0 ? "; --micro-batch " + std::to_string(smaller) + " or less would fit"
                      : "; take a smaller --batch-size or net, or more machines";
  throw UsageError(what);
}

std::string in_bytes(std::size_t bytes) {
  const bool large = bytes >= 1'000'000'000;
  char text[32];
  std::snprintf(text, sizeof text, large ? "%.1f GB" : "%.0f MB",
                static_cast<double>(bytes) / (large ? 1e9 : 1e6));
  return text;
}

}  // namespace winnow::train
