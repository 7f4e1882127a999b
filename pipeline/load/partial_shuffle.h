#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/load/order.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

// Divides the rows of each global batch into `count` lanes: contiguous rows, whose numbers differ
// by at most one. Position p of the stream is row j = p mod batch, in lane floor(j * count /
// batch). 1 <= count <= batch. Pure arithmetic. Ranks have contiguous rows, too, so that a lane
// stays on one machine if the number of machines divides the number of lanes.
struct Lanes {
  std::uint64_t batch = 1;
  std::uint64_t count = 1;

  std::uint64_t lane_of(std::uint64_t position) const noexcept {
    return position % batch * count / batch;
  }
  // Number of positions of the stream in [0, position) that are in `lane` (a run of rows of each
  // batch).
  std::uint64_t before(std::uint64_t lane, std::uint64_t position) const noexcept;
  // The k-th position of the stream in `lane`, counted from 0.
  std::uint64_t position_of(std::uint64_t lane, std::uint64_t k) const noexcept;
  // First row of `lane` in a batch; for lane `count` the number of rows.
  std::uint64_t first_row(std::uint64_t lane) const noexcept {
    return (lane * batch + count - 1) / count;
  }
};

// How much of the samples moves between partitions in each epoch (partial shuffle). It is part of
// the recipe and does not depend on the machines.
struct ShuffleOptions {
  // Q: share of each partition's samples that moves, in [0, 1]; 1: a global shuffle.
  double fraction = 1;
  int partitions = 8;       // G: number of partitions, and of lanes of a batch, 1 to B
  std::uint64_t batch = 0;  // B: size of the global batch
};

// Throws UsageError for a fraction outside [0, 1], for no lanes, or for more lanes than rows of a
// batch.
void check_shuffle(const Lanes& lanes, double fraction);

// The home partition (partition_of()) of each place of a set. A place is a sample, or a group of
// samples of which an epoch uses one; in a group the first sample counts.
std::vector<std::uint32_t> homes_of(const SampleSet& samples, int partitions);

// Orders of epochs for a partial shuffle: most samples stay in the lane of their home partition,
// and a fraction Q of each partition is exchanged among all lanes. A place is a sample, or a group
// of samples of which an epoch uses one. Immutable; thread-safe. Eight bytes per place.
//
// Epoch e   Positions [e n, (e + 1) n) of the stream, of which c_g are in lane g. Of the |P_g|
//           places with home g, min(|P_g| - ceil(Q |P_g|), c_g) stay, drawn anew in each epoch. All
//           others form a pool, which is shuffled and fills the free positions. Then each lane is
//           permuted.
// Property  Every epoch has every place once. Q = 0: a place moves only if its lane has no room. Q
//           = 1: all orders are equally likely; EpochOrder(n, seed, e) is used then, so that seeds
//           keep their meaning.
// Source    Nguyen et al., "Why globally re-shuffle? Revisiting data shuffling in large scale deep
//           learning" (IPDPS 2022). There exchanged samples stay where they arrive; here they
//           return home in the next epoch. Homes never change, and an epoch is a pure function of
//           (homes, lanes, Q, seed, its number).
class PartialShuffle {
 public:
  // homes   home lane of each place (a sample, or a group of which an epoch uses one), below
  //         lanes.count
  // Errors  as check_shuffle(); UsageError if there are no places
  PartialShuffle(std::vector<std::uint32_t> homes, Lanes lanes, double fraction,
                 std::uint64_t seed);
  PartialShuffle(const SampleSet& samples, const ShuffleOptions& options, std::uint64_t seed);

  std::uint64_t size() const noexcept { return homes_.size(); }  // places in an epoch
  const Lanes& lanes() const noexcept { return lanes_; }
  double fraction() const noexcept { return fraction_; }
  std::uint64_t seed() const noexcept { return seed_; }
  std::uint64_t home(std::uint64_t place) const noexcept { return homes_[place]; }

  // The permutation of [0, size()) for one epoch. Construction takes time proportional to the
  // number of lanes; each value takes that of three EpochOrders and a search among the lanes. Must
  // not outlive the shuffle.
  class Epoch {
   public:
    Epoch(const PartialShuffle& shuffle, std::uint32_t number);

    // The place (sample or group) at an offset in the epoch.
    std::uint64_t operator[](std::uint64_t offset) const;
    // Inverse of the permutation: the offset in the epoch of a place (sample or group).
    std::uint64_t offset_of(std::uint64_t place) const;
    // Number of places (samples or groups) that stay in their home lane `lane`; only if Q < 1.
    std::uint64_t kept(std::uint64_t lane) const noexcept { return kept_[lane]; }

   private:
    EpochOrder order_of_home(std::uint64_t home) const;
    EpochOrder order_of_pool() const;
    EpochOrder order_of_lane(std::uint64_t lane) const;

    const PartialShuffle& shuffle_;
    std::uint32_t number_;
    std::uint64_t first_;  // first position of the epoch in the stream
    // Samples or groups that stay in each lane; empty for a global shuffle.
    std::vector<std::uint64_t> kept_;
    // Entries [free_begins_[g], free_begins_[g + 1]) of the pool go to lane g. Entries
    // [pool_begins_[g], pool_begins_[g + 1]) come from home g.
    std::vector<std::uint64_t> free_begins_;
    std::vector<std::uint64_t> pool_begins_;
  };

  // Positions [begin, begin + count) of the stream of epochs, as pipeline::stream().
  std::vector<StreamSample> stream(std::uint64_t begin, std::uint64_t count) const;

 private:
  std::vector<std::uint32_t> homes_;
  Lanes lanes_;
  double fraction_;
  std::uint64_t seed_;
  // The places (samples or groups) with home g are places_[begins_[g] .. begins_[g + 1]),
  // ascending.
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> places_;
};

}  // namespace winnow::pipeline
