#pragma once

#include "common/sample.h"

namespace winnow::pipeline {

// Which of `partitions` equal parts of all ids a sample is in, from 0: by a hash of its id, so that
// no part is like the order of ingest. Pure; fixes what a seed means, so it never changes. Those of
// twice as many partitions are halves of these. `partitions` is 1 to 2^31 - 1.
int partition_of(SampleId id, int partitions) noexcept;

// Partitions [begin, end) of `of`, or the ids that are in them. As it is: all.
struct Partitions {
  int begin = 0;
  int end = 1;
  int of = 1;

  bool all() const noexcept { return begin == 0 && end == of; }
  bool has(SampleId id) const noexcept;
  bool operator==(const Partitions&) const = default;
};

}  // namespace winnow::pipeline
