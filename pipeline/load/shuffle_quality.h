#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/load/partial_shuffle.h"
#include "pipeline/load/sampler.h"

namespace winnow::pipeline {

// How well a shuffle mixes, beside a global one.
struct ShuffleQuality {
  // Of the samples used, the share in a lane that is not their home: the most that travels where
  // machines hold the samples of their lanes. About Q (1 - 1/G); of a global shuffle 1 - 1/G.
  double away = 0;
  // How far apart a sample's offsets in an epoch and the next are: mean, as a share of the epoch.
  // Of a global shuffle 1/3.
  double displacement = 0;
  // How often two samples that share a lane of a batch share one again in the next epoch, as a
  // multiple of how often they would by a global shuffle. None where lanes have one row of a batch.
  std::optional<double> meetings;
  // Batches of the next epoch that were taken for one to count these: more than one where so few
  // meet in one that chance would decide.
  std::uint64_t window = 1;
  // Entropy of the labels in a lane of a batch, mean, as a multiple of that in the same rows of a
  // global shuffle. None where those have no label, or all the same.
  std::optional<double> class_entropy;
};

struct ShuffleStudy {
  std::uint32_t epochs = 4;         // each beside the next; 1 at least
  std::uint64_t samples = 1 << 16;  // to look at, of all epochs together; whole lanes of batches
  double meetings = 1000;           // to expect of a global shuffle, or the window has more batches
};

// Looks at lanes of batches drawn at random, of each all rows up to a few thousand: time does not
// grow with the samples (but for the cells of a window). `labels` are of each place; none at all:
// unlabelled. Pure.
ShuffleQuality measure_shuffle(const PartialShuffle& shuffle, const SampleLabels& labels = {},
                               const ShuffleStudy& study = {});

// The labels of the places of a set, each those of its first sample.
SampleLabels read_place_labels(const Cache& cache, const SampleSet& samples);

// "10.0 % of each of 8 partitions is exchanged an epoch: ...", for people.
std::string in_words(const PartialShuffle& shuffle, const ShuffleQuality& quality);

}  // namespace winnow::pipeline
