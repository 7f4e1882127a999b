#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// Plans which rank sends which files to which rank, if only some ranks of a job have a cache. Pure:
// every rank computes the same plan, so that no communication is needed.
namespace winnow::pipeline {

// Bytes [begin, begin + bytes) of a file that one rank (the giver) reads and another (the taker)
// writes. Both may be the same rank.
struct GivenBlock {
  int giver = 0;
  int taker = 0;
  std::uint32_t file = 0;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const GivenBlock&, const GivenBlock&) = default;
};

struct GivingPlan {
  std::vector<std::uint64_t> bytes = {};  // size of each file in bytes
  // For each rank, the numbers of the files it needs, ascending.
  std::vector<std::vector<std::uint32_t>> takes = {};
  std::vector<int> givers = {};  // ranks that have the files, ascending
  std::uint32_t of_first = 0;    // files from this number on are sent by the first giver only
  std::uint64_t most_bytes = 0;  // most bytes that a rank sends, and that it receives, in a round
};

// Divides a plan into rounds of blocks. Files are divided into blocks of kBlockBytes; an empty file
// is an empty block. Each taker gets its files in order, each from beginning to end. A rank that
// has the files takes them from itself; to others, the giver that has sent least in the round
// sends. A round has at least one block, however large.
class GivingRounds {
 public:
  explicit GivingRounds(GivingPlan plan);

  std::vector<GivenBlock> next();  // blocks of the next round; empty: finished

 private:
  struct Place {
    std::size_t file = 0;  // index among the taker's files
    std::uint64_t begin = 0;
  };
  std::optional<GivenBlock> block_of(int taker) const;  // the giver is not set
  void advance(const GivenBlock& block);
  int giver_of(const GivenBlock& block, const std::vector<std::uint64_t>& given) const;

  GivingPlan plan_;
  std::vector<Place> places_;  // next block for each rank
};

// Where the blocks of a round are in the buffers that `rank` sends and receives. Offsets are as for
// Communicator::start_all_to_all(); blocks for one rank are in the order of the round.
struct GivenParts {
  struct Piece {
    GivenBlock block;
    std::size_t at = 0;
  };
  std::vector<Piece> sent = {};
  std::vector<Piece> received = {};
  // Where the bytes for each receiving rank begin, and where the last ones end.
  std::vector<std::size_t> sent_offsets = {};
  // Where the bytes from each sending rank begin, and where the last ones end.
  std::vector<std::size_t> received_offsets = {};
};
GivenParts lay_out(const std::vector<GivenBlock>& round, int rank, int ranks);

}  // namespace winnow::pipeline
