#include "app/plan/candidates.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "train/plan/lanes.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostRows = 6;
constexpr std::size_t kMostMeasured = 3;
constexpr std::int64_t kMostMeasuredImages = 64;

std::int64_t micro_batches_of_rank(const ChoiceOf& of, std::int64_t micro_batch) {
  return std::max<std::int64_t>(1, of.batch / micro_batch / of.ranks);
}

int default_threads(const ChoiceOf& of, std::int64_t micro_batch) {
  return train::choose_lane_threads(of.lane_threads, 0, of.reproducible, of.cores,
                                    micro_batches_of_rank(of, micro_batch));
}

}  // namespace

std::vector<std::int64_t> micro_batches_of(const ChoiceOf& of) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= of.batch / of.ranks; ++size) {
    if (of.batch % size != 0) continue;
    const bool in_range = size >= kLeastNormGroup && size <= kMostNormGroup;
    if (size == of.micro_batch || in_range || !of.has_norm) sizes.push_back(size);
  }
  return sizes;
}

std::vector<LaneChoice> choices_of(const ChoiceOf& of) {
  std::vector<std::int64_t> sizes = micro_batches_of(of);
  const auto distance = [&](std::int64_t size) {
    return std::abs(std::log2(static_cast<double>(size) / static_cast<double>(of.micro_batch)));
  };
  std::ranges::stable_sort(sizes, {}, distance);
  // Sizes that differ by less than a factor of 1.9 would say the same.
  std::vector<std::int64_t> kept;
  for (const std::int64_t size : sizes) {
    const bool near = std::ranges::any_of(kept, [&](std::int64_t other) {
      return std::abs(distance(size) - distance(other)) < 0.9 &&
             (size > of.micro_batch) == (other > of.micro_batch);
    });
    const bool is_own = size == of.micro_batch;
    if ((is_own || (!near && distance(size) > 0.9)) && kept.size() < kMostRows) {
      kept.push_back(size);
    }
  }
  std::ranges::sort(kept);
  std::vector<LaneChoice> choices;
  for (const std::int64_t size : kept) choices.push_back({size, default_threads(of, size)});
  if (of.lane_threads > 0 || of.reproducible) return choices;
  std::set<int> threads{1, of.cores};
  threads.erase(default_threads(of, of.micro_batch));
  for (const int other : threads) choices.push_back({of.micro_batch, other});
  return choices;
}

std::vector<std::int64_t> measured_of(const std::vector<std::int64_t>& fitting,
                                      std::int64_t micro_batch) {
  if (fitting.empty()) return {};
  std::vector<std::int64_t> measured{fitting.front()};
  const auto add = [&](std::int64_t size) {
    const bool known = std::ranges::find(measured, size) != measured.end();
    if (!known && size <= kMostMeasuredImages && measured.size() < kMostMeasured) {
      measured.push_back(size);
    }
  };
  if (std::ranges::find(fitting, micro_batch) != fitting.end()) add(micro_batch);
  for (auto size = fitting.rbegin(); size != fitting.rend(); ++size) add(*size);
  return measured;
}

}  // namespace winnow::app
