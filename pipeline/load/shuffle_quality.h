#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/load/partial_shuffle.h"
#include "pipeline/load/sampler.h"

namespace winnow::pipeline {

// Measures how well a partial shuffle mixes the samples, compared with a global shuffle.
struct ShuffleQuality {
  // Share of samples used in a lane (rows of the batch) other than that of their home partition: an
  // upper bound of what is sent if each machine holds the samples of its lanes. About Q (1 - 1/G);
  // 1 - 1/G for a global shuffle.
  double away = 0;
  // Mean distance between a sample's offsets in consecutive epochs, as a share of the epoch. 1/3
  // for a global shuffle.
  double displacement = 0;
  // How often two samples that are in the same lane of a batch are so again in the next epoch,
  // relative to a global shuffle. nullopt if lanes have one row of a batch.
  std::optional<double> meetings;
  // Number of consecutive batches of the next epoch that count as one for `meetings`. More than 1
  // if so few pairs meet that chance would dominate.
  std::uint64_t window = 1;
  // Mean entropy of the labels in a lane of a batch, relative to equally many samples of a global
  // shuffle. nullopt without labels, or if all labels are equal.
  std::optional<double> class_entropy;
};

struct ShuffleStudy {
  std::uint32_t epochs = 4;         // number of epochs to compare with the next one; at least 1
  std::uint64_t samples = 1 << 16;  // most samples to examine, as whole lanes of batches
  // Least number of meetings to expect with a global shuffle; else more batches count as one.
  double meetings = 1000;
};

// Measures lanes of batches that are drawn at random, up to a few thousand rows each. The time does
// not grow with the number of samples (except for the cells of a window). Pure.
// labels  labels of each place; empty: unlabelled
ShuffleQuality measure_shuffle(const PartialShuffle& shuffle, const SampleLabels& labels = {},
                               const ShuffleStudy& study = {});

// The labels of each place of a set (a sample, or a group of which an epoch uses one): those of its
// first sample.
SampleLabels read_place_labels(const Cache& cache, const SampleSet& samples);

// The measurement as one sentence: "10.0 % of each of 8 partitions is exchanged an epoch: ...".
std::string in_words(const PartialShuffle& shuffle, const ShuffleQuality& quality);

}  // namespace winnow::pipeline
