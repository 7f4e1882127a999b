#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/partial_shuffle.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

// How often each place of a SampleSet (a sample, or samples of which an epoch uses one) occurs in
// an epoch. n is the number of places. "w times on average" is floor(w) or ceil(w) times in any
// epoch.
//
// kUniform       Once each; an epoch has n samples.
// kBalanced      An epoch has n samples, equally many of each class. Counts differ by at most one;
//                which classes get one more changes. Within a class, no place repeats before all
//                have occurred.
// kRepeatFactor  max(1, sqrt(threshold / f)) times on average, where f is the share of places that
//                have the rarest of its labels; once without a label. An epoch has the sum of these
//                numbers, rounded up; they are scaled to that size. (Gupta et al., LVIS, 2019, as
//                in detectron2.)
// kWeighted      As many times on average as its weight says; all samples have equal weight in the
//                loss. An epoch has the sum of the weights, rounded; they are scaled to that size.
enum class Sampling : std::uint8_t { kUniform, kBalanced, kRepeatFactor, kWeighted };
// Parses uniform, balanced, repeat-factor, weighted.
Sampling parse_sampling(std::string_view name);
std::string_view sampling_name(Sampling sampling) noexcept;

struct SamplingOptions {
  Sampling sampling = Sampling::kUniform;
  double repeat_threshold = 0.001;  // threshold of kRepeatFactor, in (0, 1]
  ShuffleOptions shuffle = {};      // a partial shuffle is only for kUniform
};

// Throws UsageError for a partial shuffle that the sampling does not allow, or that check_shuffle()
// refuses. Needs no samples.
void check_shuffle_of(const SamplingOptions& options);

// The labels of the ids of a set: labels of id i are labels[offsets[i] .. offsets[i + 1]).
struct SampleLabels {
  std::vector<std::uint32_t> offsets;
  std::vector<std::int32_t> labels;

  std::span<const std::int32_t> operator[](std::size_t i) const {
    return std::span(labels).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};
// Reads the labels of these ids from the cache. `label_of` maps each label to a new one; empty:
// unchanged.
SampleLabels read_labels(const Cache& cache, const std::vector<SampleId>& ids,
                         const std::vector<std::int32_t>& label_of = {});

// Training data as one stream of epochs, each in its own order. The sample at a position of the
// stream is a pure function of samples, options, seed and position; it depends on no batch, rank or
// earlier draw. Samples of which an epoch uses one have the labels of the first. Immutable;
// thread-safe.
class Sampler {
 public:
  // `labels` are only needed for kBalanced and kRepeatFactor.
  // Errors  UsageError: an empty set; with kBalanced, a sample without a label or with several; a
  //         threshold outside (0, 1]; as check_shuffle_of().
  Sampler(SampleSet samples, std::uint64_t seed, const SamplingOptions& options = {},
          const SampleLabels& labels = {});

  std::uint64_t epoch_size() const noexcept { return epoch_size_; }
  Sampling sampling() const noexcept { return sampling_; }
  // Whether all epochs have the same samples equally often.
  bool epochs_are_alike() const noexcept;
  // The partial shuffle; null for a global shuffle.
  const PartialShuffle* partial_shuffle() const noexcept {
    return partial_shuffle_ ? &*partial_shuffle_ : nullptr;
  }

  // The requests for positions [begin, begin + count) of the stream. Request::epoch counts how
  // often the place occurred before; with kRepeatFactor and kWeighted it is another number that
  // grows. So no two draws of a sample are augmented in the same way.
  std::vector<Request> requests(std::uint64_t begin, std::uint64_t count) const;
  // Whether all samples have weight 1 in the loss.
  bool all_weights_are_one() const noexcept { return all_weights_are_one_; }
  // Draw number `index` of an epoch (below epoch_size()), before the epoch is shuffled.
  Request draw(std::uint32_t epoch, std::uint64_t index) const;

 private:
  struct Drawn {
    std::size_t place;
    std::uint64_t turn;
  };
  Drawn place_at(std::uint32_t epoch, std::uint64_t index) const;
  Drawn balanced_at(std::uint32_t epoch, std::uint64_t index) const;
  Drawn weighted_at(std::uint32_t epoch, std::uint64_t index) const;
  void group_by_class(const SampleLabels& labels);
  void set_shares(const std::vector<double>& due);

  SampleSet samples_;
  std::uint64_t seed_;
  Sampling sampling_;
  std::uint64_t epoch_size_ = 0;
  bool all_weights_are_one_ = false;
  std::optional<PartialShuffle> partial_shuffle_;
  // kBalanced: the places of class number c, among the classes that occur, are
  // class_places_[class_begins_[c] .. class_begins_[c + 1]).
  std::vector<std::uint32_t> class_begins_;
  std::vector<std::uint32_t> class_places_;
  // kRepeatFactor, kWeighted: the places in an order given by the seed, and the end of each place's
  // interval on a line of integers; its length is proportional to how often the place occurs.
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> ends_;
};

// How often kRepeatFactor uses each sample per epoch on average, before rounding. For samples of
// which an epoch uses one: how often any of them. Pure.
std::vector<double> repeat_factors(const SampleSet& samples, const SampleLabels& labels,
                                   double threshold);

}  // namespace winnow::pipeline
