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

// Posts a non-blocking collective on the communicator it is given.
using StartCollective = std::function<MPI_Request(MPI_Comm)>;

// Whose memory a collective works on. A collective cannot be cancelled.
enum class CollectiveMemory : std::uint8_t {
  kOwned,     // its StartCollective's: kept until it is complete, or for good
  kBorrowed,  // the caller's: when the engine fails, it is waited for as a receive is
};

// One operation that was submitted to the engine, and how far it has come.
//
// Parts    a collective, transfers, or both: the transfers then come after the collective
// Threads  the submitting one fills it in; from then on the engine's alone
struct Operation {
  explicit Operation(Channel& its_channel) : channel(its_channel) {}
  Channel& channel;
  std::promise<void> done;
  StartCollective start;  // empty: no collective
  CollectiveMemory memory = CollectiveMemory::kOwned;
  std::function<void()> agreed;    // called when the collective is complete; throws to fail
  const std::byte* out = nullptr;  // what sends read
  std::byte* in = nullptr;         // what receives write
  Combine combine{};
  AllReduceKind kind{};       // of an all-reduce
  std::vector<Transfer> own;  // the transfers, where the caller does not keep them
  std::span<const Transfer> transfers;

  bool checksums = false;    // each message has its checksum behind it
  std::uint64_t number = 0;  // of an all-reduce that has been announced
  bool posted = false;       // the collective is posted
  bool opening = false;      // it is posted and not complete
  std::size_t started = 0;   // transfers of chains that have started
  std::size_t finished = 0;  // transfers of chains that have finished
};

// A message as MPI is told of it.
struct Message {
  MPI_Datatype type;
  std::size_t count;  // of these
  std::size_t bytes;  // of the elements, without a checksum
};
Message message_of(const Operation& operation, const Transfer& transfer) noexcept;

using Operations = std::vector<std::unique_ptr<Operation>>;  // in the order of submission

}  // namespace winnow::comm
