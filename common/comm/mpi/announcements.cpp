#include <algorithm>
#include <string_view>
#include <type_traits>

#include "common/comm/mpi/announcements_internal.h"
#include "common/comm/mpi/check_mpi_internal.h"
#include "common/error.h"

namespace winnow::comm {

namespace {

constexpr std::string_view kSameForAll =
    "; the ranks must reduce buffers of equal size and type in the same order, with the same "
    "schedule and options";

// Finished all-reduces to remember, to name what a late rank with another one intended.
constexpr std::uint64_t kRemembered = 64;

std::string text_of(const AllReduceKind& kind) {
  std::string text = kind.task == Task::kAllGather       ? "gathers "
                     : kind.task == Task::kHandOver      ? "hands over "
                     : kind.task == Task::kReduceScatter ? "sums and scatters "
                     : kind.reduction == Reduction::kMax ? "takes the largest of "
                                                         : "sums ";
  text += std::to_string(kind.count) + " " + std::string(info(kind.type).many);
  if (kind.wire == Wire::kBF16) text += " in messages of bf16";
  if (kind.wire == Wire::kF16) text += " in messages of f16";
  if (kind.checksums != 0) text += " with checksums";
  return text;
}

std::string in_brackets(std::uint64_t number) {
  return " (all-reduce " + std::to_string(number) + ")";
}

}  // namespace

std::string RankNames::of(int which) const {
  std::string text = "rank " + std::to_string(which);
  const auto at = static_cast<std::size_t>(which);
  if (at < hosts.size()) text += " (" + hosts[at] + ")";
  return text;
}

// Any order-dependent mix will do: this does not defend against deliberate collisions.
void Announcements::Link::add(const Transfer& transfer) noexcept {
  ++messages;
  for (const std::uint64_t word :
       {static_cast<std::uint64_t>(transfer.chain), std::uint64_t{transfer.count}}) {
    digest = (digest ^ word) * 0x9e3779b97f4a7c15U;
    digest ^= digest >> 29U;
  }
}

Announcements::Announcements(MPI_Comm comm, int tag, RankNames names)
    : comm_(comm), tag_(tag), names_(std::move(names)) {}

std::uint64_t Announcements::begin(const AllReduceKind& kind, std::span<const Transfer> transfers) {
  const std::uint64_t number = ++last_[kind.group];
  Begun& mine = begun_[{kind.group, number}];
  mine.kind = kind;
  std::map<int, Link> to;
  for (const Transfer& transfer : transfers) {
    const bool sends = transfer.kind == Transfer::Kind::kSend;
    (sends ? to[transfer.peer] : mine.from[transfer.peer].link).add(transfer);
  }
  forget_sent();
  for (const auto& [peer, link] : to) send(peer, {number, kind, link});
  const auto is_of_it = [&](const auto& early) {
    return early.second.number == number && early.second.kind.group == kind.group;
  };
  for (const auto& early : early_) {
    if (is_of_it(early)) compare(early.first, early.second, mine);
  }
  std::erase_if(early_, is_of_it);
  return number;
}

void Announcements::require(std::uint32_t group, std::uint64_t number, int peer) {
  const auto agreed = [&] {
    const auto mine = begun_.find({group, number});
    return mine != begun_.end() && mine->second.from[peer].agreed;
  };
  // Announcements of earlier all-reduces may arrive first.
  while (!agreed()) receive(peer);
}

void Announcements::end(std::uint32_t group, std::uint64_t number) {
  begun_.at({group, number}).over = true;
  auto oldest = begun_.lower_bound({group, 0});
  while (oldest != begun_.end() && oldest->first.first == group && oldest->second.over &&
         oldest->first.second + kRemembered < last_[group]) {
    oldest = begun_.erase(oldest);
  }
}

void Announcements::finish() {
  for (Sent& one : sent_) {
    check_mpi(MPI_Wait(&one.request, MPI_STATUS_IGNORE), "MPI_Wait");
  }
  sent_.clear();
}

void Announcements::look() {
  for (;;) {
    int found = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag_, comm_, &found, &status), "MPI_Iprobe");
    if (found == 0) return;
    receive(status.MPI_SOURCE);
  }
}

void Announcements::send(int peer, const Announcement& announcement) {
  static_assert(std::is_trivially_copyable_v<Announcement>);
  sent_.push_back({MPI_REQUEST_NULL, std::make_unique<const Announcement>(announcement)});
  check_mpi(MPI_Isend(sent_.back().message.get(), sizeof(Announcement), MPI_BYTE, peer, tag_, comm_,
                      &sent_.back().request),
            "MPI_Isend", peer);
}

// Messages this small have usually left when MPI_Isend returns.
void Announcements::forget_sent() {
  for (Sent& one : sent_) {
    int done = 0;
    check_mpi(MPI_Test(&one.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  }
  std::erase_if(sent_, [](const Sent& one) { return one.request == MPI_REQUEST_NULL; });
}

void Announcements::receive(int peer) {
  Announcement announcement;
  check_mpi(
      MPI_Recv(&announcement, sizeof(announcement), MPI_BYTE, peer, tag_, comm_, MPI_STATUS_IGNORE),
      "MPI_Recv", peer);
  take(peer, announcement);
}

void Announcements::take(int peer, const Announcement& announcement) {
  if (announcement.number > last_[announcement.kind.group]) {
    early_.emplace_back(peer, announcement);
    return;
  }
  const auto mine = begun_.find({announcement.kind.group, announcement.number});
  if (mine == begun_.end()) {
    throw SystemError(names_.of(peer) + " " + text_of(announcement.kind) + " with " + names_.own() +
                      ", which has done so without it" + in_brackets(announcement.number) +
                      std::string(kSameForAll));
  }
  compare(peer, announcement, mine->second);
}

void Announcements::compare(int peer, const Announcement& theirs, Begun& mine) const {
  if (theirs.kind != mine.kind) {
    throw SystemError(names_.of(peer) + " " + text_of(theirs.kind) + " where " + names_.own() +
                      " " + text_of(mine.kind) + in_brackets(theirs.number) +
                      std::string(kSameForAll));
  }
  Expected& expected = mine.from[peer];
  if (theirs.link != expected.link) {
    const bool as_many = theirs.link.messages == expected.link.messages;
    throw SystemError(names_.of(peer) + " has " + std::to_string(theirs.link.messages) +
                      " messages for " + names_.own() + ", which expects " +
                      (as_many ? "others" : std::to_string(expected.link.messages)) +
                      in_brackets(theirs.number) + std::string(kSameForAll));
  }
  expected.agreed = true;
}

}  // namespace winnow::comm
