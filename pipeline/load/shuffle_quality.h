#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/load/partial_shuffle.h"
#include "pipeline/load/sampler.h"

namespace winnow::pipeline {

// How well a shuffle mixes, compared with a global one.
struct ShuffleQuality {
  // Share of used samples in a lane other than their home: an upper bound of what travels if
  // machines hold the samples of their lanes. About Q (1 - 1/G); 1 - 1/G for a global shuffle.
  double away = 0;
  // Mean distance between a sample's offsets in consecutive epochs, as a share of the epoch. 1/3
  // for a global shuffle.
  double displacement = 0;
  // How often two samples that share a lane of a batch share one again in the next epoch, relative
  // to a global shuffle. nullopt if lanes have one row of a batch.
  std::optional<double> meetings;
  // Number of the next epoch's batches counted as one for `meetings`: more than one if so few meet
  // that chance would dominate.
  std::uint64_t window = 1;
  // Mean entropy of the labels in a lane of a batch, relative to the same rows of a global shuffle.
  // nullopt without labels, or if all are equal.
  std::optional<double> class_entropy;
};

struct ShuffleStudy {
  std::uint32_t epochs = 4;         // epochs to compare with the next; at least 1
  std::uint64_t samples = 1 << 16;  // samples to examine in all; whole lanes of batches
  // Minimum number expected with a global shuffle; else the window grows.
  double meetings = 1000;
};

// Measures randomly drawn lanes of batches, up to a few thousand rows each, so the time does not
// grow with the samples (except for the cells of a window). Pure.
// labels  One list a place; none at all: unlabelled.
ShuffleQuality measure_shuffle(const PartialShuffle& shuffle, const SampleLabels& labels = {},
                               const ShuffleStudy& study = {});

// The labels of the places of a set: those of each place's first sample.
SampleLabels read_place_labels(const Cache& cache, const SampleSet& samples);

// One sentence for the user: "10.0 % of each of 8 partitions is exchanged an epoch: ...".
std::string in_words(const PartialShuffle& shuffle, const ShuffleQuality& quality);

}  // namespace winnow::pipeline
