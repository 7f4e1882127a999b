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

// Posts a non-blocking collective on the given MPI communicator.
using StartCollective = std::function<MPI_Request(MPI_Comm)>;

// Who owns the memory of a collective. It matters after a failure, as a collective cannot be
// cancelled.
enum class CollectiveMemory : std::uint8_t {
  kOwned,  // StartCollective owns it, and is kept until the collective is complete, or for ever
  // The caller owns it: if the engine fails, the collective is awaited like a receive.
  kBorrowed,
};

// An operation that was submitted to the progress engine, and its progress.
//
// Parts    A collective, transfers, or both: then transfers come after the collective.
// Threads  The submitting thread fills it in. Afterwards only the engine's thread uses it.
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
  std::vector<Transfer> own;  // holds the transfers if the caller does not keep them
  std::span<const Transfer> transfers;

  bool checksums = false;    // whether each message is followed by its checksum
  std::uint64_t number = 0;  // number of an announced all-reduce
  bool posted = false;       // the collective is posted
  bool opening = false;      // the collective is posted and not complete
  std::size_t started = 0;   // number of transfers in chains that have started
  std::size_t finished = 0;  // number of transfers in chains that have finished
};

// A message as MPI takes it: address, number of elements, type.
struct Message {
  MPI_Datatype type;
  std::size_t count;  // number of elements of `type`
  std::size_t bytes;  // bytes of the elements, without checksum
};
Message message_of(const Operation& operation, const Transfer& transfer) noexcept;

using Operations = std::vector<std::unique_ptr<Operation>>;  // in the order of submission

}  // namespace winnow::comm
