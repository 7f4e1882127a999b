#include "pipeline/load/shuffle_quality.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "common/rng.h"

namespace winnow::pipeline {
namespace {

using Epoch = PartialShuffle::Epoch;

// Divides the lanes of batches into windows of some batches, from the beginning of an epoch. A cell
// is what one lane has of one window.
class Cells {
 public:
  Cells(const PartialShuffle& shuffle, std::uint64_t epoch, std::uint64_t window)
      : lanes_(shuffle.lanes()),
        begin_(epoch * shuffle.size()),
        end_(begin_ + shuffle.size()),
        first_batch_(begin_ / lanes_.batch),
        window_(window) {}

  std::uint64_t count() const {
    const std::uint64_t batches = (end_ - 1) / lanes_.batch - first_batch_ + 1;
    return (batches + window_ - 1) / window_ * lanes_.count;
  }
  std::uint64_t cell_of(std::uint64_t offset) const {
    const std::uint64_t position = begin_ + offset;
    return (position / lanes_.batch - first_batch_) / window_ * lanes_.count +
           lanes_.lane_of(position);
  }
  // The range [first, second) of positions in a cell, numbered within its lane.
  std::pair<std::uint64_t, std::uint64_t> run_of(std::uint64_t cell) const {
    const std::uint64_t lane = lane_of(cell);
    const std::uint64_t batch = first_batch_ + cell / lanes_.count * window_;
    const auto before = [&](std::uint64_t position) {
      return lanes_.before(lane, std::clamp(position, begin_, end_));
    };
    return {before(batch * lanes_.batch), before((batch + window_) * lanes_.batch)};
  }
  std::uint64_t lane_of(std::uint64_t cell) const { return cell % lanes_.count; }
  // Probability that two different random positions of the epoch share a cell.
  double chance() const {
    double pairs = 0;
    for (std::uint64_t cell = 0; cell < count(); ++cell) {
      const auto [first, second] = run_of(cell);
      const auto size = static_cast<double>(second - first);
      pairs += size * (size - 1);
    }
    const auto n = static_cast<double>(end_ - begin_);
    return n > 1 ? pairs / (n * (n - 1)) : 0;
  }

 private:
  Lanes lanes_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t first_batch_;
  std::uint64_t window_;
};

// Number of pairs of equal values; sorts them.
double equal_pairs(std::vector<std::uint64_t>& values) {
  std::ranges::sort(values);
  double pairs = 0;
  for (std::size_t i = 0, begin = 0; i < values.size(); ++i) {
    if (values[i] != values[begin]) begin = i;
    pairs += static_cast<double>(i - begin);
  }
  return pairs;
}

double entropy(const std::map<std::int32_t, double>& counts) {
  double all = 0;
  for (const auto& [label, count] : counts) all += count;
  double bits = 0;
  for (const auto& [label, count] : counts) bits -= count / all * std::log2(count / all);
  return bits;
}

// Rows of a lane of a batch: its positions [first, end), numbered within the lane.
struct Rows {
  std::uint64_t lane;
  std::uint64_t first;
  std::uint64_t end;
};

// Random lanes of batches of an epoch, until there are enough samples.
std::vector<Rows> drawn_rows(const PartialShuffle& shuffle, std::uint32_t epoch,
                             std::uint64_t samples) {
  constexpr std::uint64_t kMostRows = 4096;
  const Cells cells(shuffle, epoch, 1);
  const EpochOrder order(cells.count(), shuffle.seed(), epoch, RandomUse::kStudy);
  std::vector<Rows> drawn;
  for (std::uint64_t i = 0, taken = 0; i < cells.count() && taken < samples; ++i) {
    const auto [first, second] = cells.run_of(order[i]);
    if (first == second) continue;
    drawn.push_back({cells.lane_of(order[i]), first, std::min(second, first + kMostRows)});
    taken += drawn.back().end - first;
  }
  return drawn;
}

double pairs_in(const std::vector<Rows>& drawn) {
  double pairs = 0;
  for (const auto& [lane, first, end] : drawn) {
    pairs += static_cast<double>(end - first) * static_cast<double>(end - first - 1) / 2;
  }
  return pairs;
}

// Number of batches to combine so that `meetings` of `pairs` pairs are expected to meet by chance.
std::uint64_t window_for(const PartialShuffle& shuffle, double pairs, double meetings) {
  const double due = pairs * Cells(shuffle, 1, 1).chance();
  const double batches =
      static_cast<double>(shuffle.size()) / static_cast<double>(shuffle.lanes().batch);
  if (due == 0 || meetings <= due) return 1;
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(std::min(meetings / due, batches))));
}

// Sums over the measured samples.
struct Sums {
  double samples = 0;
  double away = 0;
  double moved = 0;
  double met = 0;
  double met_by_chance = 0;
  double bits = 0;
  double bits_of_global = 0;
};

void look_at(const PartialShuffle& shuffle, std::uint32_t number, const std::vector<Rows>& drawn,
             std::uint64_t window, const SampleLabels& labels, Sums& sums) {
  const Epoch epoch(shuffle, number);
  const Epoch next(shuffle, number + 1);
  const EpochOrder global(shuffle.size(), shuffle.seed(), number);
  const Cells cells(shuffle, number + 1, window);
  const double pairs = pairs_in(drawn);
  if (pairs > 0) sums.met_by_chance += pairs * cells.chance();
  std::vector<std::uint64_t> cells_then;
  for (const auto& [lane, first, end] : drawn) {
    cells_then.clear();
    std::map<std::int32_t, double> classes;
    std::map<std::int32_t, double> classes_of_global;
    for (std::uint64_t k = first; k < end; ++k) {
      const std::uint64_t offset = shuffle.lanes().position_of(lane, k) - number * shuffle.size();
      const std::uint64_t place = epoch[offset];
      const std::uint64_t offset_then = next.offset_of(place);
      cells_then.push_back(cells.cell_of(offset_then));
      ++sums.samples;
      sums.away += shuffle.home(place) != lane ? 1 : 0;
      sums.moved += std::abs(static_cast<double>(offset_then) - static_cast<double>(offset));
      if (labels.offsets.empty()) continue;
      for (const std::int32_t label : labels[place]) ++classes[label];
      for (const std::int32_t label : labels[global[offset]]) ++classes_of_global[label];
    }
    sums.met += equal_pairs(cells_then);
    sums.bits += entropy(classes);
    sums.bits_of_global += entropy(classes_of_global);
  }
}

std::string with_digits(double value, int digits) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

ShuffleQuality measure_shuffle(const PartialShuffle& shuffle, const SampleLabels& labels,
                               const ShuffleStudy& study) {
  ShuffleQuality quality;
  Sums sums;
  for (std::uint32_t number = 0; number < study.epochs; ++number) {
    const auto drawn = drawn_rows(shuffle, number, study.samples / study.epochs + 1);
    if (number == 0) {
      const double pairs = pairs_in(drawn) * static_cast<double>(study.epochs);
      quality.window = window_for(shuffle, pairs, study.meetings);
    }
    look_at(shuffle, number, drawn, quality.window, labels, sums);
  }
  quality.away = sums.away / sums.samples;
  quality.displacement = sums.moved / sums.samples / static_cast<double>(shuffle.size());
  if (sums.met_by_chance > 0) quality.meetings = sums.met / sums.met_by_chance;
  if (sums.bits_of_global > 0) quality.class_entropy = sums.bits / sums.bits_of_global;
  return quality;
}

SampleLabels read_place_labels(const Cache& cache, const SampleSet& samples) {
  std::vector<SampleId> firsts(samples.size());
  for (std::size_t place = 0; place < firsts.size(); ++place) {
    firsts[place] = samples.ids[first_row(samples, place)];
  }
  return read_labels(cache, firsts);
}

std::string in_words(const PartialShuffle& shuffle, const ShuffleQuality& quality) {
  const auto lanes = static_cast<double>(shuffle.lanes().count);
  std::string text = with_digits(100 * shuffle.fraction(), 1) + " % of each of " +
                     std::to_string(shuffle.lanes().count) +
                     " partitions is exchanged an epoch: " + with_digits(100 * quality.away, 1) +
                     " % of the samples are used outside their lane (" +
                     with_digits(100 * (1 - 1 / lanes), 1) + " % by a global shuffle), ";
  if (quality.meetings) {
    text += "two that share a lane of a batch do so again " + with_digits(*quality.meetings, 2) +
            " times as often as by a global shuffle, ";
  }
  if (quality.class_entropy) {
    text += "the classes in one have " + with_digits(*quality.class_entropy, 3) +
            " times the entropy, ";
  }
  return text + "and samples move by " + with_digits(quality.displacement, 3) +
         " of an epoch (0.333)";
}

}  // namespace winnow::pipeline
