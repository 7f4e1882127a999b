#include "pipeline/load/partial_shuffle.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/rng.h"
#include "pipeline/store/partition.h"

namespace winnow::pipeline {
namespace {

// The run that contains `index`; runs begin at `begins`, whose last entry is the end.
std::uint64_t run_with(const std::vector<std::uint64_t>& begins, std::uint64_t index) {
  return static_cast<std::uint64_t>(std::ranges::upper_bound(begins, index) - begins.begin()) - 1;
}

}  // namespace

std::uint64_t Lanes::before(std::uint64_t lane, std::uint64_t position) const noexcept {
  const std::uint64_t begin = first_row(lane);
  const std::uint64_t rows = first_row(lane + 1) - begin;
  const std::uint64_t row = position % batch;
  return position / batch * rows + (row <= begin ? 0 : std::min(row - begin, rows));
}

std::uint64_t Lanes::position_of(std::uint64_t lane, std::uint64_t k) const noexcept {
  const std::uint64_t begin = first_row(lane);
  const std::uint64_t rows = first_row(lane + 1) - begin;
  return k / rows * batch + begin + k % rows;
}

std::vector<std::uint32_t> homes_of(const SampleSet& samples, int partitions) {
  std::vector<std::uint32_t> homes(samples.size());
  for (std::size_t place = 0; place < homes.size(); ++place) {
    homes[place] = static_cast<std::uint32_t>(
        partition_of(samples.ids[first_row(samples, place)], partitions));
  }
  return homes;
}

void check_shuffle(const Lanes& lanes, double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw UsageError("the fraction of the samples to exchange is from 0 to 1, not " +
                     std::to_string(fraction));
  }
  if (lanes.count < 1 || lanes.count > lanes.batch) {
    throw UsageError("a batch of " + std::to_string(lanes.batch) +
                     " has fewer rows than there are partitions, " + std::to_string(lanes.count) +
                     "; use --partitions 1 to " + std::to_string(lanes.batch));
  }
}

PartialShuffle::PartialShuffle(std::vector<std::uint32_t> homes, Lanes lanes, double fraction,
                               std::uint64_t seed)
    : homes_(std::move(homes)), lanes_(lanes), fraction_(fraction), seed_(seed) {
  check_shuffle(lanes, fraction);
  if (homes_.empty()) throw UsageError("there are no samples to order; select at least one");
  begins_.assign(lanes.count + 1, 0);
  for (const std::uint32_t home : homes_) ++begins_.at(std::size_t{home} + 1);
  for (std::size_t g = 1; g < begins_.size(); ++g) begins_[g] += begins_[g - 1];
  std::vector<std::uint64_t> next(begins_.begin(), begins_.end() - 1);
  places_.resize(homes_.size());
  for (std::size_t place = 0; place < homes_.size(); ++place) {
    places_[next[homes_[place]]++] = static_cast<std::uint32_t>(place);
  }
}

PartialShuffle::PartialShuffle(const SampleSet& samples, const ShuffleOptions& options,
                               std::uint64_t seed)
    : PartialShuffle(homes_of(samples, std::max(options.partitions, 1)),
                     {options.batch, static_cast<std::uint64_t>(std::max(options.partitions, 0))},
                     options.fraction, seed) {}

PartialShuffle::Epoch::Epoch(const PartialShuffle& shuffle, std::uint32_t number)
    : shuffle_(shuffle), number_(number), first_(number * shuffle.size()) {
  if (shuffle.fraction_ == 1) return;
  const Lanes& lanes = shuffle.lanes_;
  free_begins_.push_back(0);
  pool_begins_.push_back(0);
  for (std::uint64_t g = 0; g < lanes.count; ++g) {
    const std::uint64_t at_home = shuffle.begins_[g + 1] - shuffle.begins_[g];
    const std::uint64_t rows = lanes.before(g, first_ + shuffle.size()) - lanes.before(g, first_);
    const auto exchanged =
        static_cast<std::uint64_t>(std::ceil(shuffle.fraction_ * static_cast<double>(at_home)));
    kept_.push_back(std::min(at_home - exchanged, rows));
    free_begins_.push_back(free_begins_.back() + rows - kept_.back());
    pool_begins_.push_back(pool_begins_.back() + at_home - kept_.back());
  }
}

EpochOrder PartialShuffle::Epoch::order_of_home(std::uint64_t home) const {
  return {shuffle_.begins_[home + 1] - shuffle_.begins_[home], shuffle_.seed_, number_,
          RandomUse::kHome, static_cast<std::uint32_t>(home)};
}

EpochOrder PartialShuffle::Epoch::order_of_pool() const {
  return {pool_begins_.back(), shuffle_.seed_, number_, RandomUse::kExchange};
}

EpochOrder PartialShuffle::Epoch::order_of_lane(std::uint64_t lane) const {
  return {kept_[lane] + free_begins_[lane + 1] - free_begins_[lane], shuffle_.seed_, number_,
          RandomUse::kLane, static_cast<std::uint32_t>(lane)};
}

std::uint64_t PartialShuffle::Epoch::operator[](std::uint64_t offset) const {
  if (kept_.empty()) return EpochOrder(shuffle_.size(), shuffle_.seed_, number_)[offset];
  const std::uint64_t position = first_ + offset;
  const std::uint64_t lane = shuffle_.lanes_.lane_of(position);
  const std::uint64_t k =
      shuffle_.lanes_.before(lane, position) - shuffle_.lanes_.before(lane, first_);
  // Before a lane is permuted, its slots are those that stay, followed by the free ones.
  const std::uint64_t slot = order_of_lane(lane)[k];
  std::uint64_t home = lane;
  std::uint64_t drawn = slot;
  if (slot >= kept_[lane]) {
    const std::uint64_t given = order_of_pool()[free_begins_[lane] + slot - kept_[lane]];
    home = run_with(pool_begins_, given);
    drawn = kept_[home] + given - pool_begins_[home];
  }
  return shuffle_.places_[shuffle_.begins_[home] + order_of_home(home)[drawn]];
}

std::uint64_t PartialShuffle::Epoch::offset_of(std::uint64_t place) const {
  if (kept_.empty()) return EpochOrder(shuffle_.size(), shuffle_.seed_, number_).index_of(place);
  const std::uint64_t home = shuffle_.homes_[place];
  const auto at = [&](std::uint64_t index) {
    return shuffle_.places_.begin() + static_cast<std::ptrdiff_t>(index);
  };
  const auto begin = at(shuffle_.begins_[home]);
  const auto found = std::lower_bound(begin, at(shuffle_.begins_[home + 1]), place);
  const std::uint64_t drawn =
      order_of_home(home).index_of(static_cast<std::uint64_t>(found - begin));
  std::uint64_t lane = home;
  std::uint64_t slot = drawn;
  if (drawn >= kept_[home]) {
    const std::uint64_t got = order_of_pool().index_of(pool_begins_[home] + drawn - kept_[home]);
    lane = run_with(free_begins_, got);
    slot = kept_[lane] + got - free_begins_[lane];
  }
  const std::uint64_t k = order_of_lane(lane).index_of(slot);
  const Lanes& lanes = shuffle_.lanes_;
  return lanes.position_of(lane, lanes.before(lane, first_) + k) - first_;
}

std::vector<StreamSample> PartialShuffle::stream(std::uint64_t begin, std::uint64_t count) const {
  std::vector<StreamSample> samples;
  samples.reserve(count);
  auto number = static_cast<std::uint32_t>(begin / size());
  std::uint64_t within = begin % size();
  for (; samples.size() < count; ++number, within = 0) {
    const Epoch epoch(*this, number);
    for (; within < size() && samples.size() < count; ++within) {
      samples.push_back({number, epoch[within]});
    }
  }
  return samples;
}

}  // namespace winnow::pipeline
