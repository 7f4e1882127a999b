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

// How often each of the n places of a SampleSet (a sample, or samples that take turns) occurs in an
// epoch. "Due" w means floor(w) or ceil(w) times in any epoch.
//
// kUniform       Once each; n samples an epoch.
// kBalanced      n samples an epoch, equally many from each class. Counts differ by at most one, in
//                turns. Within a class, none repeats before all have occurred.
// kRepeatFactor  Due max(1, sqrt(threshold / f)) times, where f is the share of places with the
//                rarest of its labels; once without a label. An epoch has the sum, rounded up,
//                which raises the due numbers accordingly. (Gupta et al., LVIS, 2019, as in
//                detectron2.)
// kWeighted      Due as often as its weight says; all samples count alike in the loss. An epoch has
//                the sum of the weights, rounded, and the due numbers are scaled accordingly.
enum class Sampling : std::uint8_t { kUniform, kBalanced, kRepeatFactor, kWeighted };
Sampling parse_sampling(std::string_view name);  // uniform, balanced, repeat-factor, weighted
std::string_view sampling_name(Sampling sampling) noexcept;

struct SamplingOptions {
  Sampling sampling = Sampling::kUniform;
  double repeat_threshold = 0.001;  // for kRepeatFactor, in (0, 1]
  ShuffleOptions shuffle = {};      // only kUniform may exchange less than everything
};

// Throws UsageError for a shuffle that does not fit the sampling, or that check_shuffle() refuses,
// whatever the samples.
void check_shuffle_of(const SamplingOptions& options);

// The labels of a set's ids: those of id i are labels[offsets[i] .. offsets[i + 1]).
struct SampleLabels {
  std::vector<std::uint32_t> offsets;
  std::vector<std::int32_t> labels;

  std::span<const std::int32_t> operator[](std::size_t i) const {
    return std::span(labels).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};
// Each label is mapped by `label_of`; empty: unchanged.
SampleLabels read_labels(const Cache& cache, const std::vector<SampleId>& ids,
                         const std::vector<std::int32_t>& label_of = {});

// Training data as one stream of epochs, each in its own order. The sample at a position is a pure
// function of samples, options, seed and position; it depends on no batch, rank or earlier draw. A
// place has the labels of its first sample. Immutable; thread-safe.
class Sampler {
 public:
  // `labels` are needed by kBalanced and kRepeatFactor.
  // Errors  UsageError: an empty set; with kBalanced, a sample without a label or with several; a
  //         threshold outside (0, 1]; as check_shuffle_of().
  Sampler(SampleSet samples, std::uint64_t seed, const SamplingOptions& options = {},
          const SampleLabels& labels = {});

  std::uint64_t epoch_size() const noexcept { return epoch_size_; }
  Sampling sampling() const noexcept { return sampling_; }
  // Whether all epochs contain the same samples equally often.
  bool epochs_are_alike() const noexcept;
  // null for a global shuffle.
  const PartialShuffle* partial_shuffle() const noexcept {
    return partial_shuffle_ ? &*partial_shuffle_ : nullptr;
  }

  // The requests for positions [begin, begin + count) of the stream. Request::epoch counts earlier
  // occurrences of the place, or with kRepeatFactor and kWeighted is a number that grows with them:
  // no two draws of a sample are augmented alike.
  std::vector<Request> requests(std::uint64_t begin, std::uint64_t count) const;
  // Whether every request has weight 1.
  bool all_weights_are_one() const noexcept { return all_weights_are_one_; }
  // Draw `index` < epoch_size() of an epoch, before the epoch is shuffled.
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
  // kBalanced: the places of class c, among those that occur, are class_places_[class_begins_[c] ..
  // class_begins_[c + 1]).
  std::vector<std::uint32_t> class_begins_;
  std::vector<std::uint32_t> class_places_;
  // kRepeatFactor, kWeighted: the places in an order by the seed, and the end of each one's share
  // on a line of integers.
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> ends_;
};

// How often each place is due with kRepeatFactor, before rounding. Pure.
std::vector<double> repeat_factors(const SampleSet& samples, const SampleLabels& labels,
                                   double threshold);

}  // namespace winnow::pipeline
