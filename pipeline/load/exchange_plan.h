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

// Plans which rank sends which records to which rank, if each machine holds only a part of the
// cache. Pure functions of what every rank knows: the order of samples, who holds what, the sizes
// of records. No communication is needed.

namespace winnow::pipeline {

// Knows which machine holds which blocks or partitions, and on which machine each rank is.
class Holders {
 public:
  // Reads nodes, and parts or partitions, from `placement`. `shards` are those of the cache. Throws
  // Error for a block or partition that no machine with ranks has.
  Holders(std::span<const ShardInfo> shards, const Placement& placement);

  int ranks() const noexcept { return static_cast<int>(nodes_.size()); }
  bool all_have_all() const noexcept { return all_have_all_; }

  // The rank that reads a sample on behalf of `rank`: itself if its machine has the sample. Throws
  // Error if no shard can have the sample.
  int holder(SampleId id, int rank) const;
  // The shards whose record sizes `rank` reads for all ranks: its share of the shards with records
  // on its machine.
  std::vector<std::uint32_t> share_of(int rank) const;

 private:
  void find_partitions(const std::vector<Partitions>& partitions);
  void check_parts();
  // The machine to ask for a sample: `node` itself if it has the sample.
  int node_for(SampleId id, int node) const;

  std::vector<int> nodes_;                        // machine of each rank
  std::vector<std::vector<int>> ranks_;           // ranks of each machine
  std::vector<std::vector<std::uint32_t>> held_;  // shards with records on each machine
  std::shared_ptr<const Parts> parts_;            // null: the cache is divided by partitions
  SampleId last_id_ = 0;                          // last id in all shards
  // Machines that have each partition, ascending.
  std::vector<std::vector<int>> nodes_of_partition_;
  bool all_have_all_ = true;
};

// The size in bytes of each record when it is sent as a pack of its own (packed_bytes). `ids`
// ascend.
struct RecordSizes {
  std::vector<SampleId> ids = {};
  std::vector<std::int32_t> bytes = {};

  std::size_t operator[](SampleId id) const;  // throws Error for an unknown id
};

// A record that one rank sends to another, and its byte range in the buffer that is sent or
// received.
struct Parcel {
  std::uint64_t batch = 0;  // number of the batch on the receiving rank
  std::uint32_t row = 0;    // row of the record in the receiving rank's batch
  Request request = {};
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

// One exchange between ranks: the records for batches [first, end) that ranks lack on their
// machines. Offsets are as for Communicator::start_all_to_all(). first == end: no batch is left.
struct Segment {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::vector<std::vector<Request>> requests = {};  // requests of this rank for each batch
  std::vector<Parcel> sent = {};
  std::vector<Parcel> received = {};
  std::vector<std::size_t> sent_offsets = {};  // where the bytes for each rank begin, and their end
  // Where the bytes from each rank begin, and their end.
  std::vector<std::size_t> received_offsets = {};
};

// Limits of one exchange. It has at least one batch, and more until a rank has to send and receive
// more than `bytes` together, or `batches` is reached. The same on all ranks.
struct SegmentLimits {
  std::size_t bytes = 0;
  std::uint64_t batches = 1;
};
Segment plan_segment(int rank, std::uint64_t first, const SegmentLimits& limits,
                     const RequestsOf& requests_of, const Holders& holders,
                     const RecordSizes& sizes);

}  // namespace winnow::pipeline
