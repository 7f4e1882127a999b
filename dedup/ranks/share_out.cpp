#include "dedup/ranks/share_out.h"

#include <cstdint>
#include <span>
#include <utility>

#include "common/comm/agreement.h"
#include "common/comm/schedule/all_to_all.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kUnit = 4;  // bytes; all-to-alls move whole units

using Sizes = std::vector<std::uint64_t>;  // for each rank, sent or received

void fill_up(Bytes& bytes) { bytes.resize((bytes.size() + kUnit - 1) / kUnit * kUnit); }

std::vector<std::size_t> offsets_of(const Sizes& sizes) {
  std::vector<std::size_t> offsets{0};
  for (const std::uint64_t size : sizes) offsets.push_back(offsets.back() + size);
  return offsets;
}

Bytes exchange(comm::Communicator& comm, BytesView out, const Sizes& out_sizes,
               const Sizes& in_sizes) {
  const std::vector<std::size_t> from = offsets_of(out_sizes);
  const std::vector<std::size_t> to = offsets_of(in_sizes);
  Bytes in(to.back());
  comm.start_all_to_all(out, from, in, to, comm::kExchangeOptions).wait();
  return in;
}

// Returns the share of this rank.
Bytes deal(comm::Communicator& comm, const std::function<Bytes(int rank)>& pack) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  Bytes all;
  Sizes sizes(ranks);
  comm::on_root(comm, [&] {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Bytes share = pack(static_cast<int>(rank));
      fill_up(share);
      sizes[rank] = share.size();
      all.insert(all.end(), share.begin(), share.end());
    }
  });
  comm.broadcast(std::as_writable_bytes(std::span(sizes)), 0);
  Sizes in_sizes(ranks);
  in_sizes.front() = sizes[static_cast<std::size_t>(comm.rank())];
  return exchange(comm, all, comm.rank() == 0 ? sizes : Sizes(ranks), in_sizes);
}

// Returns all answers on rank 0.
std::vector<Bytes> collect(comm::Communicator& comm, Bytes answer) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  Sizes out_sizes(ranks);
  out_sizes.front() = answer.size();
  const Sizes sizes = comm::all_gather(comm, std::span(out_sizes).first(1));
  const bool is_root = comm.rank() == 0;
  const Bytes all = exchange(comm, answer, out_sizes, is_root ? sizes : Sizes(ranks));
  answer = {};
  std::vector<Bytes> answers;
  if (!is_root) return answers;
  std::size_t at = 0;
  for (const std::uint64_t size : sizes) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    answers.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
    at += size;
  }
  return answers;
}

}  // namespace

std::vector<Bytes> share_out(comm::Communicator& comm, const std::function<Bytes(int rank)>& pack,
                             const std::function<Bytes(BytesView share)>& work) {
  const Bytes share = deal(comm, pack);
  Bytes answer;
  comm::on_all(comm, [&] {
    answer = work(share);
    fill_up(answer);
  });
  return collect(comm, std::move(answer));
}

ShareRange share_of(std::size_t count, int rank, int ranks) noexcept {
  const auto border = [&](int of) {
    return count * static_cast<std::size_t>(of) / static_cast<std::size_t>(ranks);
  };
  return {border(rank), border(rank + 1) - border(rank)};
}

}  // namespace winnow::dedup
