#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/elements.h"
#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// Names ranks by their hosts in messages: "rank 3 (h2)". Hosts may be missing.
struct RankNames {
  int rank = 0;  // this one
  std::vector<std::string> hosts{};

  std::string of(int which) const;
  std::string own() const { return of(rank); }
  // The sender and the receiver of a message in words: "rank 0 (h1) -> rank 2 (h2)".
  std::string link_from(int peer) const { return of(peer) + " -> " + own(); }
};

// Parameters of an all-reduce besides its transfers, or of one half of an all-reduce.
struct AllReduceKind {
  std::uint64_t count = 0;  // number of elements
  ElementType type = ElementType::kF32;
  Reduction reduction = Reduction::kSum;
  Wire wire = Wire::kF32;
  Task task = Task::kAllReduce;
  std::uint32_t checksums = 0;  // 1: with checksums
  std::uint32_t group = 0;  // group of the Collective; the all-reduces of each group are numbered

  friend bool operator==(const AllReduceKind&, const AllReduceKind&) = default;
};

// Compares the parameters of all-reduces between ranks. Before its first data of an all-reduce, a
// rank announces its parameters to each receiver. The receiver compares them with its own before it
// uses the data.
//
// Sufficient  All used data come over links whose ends agreed. Ranks that disagree find out,
//             because data must pass between both camps, or there would be no sum.
// Cost        One message of 48 bytes to each receiver. Data do not wait for it, because it is sent
//             first.
// Messages    Have a tag of their own on the communicator of gradients.
// Threads     The engine's only.
// Throws      SystemError: the difference, with the numbers of both ranks; an MPI error.
class Announcements {
 public:
  Announcements(MPI_Comm comm, int tag, RankNames names);
  Announcements(const Announcements&) = delete;
  Announcements& operator=(const Announcements&) = delete;

  // Announces this rank's next all-reduce to its peers, and compares the announcements that have
  // arrived from them.
  //
  // Out  The number of the all-reduce in its group, from 1; the same on all ranks of the group.
  std::uint64_t begin(const AllReduceKind& kind, std::span<const Transfer> transfers);

  // Ensures that the parameters of `peer` were compared for a running all-reduce of `group`. Call
  // it when data of `peer` have arrived: its announcement was sent before them.
  void require(std::uint32_t group, std::uint64_t number, int peer);

  // The all-reduce is complete.
  void end(std::uint32_t group, std::uint64_t number);

  // Waits until all announcements are sent; no more may follow.
  void finish();

  // Compares announcements that have arrived already, so that a rank that waits for messages that
  // never come learns why.
  void look();

  const RankNames& names() const noexcept { return names_; }

 private:
  // A summary of the messages from one rank to another.
  struct Link {
    std::uint64_t messages = 0;
    std::uint64_t digest = 0;  // hash of chains and lengths, in order

    void add(const Transfer& transfer) noexcept;
    friend bool operator==(const Link&, const Link&) = default;
  };
  // The content of an announcement.
  struct Announcement {
    std::uint64_t number = 0;
    AllReduceKind kind;
    Link link;
  };
  struct Expected {
    Link link;
    bool agreed = false;
  };
  struct Begun {
    AllReduceKind kind;
    std::map<int, Expected> from;  // by peer
    bool over = false;
  };
  struct Sent {
    MPI_Request request;
    std::unique_ptr<const Announcement> message;
  };

  void send(int peer, const Announcement& announcement);
  void forget_sent();
  void receive(int peer);
  void take(int peer, const Announcement& announcement);
  void compare(int peer, const Announcement& announcement, Begun& mine) const;

  const MPI_Comm comm_;
  const int tag_;
  const RankNames names_;
  using Id = std::pair<std::uint32_t, std::uint64_t>;  // group and number
  // Number of the last all-reduce that has begun, by group.
  std::map<std::uint32_t, std::uint64_t> last_;
  std::map<Id, Begun> begun_;  // incomplete, or completed recently
  // Announcements of all-reduces that have not begun here.
  std::vector<std::pair<int, Announcement>> early_;
  std::vector<Sent> sent_;
};

}  // namespace winnow::comm
