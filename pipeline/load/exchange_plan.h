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

// Plans which rank sends which records to whom, if each machine holds a part of the cache. Pure
// functions of what every rank knows: the order of samples, who holds what, sizes of records. No
// rank needs to ask another.

namespace winnow::pipeline {

// Which machine holds which blocks or partitions, and which rank is on which machine.
class Holders {
 public:
  // From the nodes and parts or partitions of `placement`, for a cache with these shards. Throws
  // Error for a block or partition that no machine with ranks has.
  Holders(std::span<const ShardInfo> shards, const Placement& placement);

  int ranks() const noexcept { return static_cast<int>(nodes_.size()); }
  bool all_have_all() const noexcept { return all_have_all_; }

  // The rank that reads a sample for `rank`: itself if its machine has it. Throws Error if no shard
  // can have it.
  int holder(SampleId id, int rank) const;
  // The shards that `rank` examines on behalf of all: its share of those with records on its
  // machine.
  std::vector<std::uint32_t> share_of(int rank) const;

 private:
  void find_partitions(const std::vector<Partitions>& partitions);
  void check_parts();
  // `node` if it has the sample, else the machine to ask.
  int node_for(SampleId id, int node) const;

  std::vector<int> nodes_;                            // by rank
  std::vector<std::vector<int>> ranks_;               // by machine
  std::vector<std::vector<std::uint32_t>> held_;      // shards, by machine
  std::shared_ptr<const Parts> parts_;                // null: machines hold partitions
  SampleId last_id_ = 0;                              // last id of all shards
  std::vector<std::vector<int>> nodes_of_partition_;  // ascending
  bool all_have_all_ = true;
};

// The size of every record as a pack of its own (packed_bytes), for `ids` in ascending order.
struct RecordSizes {
  std::vector<SampleId> ids = {};
  std::vector<std::int32_t> bytes = {};

  std::size_t operator[](SampleId id) const;  // Error for an unknown id
};

// A record sent from one rank to another, with its range in the sent or received bytes.
struct Parcel {
  std::uint64_t batch = 0;  // batch of the receiving rank
  std::uint32_t row = 0;    // row in that batch
  Request request = {};
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

// One exchange: the records of batches [first, end) that ranks lack on their machines. Offsets as
// for Communicator::start_all_to_all(). Nothing is left if first == end.
struct Segment {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::vector<std::vector<Request>> requests = {};  // requests of this rank, by batch
  std::vector<Parcel> sent = {};
  std::vector<Parcel> received = {};
  std::vector<std::size_t> sent_offsets = {};      // one for each rank, and the end
  std::vector<std::size_t> received_offsets = {};  // one for each rank, and the end
};

// At least one batch; further ones until a rank has more than `bytes` to send and receive together,
// or `batches` is reached. The same on all ranks.
struct SegmentLimits {
  std::size_t bytes = 0;
  std::uint64_t batches = 1;
};
Segment plan_segment(int rank, std::uint64_t first, const SegmentLimits& limits,
                     const RequestsOf& requests_of, const Holders& holders,
                     const RecordSizes& sizes);

}  // namespace winnow::pipeline
