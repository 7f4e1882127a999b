#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/sample.h"
#include "pipeline/load/exchange.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/partition.h"
#include "pipeline/store/parts.h"

// Who gives which records to whom, when each machine of a job holds a part of the cache. Pure
// functions of what every rank knows: the order of samples, who holds what, how large records are.
// So no rank asks another for anything, and all know what is coming.

namespace winnow::pipeline {

// Which machine holds which blocks or partitions, and which rank is on which machine.
class Holders {
 public:
  // The nodes of `placement` and its parts or partitions, of a cache of these shards. Throws Error
  // for a block or partition that no machine with ranks has.
  Holders(std::span<const ShardInfo> shards, const Placement& placement);

  int ranks() const noexcept { return static_cast<int>(nodes_.size()); }
  bool all_have_all() const noexcept { return all_have_all_; }

  // The rank that reads a sample for `rank`: itself, where its machine has it. Throws Error where
  // no shard can have it.
  int holder(SampleId id, int rank) const;
  // The shards that `rank` looks into on behalf of all: of those its machine has records of its
  // share.
  std::vector<std::uint32_t> share_of(int rank) const;

 private:
  void find_partitions(const std::vector<Partitions>& partitions);
  void check_parts();
  // Of the machines that have a sample `node`, or else the one that it asks.
  int node_for(SampleId id, int node) const;

  std::vector<int> nodes_;                            // of each rank
  std::vector<std::vector<int>> ranks_;               // of each machine
  std::vector<std::vector<std::uint32_t>> held_;      // of each machine, shards
  std::shared_ptr<const Parts> parts_;                // null: machines hold partitions
  SampleId last_id_ = 0;                              // of all shards
  std::vector<std::vector<int>> nodes_of_partition_;  // ascending
  bool all_have_all_ = true;
};

// Bytes of every record as a pack of its own (see packed_bytes), of `ids` in ascending order.
struct RecordSizes {
  std::vector<SampleId> ids = {};
  std::vector<std::int32_t> bytes = {};

  std::size_t operator[](SampleId id) const;  // Error for another id
};

// A record that goes from one rank to another, and where it lies in what that one sends or this one
// gets.
struct Parcel {
  std::uint64_t batch = 0;  // of the rank that gets it
  std::uint32_t row = 0;    // in that batch
  Request request = {};
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

// What is exchanged at once: the records of batches [first, end) that ranks do not have on their
// machines. Parts of offsets are as Communicator::start_all_to_all() has them. Nothing is left when
// first == end.
struct Segment {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::vector<std::vector<Request>> requests = {};  // of this rank, of each batch
  std::vector<Parcel> sent = {};
  std::vector<Parcel> received = {};
  std::vector<std::size_t> sent_offsets = {};      // of each rank, and the end
  std::vector<std::size_t> received_offsets = {};  // of each rank, and the end
};

// At least a batch; as many more as there may be before any rank has more than `bytes` to send and
// get together, or `batches` are reached. The same on all ranks.
struct SegmentLimits {
  std::size_t bytes = 0;
  std::uint64_t batches = 1;
};
Segment plan_segment(int rank, std::uint64_t first, const SegmentLimits& limits,
                     const RequestsOf& requests_of, const Holders& holders,
                     const RecordSizes& sizes);

}  // namespace winnow::pipeline
