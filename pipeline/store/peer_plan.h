#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// Who gives what to whom, when some ranks of a job have a cache and others are to get files of it.
// Pure: every rank plans the same, so that none asks another for anything.
namespace winnow::pipeline {

// Bytes [begin, begin + bytes) of a file that one rank reads and another writes; both may be one.
struct GivenBlock {
  int giver = 0;
  int taker = 0;
  std::uint32_t file = 0;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const GivenBlock&, const GivenBlock&) = default;
};

struct GivingPlan {
  std::vector<std::uint64_t> bytes = {};               // of each file
  std::vector<std::vector<std::uint32_t>> takes = {};  // of each rank what it is to get, ascending
  std::vector<int> givers = {};                        // ranks that have the files; ascending
  std::uint32_t of_first = 0;    // files from this number on are the first giver's to give
  std::uint64_t most_bytes = 0;  // that a rank gives, and that it takes, at once
};

// All blocks of a plan, round by round: files in blocks of kBlockBytes, an empty one as a block of
// none; of a taker in the order of its files, and each from its begin to its end. A rank that has
// the files takes them from itself; for others those who give least in the round give. A round has
// one block at least, however large.
class GivingRounds {
 public:
  explicit GivingRounds(GivingPlan plan);

  std::vector<GivenBlock> next();  // empty: nothing is left

 private:
  struct Place {
    std::size_t file = 0;  // of the taker's
    std::uint64_t begin = 0;
  };
  std::optional<GivenBlock> block_of(int taker) const;  // without its giver
  void advance(const GivenBlock& block);
  int giver_of(const GivenBlock& block, const std::vector<std::uint64_t>& given) const;

  GivingPlan plan_;
  std::vector<Place> places_;  // of each rank
};

// Where the blocks of a round lie in what `rank` sends and gets: parts as
// Communicator::start_all_to_all() has them, blocks of a part in the order of the round.
struct GivenParts {
  struct Piece {
    GivenBlock block;
    std::size_t at = 0;
  };
  std::vector<Piece> sent = {};
  std::vector<Piece> received = {};
  std::vector<std::size_t> sent_offsets = {};      // of each rank, and the end
  std::vector<std::size_t> received_offsets = {};  // of each rank, and the end
};
GivenParts lay_out(const std::vector<GivenBlock>& round, int rank, int ranks);

}  // namespace winnow::pipeline
