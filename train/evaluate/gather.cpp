#include "train/evaluate/gather.h"

#include <algorithm>

namespace winnow::train {

void gather_on_root(comm::Communicator& comm, const std::vector<std::size_t>& sizes,
                    std::span<std::byte> part) {
  // limit for an all-to-all of control traffic
  constexpr std::size_t kPiece = std::size_t{256} << 20;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto me = static_cast<std::size_t>(comm.rank());
  std::size_t place = sizes.at(0);  // offset of the sender's part in the whole
  for (std::size_t sender = 1; sender < ranks; ++sender) {
    for (std::size_t at = 0; at < sizes[sender]; at += kPiece) {
      const std::size_t count = std::min(kPiece, sizes[sender] - at);
      std::vector<std::size_t> sent(ranks + 1, 0);
      std::vector<std::size_t> received(ranks + 1, 0);
      std::span<std::byte> out;
      std::span<std::byte> in;
      if (me == sender) {
        out = part.subspan(at, count);
        std::fill(sent.begin() + 1, sent.end(), count);
      } else if (me == 0) {
        in = part.subspan(place + at, count);
        std::fill(received.begin() + static_cast<std::ptrdiff_t>(sender) + 1, received.end(),
                  count);
      }
      comm.all_to_all(out, sent, in, received);
    }
    place += sizes[sender];
  }
}

}  // namespace winnow::train
