#pragma once

#include "common/sample.h"

namespace winnow::pipeline {

// Which of `partitions` equal parts a sample belongs to, from 0. Uses a hash of its id, so that
// parts do not resemble the order of ingest. `partitions` is 1 to 2^31 - 1.
// Pure, and never changes, because it defines what a seed means. The partitions of 2 n are halves
// of those of n.
int partition_of(SampleId id, int partitions) noexcept;

// Partitions [begin, end) of `of`, or the ids in them. By default all.
struct Partitions {
  int begin = 0;
  int end = 1;
  int of = 1;

  bool all() const noexcept { return begin == 0 && end == of; }
  bool has(SampleId id) const noexcept;
  bool operator==(const Partitions&) const = default;
};

}  // namespace winnow::pipeline
