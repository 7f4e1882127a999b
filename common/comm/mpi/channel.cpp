#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "common/checksum.h"
#include "common/comm/mpi/channel_internal.h"
#include "common/comm/mpi/check_mpi_internal.h"
#include "common/error.h"
#include "common/failpoint.h"

namespace winnow::comm {

namespace {

// Whether a message is received into separate memory.
bool is_kept_apart(const Transfer& transfer, const Operation& operation) {
  return transfer.kind == Transfer::Kind::kReceiveAdd ||
         (transfer.kind == Transfer::Kind::kReceiveCopy &&
          (operation.combine.coding != nullptr || operation.checksums));
}

using Checksum = std::uint64_t;

// Combines a message with the buffer, which has `count` elements there.
void take_in(const Combine& combine, Transfer::Kind kind, std::byte* into, const std::byte* message,
             std::size_t count) {
  if (kind == Transfer::Kind::kReceiveAdd) {
    combine.apply(into, message, count);
  } else if (combine.coding != nullptr) {
    combine.coding->decode(into, message, count);
  } else {
    std::copy_n(message, count * combine.element_bytes, into);  // may be null if there are none
  }
}

}  // namespace

Message message_of(const Operation& operation, const Transfer& transfer) noexcept {
  const std::size_t bytes = transfer.count * operation.combine.message_bytes();
  if (operation.checksums) return {MPI_BYTE, bytes + sizeof(Checksum), bytes};
  return {operation.combine.type, transfer.count, bytes};
}

int Chain::tag_of(const Transfer& transfer) const {
  return tags[static_cast<std::size_t>(&transfer - &operation->transfers[first])];
}

Channel::Channel(MPI_Comm comm, int tag_limit, std::size_t window, SendCall send,
                 RequestPool& requests, Announcements& announcements)
    : comm_(comm),
      send_(send),
      requests_(requests),
      announcements_(announcements),
      chains_(window),
      tags_(tag_limit) {
  for (Chain& chain : chains_) idle_.push_back(&chain);
}

void Channel::announce(Operation& operation) {
  operation.number = announcements_.begin(operation.kind, operation.transfers);
}

void Channel::start_collective(Operation& operation) {
  operation.posted = true;
  requests_.make_room(1);
  before_message("mpi.collective", -1);
  requests_.add(operation.start(comm_), {&operation, nullptr, nullptr});
  operation.opening = true;
}

bool Channel::start_chains(Operation& operation) {
  const std::span<const Transfer> transfers = operation.transfers;
  const std::size_t before = operation.started;
  while (operation.started < transfers.size() && may_start_chain()) {
    Chain& chain = *idle_.back();
    idle_.pop_back();
    chain.operation = &operation;
    chain.first = chain.end = operation.started;
    chain.last = chain.first;
    while (chain.last < transfers.size() &&
           transfers[chain.last].chain == transfers[chain.first].chain) {
      ++chain.last;
    }
    operation.started = chain.last;
    take_tags(chain);
    start_round(chain);
  }
  return operation.started != before;
}

bool Channel::finish(const Posted& posted) {
  if (posted.chain == nullptr) return finish_collective(*posted.operation);
  return --posted.chain->waiting == 0 && finish_round(*posted.chain);
}

// A chain that waits for a late rank keeps its tags, while chains without that rank go on.
bool Channel::may_start_chain() const {
  return !idle_.empty() && std::ranges::all_of(chains_, [this](const Chain& chain) {
    return chain.number == 0 || tags_.may_begin(chain.number);
  });
}

void Channel::take_tags(Chain& chain) {
  chain.number = tags_.begin_chain();
  chain.tags.clear();
  for (std::size_t i = chain.first; i < chain.last; ++i) {
    const Transfer& transfer = chain.operation->transfers[i];
    chain.tags.push_back(tags_.of(transfer.peer, transfer.kind == Transfer::Kind::kSend));
  }
}

void Channel::start_round(Chain& chain) {
  const std::span<const Transfer> transfers = chain.operation->transfers;
  chain.begin = chain.end;
  while (chain.end < chain.last && transfers[chain.end].round == transfers[chain.begin].round)
    ++chain.end;
  chain.waiting = chain.end - chain.begin;
  requests_.make_room(chain.waiting);
  const std::span<const Transfer> round = transfers.subspan(chain.begin, chain.waiting);
  // Receives are posted first, so that no message of this round arrives unexpected and is copied
  // twice.
  for (const Transfer& transfer : round) {
    if (transfer.kind != Transfer::Kind::kSend) post_receive(chain, transfer);
  }
  for (const Transfer& transfer : round) {
    if (transfer.kind == Transfer::Kind::kSend) post_send(chain, transfer);
  }
}

void Channel::post_receive(Chain& chain, const Transfer& transfer) {
  const Operation& operation = *chain.operation;
  const Message message = message_of(operation, transfer);
  std::byte* into = is_kept_apart(transfer, operation)
                        ? take_scratch(chain.arrived, message.bytes + sizeof(Checksum))
                        : operation.in + transfer.begin * operation.combine.element_bytes;
  MPI_Request request = MPI_REQUEST_NULL;
  before_message("mpi.receive", transfer.peer);
  check_mpi(MPI_Irecv(into, static_cast<int>(message.count), message.type, transfer.peer,
                      chain.tag_of(transfer), comm_, &request),
            "MPI_Irecv", transfer.peer);
  requests_.add(request, {chain.operation, &chain, &transfer});
}

void Channel::post_send(Chain& chain, const Transfer& transfer) {
  const Operation& operation = *chain.operation;
  const Combine& combine = operation.combine;
  const std::size_t at = transfer.begin * combine.element_bytes;
  const std::byte* from = operation.out + at;
  const Message message = message_of(operation, transfer);
  if (combine.coding != nullptr || operation.checksums) {
    std::byte* const copy = take_scratch(chain.encoded, message.bytes + sizeof(Checksum));
    if (combine.coding != nullptr) {
      combine.coding->encode(operation.in + at, copy, transfer.count);
    } else {
      std::copy_n(from, message.bytes, copy);
    }
    from = copy;
    if (operation.checksums) {
      const Checksum checksum = xxh3_64({copy, message.bytes});
      std::memcpy(copy + message.bytes, &checksum, sizeof(checksum));
    }
  }
  MPI_Request request = MPI_REQUEST_NULL;
  before_message("mpi.send", transfer.peer);
  check_mpi(send_(from, static_cast<int>(message.count), message.type, transfer.peer,
                  chain.tag_of(transfer), comm_, &request),
            "MPI_Isend", transfer.peer);
  after_message("mpi.send", transfer.peer);
  requests_.add(request, {chain.operation, &chain, &transfer});
}

// Memory for a message of the chain's round. It is in use until the round is finished.
std::byte* Channel::take_scratch(std::vector<std::vector<std::byte>>& into, std::size_t bytes) {
  std::vector<std::byte> free;
  if (!scratch_.empty()) {
    free = std::move(scratch_.back());
    scratch_.pop_back();
  }
  if (free.size() < bytes) free.resize(bytes);
  into.push_back(std::move(free));
  return into.back().data();
}

void Channel::give_back(std::vector<std::vector<std::byte>>& scratch) {
  for (std::vector<std::byte>& buffer : scratch) scratch_.push_back(std::move(buffer));
  scratch.clear();
}

// Ranks may compute the same sum independently, while only some of them send it on.
void Channel::make_sums_codable(const Chain& chain) {
  const Operation& operation = *chain.operation;
  const Coding* const coding = operation.combine.coding;
  if (coding == nullptr) return;
  for (std::size_t i = chain.first; i < chain.last; ++i) {
    const Transfer& transfer = operation.transfers[i];
    if (transfer.kind != Transfer::Kind::kReceiveAdd) continue;
    coding->encode(operation.in + transfer.begin * operation.combine.element_bytes, nullptr,
                   transfer.count);
  }
}

bool Channel::finish_collective(Operation& operation) {
  operation.opening = false;
  if (operation.agreed) operation.agreed();
  return operation.transfers.empty();
}

// Only announced data of a peer may enter the buffer. Copied data are already there, but the
// operation does not complete with them.
void Channel::require_announcements(const Chain& chain) {
  const Operation& operation = *chain.operation;
  for (std::size_t i = chain.begin; i < chain.end; ++i) {
    const Transfer& transfer = operation.transfers[i];
    if (transfer.kind == Transfer::Kind::kSend) continue;
    announcements_.require(operation.kind.group, operation.number, transfer.peer);
  }
}

void Channel::check_arrived(const Operation& operation, const Transfer& transfer,
                            std::span<const std::byte> message) const {
  const std::size_t bytes = message_of(operation, transfer).bytes;
  Checksum checksum = 0;
  std::memcpy(&checksum, message.data() + bytes, sizeof(checksum));
  if (checksum == xxh3_64(message.first(bytes))) return;
  throw SystemError("a message of " + std::to_string(bytes) + " bytes was damaged on its way, " +
                    announcements_.names().link_from(transfer.peer) + " (" +
                    (operation.number > 0 ? "all-reduce " + std::to_string(operation.number)
                                          : std::string("an all-to-all")) +
                    "); check the network and the memory of these two hosts");
}

bool Channel::finish_round(Chain& chain) {
  Operation& operation = *chain.operation;
  if (operation.number > 0) require_announcements(chain);
  const Combine& combine = operation.combine;
  std::size_t next = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = chain.begin; i < chain.end; ++i) {
    const Transfer& transfer = operation.transfers[i];
    if (!is_kept_apart(transfer, operation)) continue;
    const std::vector<std::byte>& message = chain.arrived[next++];
    if (operation.checksums) check_arrived(operation, transfer, message);
    take_in(combine, transfer.kind, operation.in + transfer.begin * combine.element_bytes,
            message.data(), transfer.count);
  }
  if (next > 0) adding_ += std::chrono::steady_clock::now() - begin;
  give_back(chain.arrived);
  give_back(chain.encoded);
  if (chain.end < chain.last) {
    start_round(chain);
    return false;
  }
  make_sums_codable(chain);
  chain.number = 0;
  idle_.push_back(&chain);
  operation.finished += chain.last - chain.first;
  return operation.finished == operation.transfers.size();
}

}  // namespace winnow::comm
