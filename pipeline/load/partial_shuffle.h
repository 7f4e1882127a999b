#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/load/order.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

// The rows of each global batch of `batch`, dealt to `count` lanes in contiguous runs that differ
// by at most one row: position p of the stream is row j = p mod batch, in lane floor(j * count /
// batch). Ranks have contiguous runs of rows too, so that a lane is used on one machine wherever
// machines divide the lanes. Pure arithmetic; 1 <= count <= batch.
struct Lanes {
  std::uint64_t batch = 1;
  std::uint64_t count = 1;

  std::uint64_t lane_of(std::uint64_t position) const noexcept {
    return position % batch * count / batch;
  }
  // How many of positions [0, position) are in `lane`.
  std::uint64_t before(std::uint64_t lane, std::uint64_t position) const noexcept;
  // The k-th position in `lane`, from 0.
  std::uint64_t position_of(std::uint64_t lane, std::uint64_t k) const noexcept;
  // First row of `lane`; of lane `count`, the end.
  std::uint64_t first_row(std::uint64_t lane) const noexcept {
    return (lane * batch + count - 1) / count;
  }
};

// How much of each of some partitions of the samples an epoch exchanges. Part of a recipe, never of
// the machines that follow it.
struct ShuffleOptions {
  double fraction = 1;      // Q, of the samples of a partition, in [0, 1]; 1: a global shuffle
  int partitions = 8;       // G, as many lanes; 1 to B
  std::uint64_t batch = 0;  // B, the global batch
};

// Throws UsageError for a fraction outside [0, 1], and lanes that are none or more than the rows of
// a batch.
void check_shuffle(const Lanes& lanes, double fraction);

// The partition (partition_of()) of each place of a set; of samples that take turns, that of the
// first.
std::vector<std::uint32_t> homes_of(const SampleSet& samples, int partitions);

// Orders of epochs in which most places stay in the lane that is their home, and a fraction Q of
// each home's is exchanged among all lanes, after Nguyen et al., "Why globally re-shuffle?
// Revisiting data shuffling in large scale deep learning" (IPDPS 2022). There, what was exchanged
// stays where it came to. Here it comes home with the next epoch: who owns what never changes, and
// an epoch is a pure function of (homes, lanes, Q, seed, its number).
//
// Epoch e is positions [e n, (e + 1) n) of the stream, of which c_g are in lane g. Of the |P_g|
// places at home in g, min(|P_g| - ceil(Q |P_g|), c_g) stay in it, drawn anew each epoch; all
// others of all homes make a pool that is shuffled and fills what is free of the lanes. Then each
// lane is put in an order of its own. So every epoch has every place once; with Q = 0 none moves
// but what a lane has no room for; with Q = 1 all orders are equally likely, but those are not the
// ones made in that way: it is EpochOrder(n, seed, e), so that seeds mean what they meant before
// there was a choice. Immutable; safe from many threads. Eight bytes a place.
class PartialShuffle {
 public:
  // `homes`: of each place, below lanes.count. Throws as check_shuffle(), and UsageError for no
  // places.
  PartialShuffle(std::vector<std::uint32_t> homes, Lanes lanes, double fraction,
                 std::uint64_t seed);
  PartialShuffle(const SampleSet& samples, const ShuffleOptions& options, std::uint64_t seed);

  std::uint64_t size() const noexcept { return homes_.size(); }  // of an epoch
  const Lanes& lanes() const noexcept { return lanes_; }
  double fraction() const noexcept { return fraction_; }
  std::uint64_t seed() const noexcept { return seed_; }
  std::uint64_t home(std::uint64_t place) const noexcept { return homes_[place]; }

  // A permutation of [0, size()). Takes time in proportion to the lanes to make, and then for each
  // of its values that of three EpochOrders and of a search among the lanes. It must not outlive
  // the shuffle.
  class Epoch {
   public:
    Epoch(const PartialShuffle& shuffle, std::uint32_t number);

    std::uint64_t operator[](std::uint64_t offset) const;    // the place at it
    std::uint64_t offset_of(std::uint64_t place) const;      // the inverse
    std::uint64_t kept(std::uint64_t lane) const noexcept {  // places that stay; of Q < 1
      return kept_[lane];
    }

   private:
    EpochOrder order_of_home(std::uint64_t home) const;
    EpochOrder order_of_pool() const;
    EpochOrder order_of_lane(std::uint64_t lane) const;

    const PartialShuffle& shuffle_;
    std::uint32_t number_;
    std::uint64_t first_;              // position
    std::vector<std::uint64_t> kept_;  // none where all is one global shuffle
    // Lane g gets of the pool free_begins_[g] .. free_begins_[g + 1), home g gives to it
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
  // Home g has places places_[begins_[g] .. begins_[g + 1]), ascending.
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> places_;
};

}  // namespace winnow::pipeline
