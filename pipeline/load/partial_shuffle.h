#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/load/order.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

// Divides the rows of each global batch into `count` contiguous lanes that differ by at most one
// row. Position p of the stream is row j = p mod batch, in lane floor(j * count / batch). Pure
// arithmetic; 1 <= count <= batch.
// Ranks have contiguous rows, too, so a lane stays on one machine if the number of machines divides
// the number of lanes.
struct Lanes {
  std::uint64_t batch = 1;
  std::uint64_t count = 1;

  std::uint64_t lane_of(std::uint64_t position) const noexcept {
    return position % batch * count / batch;
  }
  // Number of positions in [0, position) that are in `lane`.
  std::uint64_t before(std::uint64_t lane, std::uint64_t position) const noexcept;
  // The k-th position in `lane`, from 0.
  std::uint64_t position_of(std::uint64_t lane, std::uint64_t k) const noexcept;
  // First row of `lane`; for lane `count`, the end.
  std::uint64_t first_row(std::uint64_t lane) const noexcept {
    return (lane * batch + count - 1) / count;
  }
};

// How much an epoch exchanges between partitions of the samples. Part of a recipe, independent of
// the machines.
struct ShuffleOptions {
  double fraction = 1;      // Q: share of a partition's samples, in [0, 1]; 1: a global shuffle
  int partitions = 8;       // G: number of partitions and lanes, 1 to B
  std::uint64_t batch = 0;  // B: size of the global batch
};

// Throws UsageError for a fraction outside [0, 1], and for 0 lanes or more lanes than rows of a
// batch.
void check_shuffle(const Lanes& lanes, double fraction);

// The partition (partition_of()) of each place of a set; for samples that take turns, that of the
// first one.
std::vector<std::uint32_t> homes_of(const SampleSet& samples, int partitions);

// Epoch orders in which most places stay in their home lane, and a fraction Q of each home's places
// is exchanged among all lanes. Immutable; thread-safe. Eight bytes a place.
//
// Epoch e   Positions [e n, (e + 1) n) of the stream, of which c_g are in lane g. Of the |P_g|
//           places with home g, min(|P_g| - ceil(Q |P_g|), c_g) stay, drawn anew each epoch. All
//           others form a pool, which is shuffled and fills the free positions. Then each lane is
//           permuted.
// Property  Every epoch has every place once. Q = 0: only what a lane has no room for moves. Q = 1:
//           all orders are equally likely; EpochOrder(n, seed, e) is used then, so that seeds keep
//           their meaning.
// Source    Nguyen et al., "Why globally re-shuffle? Revisiting data shuffling in large scale deep
//           learning" (IPDPS 2022). There exchanged samples stay where they arrive; here they
//           return home in the next epoch. Ownership never changes, and an epoch is a pure function
//           of (homes, lanes, Q, seed, its number).
class PartialShuffle {
 public:
  // homes  One a place, below lanes.count.
  // Errors  As check_shuffle(); UsageError if there are no places.
  PartialShuffle(std::vector<std::uint32_t> homes, Lanes lanes, double fraction,
                 std::uint64_t seed);
  PartialShuffle(const SampleSet& samples, const ShuffleOptions& options, std::uint64_t seed);

  std::uint64_t size() const noexcept { return homes_.size(); }  // places in an epoch
  const Lanes& lanes() const noexcept { return lanes_; }
  double fraction() const noexcept { return fraction_; }
  std::uint64_t seed() const noexcept { return seed_; }
  std::uint64_t home(std::uint64_t place) const noexcept { return homes_[place]; }

  // A permutation of [0, size()). Construction takes time proportional to the lanes; each value
  // that of three EpochOrders and a search among the lanes. Must not outlive the shuffle.
  class Epoch {
   public:
    Epoch(const PartialShuffle& shuffle, std::uint32_t number);

    std::uint64_t operator[](std::uint64_t offset) const;  // the place at that offset
    std::uint64_t offset_of(std::uint64_t place) const;    // the inverse
    // Number of places that stay; only if Q < 1.
    std::uint64_t kept(std::uint64_t lane) const noexcept { return kept_[lane]; }

   private:
    EpochOrder order_of_home(std::uint64_t home) const;
    EpochOrder order_of_pool() const;
    EpochOrder order_of_lane(std::uint64_t lane) const;

    const PartialShuffle& shuffle_;
    std::uint32_t number_;
    std::uint64_t first_;              // first position
    std::vector<std::uint64_t> kept_;  // empty for a global shuffle
    // Lane g receives free_begins_[g] .. free_begins_[g + 1) of the pool; home g contributes
    // pool_begins_[g] .. pool_begins_[g + 1).
    std::vector<std::uint64_t> free_begins_;
    std::vector<std::uint64_t> pool_begins_;
  };

  // Positions [begin, begin + count) of the stream, as pipeline::stream().
  std::vector<StreamSample> stream(std::uint64_t begin, std::uint64_t count) const;

 private:
  std::vector<std::uint32_t> homes_;
  Lanes lanes_;
  double fraction_;
  std::uint64_t seed_;
  // Home g has the places places_[begins_[g] .. begins_[g + 1]), ascending.
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> places_;
};

}  // namespace winnow::pipeline
