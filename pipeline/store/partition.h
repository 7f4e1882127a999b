#pragma once

#include "common/sample.h"

namespace winnow::pipeline {

// Which of `partitions` equal parts a sample belongs to, counted from 0. Depends on a hash of its
// id, so that parts do not resemble the order of ingest. `partitions` is 1 to 2^31 - 1. Pure.
// Never change it, because it defines the meaning of seeds. The partitions of 2 n are halves of
// those of n.
int partition_of(SampleId id, int partitions) noexcept;

// A range of partitions: [begin, end) of `of`, and the ids in them. Default: all.
struct Partitions {
  int begin = 0;
  int end = 1;
  int of = 1;

  bool all() const noexcept { return begin == 0 && end == of; }
  bool has(SampleId id) const noexcept;
  bool operator==(const Partitions&) const = default;
};

}  // namespace winnow::pipeline
