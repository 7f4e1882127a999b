#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "common/comm/mpi/announcements_internal.h"
#include "common/comm/mpi/combine_internal.h"
#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

class Channel;

// Posts a non-blocking collective on the given communicator.
using StartCollective = std::function<MPI_Request(MPI_Comm)>;

// The owner of a collective's memory. A collective cannot be cancelled.
enum class CollectiveMemory : std::uint8_t {
  kOwned,     // its StartCollective: kept until it is complete, or for ever
  kBorrowed,  // the caller: if the engine fails, it is awaited like a receive
};

// An operation that was submitted to the engine, and its progress.
//
// Parts    a collective, transfers, or both: then transfers come after the collective
// Threads  the submitting thread fills it in; afterwards only the engine's thread uses it
struct Operation {
  explicit Operation(Channel& its_channel) : channel(its_channel) {}
  Channel& channel;
  std::promise<void> done;
  StartCollective start;  // empty: no collective
  CollectiveMemory memory = CollectiveMemory::kOwned;
  std::function<void()> agreed;    // called when the collective is complete; throws to fail
  const std::byte* out = nullptr;  // read by sends
  std::byte* in = nullptr;         // written by receives
  Combine combine{};
  AllReduceKind kind{};       // for an all-reduce
  std::vector<Transfer> own;  // the transfers, if the caller does not keep them
  std::span<const Transfer> transfers;

  bool checksums = false;    // each message has its checksum behind it
  std::uint64_t number = 0;  // the number of an announced all-reduce
  bool posted = false;       // the collective is posted
  bool opening = false;      // it is posted and not complete
  std::size_t started = 0;   // transfers of chains that have started
  std::size_t finished = 0;  // transfers of chains that have finished
};

// A message in MPI's terms.
struct Message {
  MPI_Datatype type;
  std::size_t count;  // number of elements of `type`
  std::size_t bytes;  // bytes of the elements, without checksum
};
Message message_of(const Operation& operation, const Transfer& transfer) noexcept;

using Operations = std::vector<std::unique_ptr<Operation>>;  // in the order of submission

}  // namespace winnow::comm
