#include "pipeline/load/order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/rng.h"

namespace winnow::pipeline {
namespace {

constexpr std::uint32_t kRounds = 10;

// A network over 16 values is far from uniform for any number of rounds (chi-square over the orders
// of 5 samples: 20 deviations); over 64 no deviation is visible. Small sets walk further instead.
constexpr int kLeastHalfBits = 4;

int half_bits_for(std::uint64_t n) noexcept {
  return n <= 1 ? kLeastHalfBits
                : std::max(kLeastHalfBits, static_cast<int>(std::bit_width(n - 1) + 1) / 2);
}

}  // namespace

EpochOrder::EpochOrder(std::uint64_t n, std::uint64_t seed, std::uint32_t epoch, RandomUse use,
                       std::uint32_t part)
    : n_(n), seed_(seed), epoch_(epoch), use_(use), part_(part), half_bits_(half_bits_for(n)) {
  if (n == 0) throw UsageError("there are no samples to order; select at least one");
}

// The words of CounterRng(seed, epoch, right half, kOrder), block `round`: a separate stream.
std::uint64_t EpochOrder::mixed(std::uint32_t round, std::uint64_t half) const noexcept {
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(seed_),
                                         static_cast<std::uint32_t>(seed_ >> 32)};
  const auto use = static_cast<std::uint32_t>(use_) << 24;
  return philox4x32({use | round, static_cast<std::uint32_t>(half), part_, epoch_}, key)[0];
}

std::uint64_t EpochOrder::operator[](std::uint64_t index) const noexcept {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t value = index;
  do {
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      left = std::exchange(right, left ^ (mixed(round, right) & mask));
    }
    value = (left << half_bits_) | right;
  } while (value >= n_);
  return value;
}

std::uint64_t EpochOrder::index_of(std::uint64_t value) const noexcept {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t index = value;
  do {
    std::uint64_t left = index >> half_bits_;
    std::uint64_t right = index & mask;
    for (std::uint32_t round = kRounds; round-- > 0;) {
      right = std::exchange(left, right ^ (mixed(round, left) & mask));
    }
    index = (left << half_bits_) | right;
  } while (index >= n_);
  return index;
}

std::vector<StreamSample> stream(std::uint64_t n, std::uint64_t seed, std::uint64_t begin,
                                 std::uint64_t count) {
  if (n == 0) throw UsageError("there are no samples for a stream; select at least one");
  std::vector<StreamSample> samples;
  samples.reserve(count);
  std::uint64_t epoch = begin / n;
  std::uint64_t within = begin % n;
  while (samples.size() < count) {
    const EpochOrder order(n, seed, static_cast<std::uint32_t>(epoch));
    for (; within < n && samples.size() < count; ++within) {
      samples.push_back({static_cast<std::uint32_t>(epoch), order[within]});
    }
    within = 0;
    ++epoch;
  }
  return samples;
}

int turn_at(std::uint64_t seed, std::uint64_t turn, SampleId id, int count, RandomUse use) {
  if (count <= 1) return 0;
  const auto things = static_cast<std::uint32_t>(count);
  const auto wanted = static_cast<std::uint32_t>(turn % things);
  // Fisher-Yates shuffle from the front, as far as needed.
  CounterRng rng(seed, static_cast<std::uint32_t>(turn / things), id, use);
  std::vector<int> order(things);
  std::iota(order.begin(), order.end(), 0);
  for (std::uint32_t i = 0; i <= wanted; ++i) std::swap(order[i], order[i + rng.below(things - i)]);
  return order[wanted];
}

int variant_at(std::uint64_t seed, std::uint32_t epoch, SampleId id, int variants) {
  return turn_at(seed, epoch, id, variants, RandomUse::kVariant);
}

std::pair<std::int64_t, std::int64_t> share(std::int64_t parts, int rank, int ranks) {
  if (parts < 0 || ranks < 1 || rank < 0 || rank >= ranks) {
    throw UsageError("rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                     " cannot have a share of " + std::to_string(parts) +
                     " parts; ranks count from 0, and parts must not be negative");
  }
  // floor(r * parts / ranks) without the product, which could overflow.
  const auto border = [&](std::int64_t r) { return parts / ranks * r + parts % ranks * r / ranks; };
  return {border(rank), border(rank + 1)};
}

}  // namespace winnow::pipeline
