#include "pipeline/copies/peer_plan.h"

#include <algorithm>
#include <utility>

#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

GivingRounds::GivingRounds(GivingPlan plan) : plan_(std::move(plan)), places_(plan_.takes.size()) {}

std::optional<GivenBlock> GivingRounds::block_of(int taker) const {
  const auto& files = plan_.takes[static_cast<std::size_t>(taker)];
  const Place& place = places_[static_cast<std::size_t>(taker)];
  if (place.file == files.size()) return std::nullopt;
  const std::uint32_t file = files[place.file];
  return GivenBlock{.taker = taker,
                    .file = file,
                    .begin = place.begin,
                    .bytes = std::min(kBlockBytes, plan_.bytes[file] - place.begin)};
}

void GivingRounds::advance(const GivenBlock& block) {
  Place& place = places_[static_cast<std::size_t>(block.taker)];
  place.begin = block.begin + block.bytes;
  if (place.begin == plan_.bytes[block.file]) place = {.file = place.file + 1, .begin = 0};
}

int GivingRounds::giver_of(const GivenBlock& block, const std::vector<std::uint64_t>& given) const {
  if (block.file >= plan_.of_first) return plan_.givers.front();
  if (std::ranges::binary_search(plan_.givers, block.taker)) return block.taker;
  return *std::ranges::min_element(plan_.givers, std::less<>(),
                                   [&](int rank) { return given[static_cast<std::size_t>(rank)]; });
}

std::vector<GivenBlock> GivingRounds::next() {
  std::vector<GivenBlock> round;
  std::vector<std::uint64_t> given(places_.size());
  std::vector<std::uint64_t> taken(places_.size());
  const auto fits = [&](std::uint64_t so_far, std::uint64_t bytes) {
    return so_far == 0 || so_far + bytes <= plan_.most_bytes;
  };
  // One block for each taker in turn, while any giver has capacity.
  for (bool any = true; any;) {
    any = false;
    for (std::size_t taker = 0; taker < places_.size(); ++taker) {
      std::optional<GivenBlock> block = block_of(static_cast<int>(taker));
      if (!block || !fits(taken[taker], block->bytes)) continue;
      block->giver = giver_of(*block, given);
      std::uint64_t& by_giver = given[static_cast<std::size_t>(block->giver)];
      if (!fits(by_giver, block->bytes)) continue;
      by_giver += block->bytes;
      taken[taker] += block->bytes;
      advance(*block);
      round.push_back(*block);
      any = true;
    }
  }
  return round;
}

GivenParts lay_out(const std::vector<GivenBlock>& round, int rank, int ranks) {
  constexpr std::size_t kElementBytes = 4;
  GivenParts parts;
  const auto place = [&](int GivenBlock::*mine, int GivenBlock::*other,
                         std::vector<GivenParts::Piece>& pieces,
                         std::vector<std::size_t>& offsets) {
    std::vector<GivenBlock> blocks;
    std::ranges::copy_if(round, std::back_inserter(blocks),
                         [&](const GivenBlock& block) { return block.*mine == rank; });
    std::ranges::stable_sort(blocks, std::less<>(), other);
    std::size_t at = 0;
    auto next = blocks.begin();
    for (int peer = 0; peer < ranks; ++peer) {
      offsets.push_back(at);
      for (; next != blocks.end() && (*next).*other == peer; ++next) {
        pieces.push_back({*next, at});
        at += (next->bytes + kElementBytes - 1) / kElementBytes * kElementBytes;
      }
    }
    offsets.push_back(at);
  };
  place(&GivenBlock::giver, &GivenBlock::taker, parts.sent, parts.sent_offsets);
  place(&GivenBlock::taker, &GivenBlock::giver, parts.received, parts.received_offsets);
  // A taker writes its files one after the other, whoever sends them.
  std::ranges::stable_sort(parts.received, std::less<>(), [](const GivenParts::Piece& piece) {
    return std::pair(piece.block.file, piece.block.begin);
  });
  return parts;
}

}  // namespace winnow::pipeline
