#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// Plans which rank gives what to whom, if some ranks of a job have a cache and others need files of
// it. Pure: every rank plans the same, so none needs to ask another.
namespace winnow::pipeline {

// Bytes [begin, begin + bytes) of a file that one rank reads and another writes; both may be the
// same rank.
struct GivenBlock {
  int giver = 0;
  int taker = 0;
  std::uint32_t file = 0;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const GivenBlock&, const GivenBlock&) = default;
};

struct GivingPlan {
  std::vector<std::uint64_t> bytes = {};  // size of each file
  // For each rank the files it needs, ascending.
  std::vector<std::vector<std::uint32_t>> takes = {};
  std::vector<int> givers = {};  // ranks that have the files, ascending
  std::uint32_t of_first = 0;    // files from this number on are given by the first giver
  std::uint64_t most_bytes = 0;  // limit of what a rank gives, and of what it takes, at once
};

// Enumerates the blocks of a plan, round by round. Files are divided into blocks of kBlockBytes; an
// empty one is an empty block. Each taker gets its files in order, each from beginning to end.
// A rank that has the files takes them from itself; for others, the least busy giver of the round
// gives. A round has at least one block, however large.
class GivingRounds {
 public:
  explicit GivingRounds(GivingPlan plan);

  std::vector<GivenBlock> next();  // empty: finished

 private:
  struct Place {
    std::size_t file = 0;  // index among the taker's files
    std::uint64_t begin = 0;
  };
  std::optional<GivenBlock> block_of(int taker) const;  // the giver is not set
  void advance(const GivenBlock& block);
  int giver_of(const GivenBlock& block, const std::vector<std::uint64_t>& given) const;

  GivingPlan plan_;
  std::vector<Place> places_;  // by rank
};

// The layout of a round's blocks in what `rank` sends and receives: offsets as for
// Communicator::start_all_to_all(), blocks of a part in the order of the round.
struct GivenParts {
  struct Piece {
    GivenBlock block;
    std::size_t at = 0;
  };
  std::vector<Piece> sent = {};
  std::vector<Piece> received = {};
  std::vector<std::size_t> sent_offsets = {};      // one for each rank, and the end
  std::vector<std::size_t> received_offsets = {};  // one for each rank, and the end
};
GivenParts lay_out(const std::vector<GivenBlock>& round, int rank, int ranks);

}  // namespace winnow::pipeline
