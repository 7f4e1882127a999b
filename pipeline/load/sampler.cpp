#include "pipeline/load/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/named.h"
#include "common/rng.h"
#include "pipeline/load/order.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::array<Named<Sampling>, 4> kSamplings{{{"uniform", Sampling::kUniform},
                                                     {"balanced", Sampling::kBalanced},
                                                     {"repeat-factor", Sampling::kRepeatFactor},
                                                     {"weighted", Sampling::kWeighted}}};

[[noreturn]] void throw_labels(SampleId id, const std::string& has) {
  throw UsageError("sample " + std::to_string(id) + " has " + has +
                   "; use --sampling uniform, or another sampling that suits these labels");
}

std::span<const std::int32_t> labels_at(const SampleSet& samples, const SampleLabels& labels,
                                        std::size_t place) {
  return labels[first_row(samples, place)];
}

// Element k of an infinite sequence of shuffles of [0, count), each a function of (seed, its
// number, part).
std::uint64_t shuffled(std::uint64_t seed, std::uint64_t k, std::uint32_t part,
                       std::uint64_t count) {
  // With fewer elements an EpochOrder needs long walks.
  constexpr std::uint64_t kFew = 64;
  if (count < kFew) {
    return static_cast<std::uint64_t>(
        turn_at(seed, k, part, static_cast<int>(count), RandomUse::kSampling));
  }
  const EpochOrder order(count, seed, static_cast<std::uint32_t>(k / count), RandomUse::kSampling,
                         part);
  return order[k % count];
}

constexpr int kOffsetBits = 32;  // resolution of a position in epochs and lines

// The offset of an epoch's comb, in [0, 1) of the distance between teeth. Steps of the golden ratio
// return near every place soon and regularly, so what is due half the time occurs about every other
// epoch.
std::uint64_t comb_offset(std::uint64_t seed, std::uint32_t epoch) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  const std::uint64_t first = CounterRng(seed, 0, 0, RandomUse::kSampling).next_u64();
  return (first + epoch * kGolden) >> (64 - kOffsetBits);
}

}  // namespace

Sampling parse_sampling(std::string_view name) { return parse_named(kSamplings, "sampling", name); }

std::string_view sampling_name(Sampling sampling) noexcept { return name_in(kSamplings, sampling); }

SampleLabels read_labels(const Cache& cache, const std::vector<SampleId>& ids,
                         const std::vector<std::int32_t>& label_of) {
  const dedup::Fingerprints table = cache.open_fingerprints()({"labels"});
  SampleLabels out;
  out.offsets.push_back(0);
  std::size_t row = 0;
  for (const SampleId id : ids) {
    while (row < table.size() && table.ids[row] < id) ++row;
    if (row == table.size() || table.ids[row] != id) {
      throw Error("there is no sample " + std::to_string(id) + " in " +
                  cache.paths().root.string());
    }
    for (const std::int32_t label : table.labels[row]) {
      out.labels.push_back(label_of.empty() ? label : label_of.at(static_cast<std::size_t>(label)));
    }
    out.offsets.push_back(static_cast<std::uint32_t>(out.labels.size()));
  }
  return out;
}

std::vector<double> repeat_factors(const SampleSet& samples, const SampleLabels& labels,
                                   double threshold) {
  if (!(threshold > 0 && threshold <= 1)) {
    throw UsageError("--repeat-threshold is a share of the samples, above 0 and at most 1, not " +
                     std::to_string(threshold));
  }
  std::map<std::int32_t, std::uint64_t> carriers;
  for (std::size_t place = 0; place < samples.size(); ++place) {
    for (const std::int32_t label : labels_at(samples, labels, place)) ++carriers[label];
  }
  std::vector<double> factors(samples.size(), 1);
  for (std::size_t place = 0; place < samples.size(); ++place) {
    for (const std::int32_t label : labels_at(samples, labels, place)) {
      const double share =
          static_cast<double>(carriers[label]) / static_cast<double>(samples.size());
      factors[place] = std::max(factors[place], std::sqrt(threshold / share));
    }
  }
  return factors;
}

void check_shuffle_of(const SamplingOptions& options) {
  const ShuffleOptions& shuffle = options.shuffle;
  if (shuffle.fraction == 1) return;
  if (options.sampling != Sampling::kUniform) {
    throw UsageError(
        "--sampling " + std::string(sampling_name(options.sampling)) +
        " shuffles all samples together; leave out --shuffle-fraction, or use --sampling uniform");
  }
  check_shuffle({shuffle.batch, static_cast<std::uint64_t>(shuffle.partitions)}, shuffle.fraction);
}

Sampler::Sampler(SampleSet samples, std::uint64_t seed, const SamplingOptions& options,
                 const SampleLabels& labels)
    : samples_(std::move(samples)),
      seed_(seed),
      sampling_(options.sampling),
      epoch_size_(samples_.size()),
      all_weights_are_one_(sampling_ == Sampling::kWeighted ||
                           std::ranges::all_of(samples_.weights, [](float w) { return w == 1; })) {
  if (samples_.size() == 0) {
    throw UsageError("there are no samples for a stream; select at least one");
  }
  check_shuffle_of(options);
  if (options.shuffle.fraction != 1) partial_shuffle_.emplace(samples_, options.shuffle, seed_);
  if (sampling_ == Sampling::kBalanced) group_by_class(labels);
  if (sampling_ == Sampling::kRepeatFactor) {
    const auto due = repeat_factors(samples_, labels, options.repeat_threshold);
    epoch_size_ =
        static_cast<std::uint64_t>(std::ceil(std::accumulate(due.begin(), due.end(), 0.0)));
    set_shares(due);
  }
  if (sampling_ == Sampling::kWeighted) {
    std::vector<double> due(samples_.size());
    for (std::size_t place = 0; place < due.size(); ++place) {
      due[place] = samples_.weights[first_row(samples_, place)];
    }
    const double sum = std::accumulate(due.begin(), due.end(), 0.0);
    epoch_size_ = static_cast<std::uint64_t>(std::max(1.0, std::round(sum)));
    set_shares(due);
  }
}

bool Sampler::epochs_are_alike() const noexcept {
  return sampling_ == Sampling::kUniform && samples_.turn_offsets.empty();
}

void Sampler::group_by_class(const SampleLabels& labels) {
  std::map<std::int32_t, std::vector<std::uint32_t>> places;
  for (std::size_t place = 0; place < samples_.size(); ++place) {
    const auto own = labels_at(samples_, labels, place);
    if (own.size() != 1) {
      throw_labels(
          samples_.ids[first_row(samples_, place)],
          std::to_string(own.size()) + " labels, but balanced classes need one label per sample");
    }
    places[own.front()].push_back(static_cast<std::uint32_t>(place));
  }
  class_begins_.push_back(0);
  for (const auto& [label, of_class] : places) {
    class_places_.insert(class_places_.end(), of_class.begin(), of_class.end());
    class_begins_.push_back(static_cast<std::uint32_t>(class_places_.size()));
  }
}

// Proportional to `due`, in steps of 2^-31 of the largest; at least one step each.
void Sampler::set_shares(const std::vector<double>& due) {
  constexpr double kLargest = 0x1p31;
  const double unit = kLargest / *std::ranges::max_element(due);
  const EpochOrder order(due.size(), seed_, 0, RandomUse::kSampling);
  order_.resize(due.size());
  ends_.resize(due.size());
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < due.size(); ++i) {
    order_[i] = static_cast<std::uint32_t>(order[i]);
    end += static_cast<std::uint64_t>(std::max<long long>(1, std::llround(due[order_[i]] * unit)));
    ends_[i] = end;
  }
}

// An epoch has n / C of each of C classes, and one more of n % C classes, in turns. The number of
// draws of class c before an epoch is therefore known exactly, and draws are numbered across
// epochs.
Sampler::Drawn Sampler::balanced_at(std::uint32_t epoch, std::uint64_t index) const {
  const std::uint64_t classes = class_begins_.size() - 1;
  const std::uint64_t each = epoch_size_ / classes;
  const std::uint64_t left_over = epoch_size_ % classes;
  const std::uint64_t given_out = epoch * left_over;  // additional draws in earlier epochs
  const bool extra = index >= each * classes;
  const std::uint64_t c = extra ? (given_out + index - each * classes) % classes : index / each;
  const std::uint64_t before = epoch * each + (given_out + classes - 1 - c) / classes;
  const std::uint64_t k = before + (extra ? each : index % each);
  const std::uint32_t begin = class_begins_[c];
  const std::uint64_t count = class_begins_[c + 1] - begin;
  const std::uint64_t which = shuffled(seed_, k, static_cast<std::uint32_t>(c), count);
  return {class_places_[begin + which], k / count};
}

// Systematic sampling: the shares lie side by side on a line, and a comb of epoch_size()
// equidistant teeth, shifted by the epoch's offset, is laid on it. A share of w distances is hit
// floor(w) or ceil(w) times. In integers, so that it is the same on every machine.
Sampler::Drawn Sampler::weighted_at(std::uint32_t epoch, std::uint64_t index) const {
  const std::uint64_t length = ends_.back();
  const std::uint64_t offset = comb_offset(seed_, epoch);
  const Wide teeth = Wide{epoch_size_} << kOffsetBits;
  const Wide tooth = (Wide{index} << kOffsetBits) + offset;
  const auto at = static_cast<std::uint64_t>(tooth * length / teeth);
  const auto i = static_cast<std::size_t>(std::ranges::upper_bound(ends_, at) - ends_.begin());
  const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  // The first tooth that hits this share, and the maximum number of hits.
  const Wide reached = (Wide{begin} * teeth + length - 1) / length;
  const Wide step = Wide{1} << kOffsetBits;
  const auto first = reached <= offset
                         ? std::uint64_t{0}
                         : static_cast<std::uint64_t>((reached - offset + step - 1) / step);
  const auto most = static_cast<std::uint64_t>(Wide{ends_[i] - begin} * epoch_size_ / length) + 1;
  return {order_[i], epoch * most + (index - first)};
}

Sampler::Drawn Sampler::place_at(std::uint32_t epoch, std::uint64_t index) const {
  switch (sampling_) {
    case Sampling::kBalanced:
      return balanced_at(epoch, index);
    case Sampling::kRepeatFactor:
    case Sampling::kWeighted:
      return weighted_at(epoch, index);
    case Sampling::kUniform:
      break;
  }
  return {index, epoch};
}

Request Sampler::draw(std::uint32_t epoch, std::uint64_t index) const {
  const Drawn drawn = place_at(epoch, index);
  const std::size_t row = row_at(samples_, drawn.place, seed_, drawn.turn);
  return {samples_.ids[row], static_cast<std::uint32_t>(drawn.turn),
          sampling_ == Sampling::kWeighted ? 1.0F : samples_.weights[row]};
}

std::vector<Request> Sampler::requests(std::uint64_t begin, std::uint64_t count) const {
  std::vector<Request> requests;
  requests.reserve(count);
  for (const auto& [epoch, index] : partial_shuffle_ ? partial_shuffle_->stream(begin, count)
                                                     : stream(epoch_size_, seed_, begin, count)) {
    requests.push_back(draw(epoch, index));
  }
  return requests;
}

}  // namespace winnow::pipeline
