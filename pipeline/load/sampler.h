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

// How often an epoch has each place of a SampleSet of n places (a sample, or samples that take
// turns). "Due" w means floor(w) or ceil(w) times in any epoch.
//   kUniform       once each; n samples an epoch.
//   kBalanced      n samples an epoch, of each class as many, counts differing by at most one,
//   those
//                  with one more taking turns. Within a class none comes again before all have
//                  come.
//   kRepeatFactor  due max(1, sqrt(threshold / f)) times, where f is the share of places that carry
//                  the rarest of its labels, once without a label (Gupta et al., LVIS, 2019, as
//                  detectron2 does it); as many samples as that
//                  adds up to, rounded up, which raises what is due accordingly.
//   kWeighted      due as often as its weight says, all samples counting alike in the loss; as many
//                  samples as the weights add up to, rounded, and what is due scaled accordingly.
enum class Sampling : std::uint8_t { kUniform, kBalanced, kRepeatFactor, kWeighted };
Sampling parse_sampling(std::string_view name);  // uniform, balanced, repeat-factor, weighted
std::string_view sampling_name(Sampling sampling) noexcept;

struct SamplingOptions {
  Sampling sampling = Sampling::kUniform;
  double repeat_threshold = 0.001;  // of kRepeatFactor, in (0, 1]
  ShuffleOptions shuffle = {};      // with kUniform may exchange less than all
};

// Throws UsageError for a shuffle that is none of the sampling's or that check_shuffle() refuses,
// whatever the samples.
void check_shuffle_of(const SamplingOptions& options);

// The labels of each of a set's ids: of id i, labels[offsets[i] .. offsets[i + 1]).
struct SampleLabels {
  std::vector<std::uint32_t> offsets;
  std::vector<std::int32_t> labels;

  std::span<const std::int32_t> operator[](std::size_t i) const {
    return std::span(labels).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};
// Each label becomes that of `label_of`; empty: all stay.
SampleLabels read_labels(const Cache& cache, const std::vector<SampleId>& ids,
                         const std::vector<std::int32_t>& label_of = {});

// Training data as one stream: epoch after epoch, each in an order of its own. What stands at a
// position is a pure function of the samples, the options, the seed and the position: it depends on
// no batch and no rank, and on nothing that was drawn before. A place has the labels of its first
// sample. Immutable; safe from many threads.
class Sampler {
 public:
  // `labels` are asked for by kBalanced and kRepeatFactor. Throws UsageError for an empty set, with
  // kBalanced a sample without a label or of several, a threshold outside (0, 1], and as
  // check_shuffle_of().
  Sampler(SampleSet samples, std::uint64_t seed, const SamplingOptions& options = {},
          const SampleLabels& labels = {});

  std::uint64_t epoch_size() const noexcept { return epoch_size_; }
  Sampling sampling() const noexcept { return sampling_; }
  // Whether all epochs have the same samples equally often.
  bool epochs_are_alike() const noexcept;
  // None where all samples are shuffled together.
  const PartialShuffle* partial_shuffle() const noexcept {
    return partial_shuffle_ ? &*partial_shuffle_ : nullptr;
  }

  // What to load for positions [begin, begin + count) of the stream. Request::epoch is how often
  // the place came before, or with kRepeatFactor and kWeighted a number that grows with that: no
  // two draws of a sample are augmented alike.
  std::vector<Request> requests(std::uint64_t begin, std::uint64_t count) const;
  // Whether every request has weight 1.
  bool all_weights_are_one() const noexcept { return all_weights_are_one_; }
  // Draw `index` < epoch_size() of an epoch, before the epoch is put in order.
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
  // kBalanced: class c, of those that occur, has places class_places_[class_begins_[c] ..
  // class_begins_[c + 1]).
  std::vector<std::uint32_t> class_begins_;
  std::vector<std::uint32_t> class_places_;
  // kRepeatFactor, kWeighted: the places in an order of the seed, and where the share of each ends
  // on a line of integers.
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> ends_;
};

// How often each place is due by kRepeatFactor, before rounding. Pure.
std::vector<double> repeat_factors(const SampleSet& samples, const SampleLabels& labels,
                                   double threshold);

}  // namespace winnow::pipeline
