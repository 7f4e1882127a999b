#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "train/reduce/gradient_layout.h"
#include "train/reduce/part.h"

namespace winnow::train {

// The all-reduces of a step, as lists of one rank's transfers. Created once, executed in every
// step.
struct SumTransfers {
  // For each bucket of gradients, the transfers of its all-reduce.
  std::vector<std::vector<comm::Transfer>> buckets;
  // For bucket b, the transfers that replace buckets[b] in sums of floats, if a machine has several
  // ranks and the all-reduce algorithm supports sums through shared memory.
  std::map<std::size_t, comm::HierarchicalParts> parts{};
  std::vector<comm::Transfer> exponents;  // all-reduce of exponent_count() exponents; may be empty
  // Separate all-reduce of the last bucket's tail (loss and counts of the step), in f32 on any
  // wire, because sample counts need its precision; buckets.back() then excludes it. Empty: it is
  // sent with its bucket.
  std::vector<comm::Transfer> tail{};
  // For each Exchange, the transfers of its all-reduce over all micro-batches.
  std::vector<std::vector<comm::Transfer>> exchanges{};
};

struct SumOptions {
  // Number of micro-batches of each lane (program replica) of this rank, >= 1.
  std::vector<int> micro_batches;
  // V: number of micro-batches of a global batch, over all ranks.
  std::int64_t total_micro_batches = 1;
  const SumTransfers* transfers = nullptr;  // the transfers; must outlive the sum
  comm::Wire wire = comm::Wire::kF32;       // element type of messages in sums in f32
  // With a bf16 wire: the rounding errors of a rank's own terms are added to its terms in the next
  // step (error feedback: Seide et al. 2014, 1-Bit Stochastic Gradient Descent; Karimireddy et al.
  // 2019). Errors of partial sums in transfer, and of sums through shared memory, are not fed back.
  bool error_feedback = false;
  std::uint32_t group = 0;  // identifies the ranks that take part, see comm::Collective
};

// Number of exponents that reproducible sums exchange: one for each tensor, and one for each of the
// trainer's numbers after the gradients.
std::size_t exponent_count(const GradientLayout& layout) noexcept;

// Memory that the sums of a step need, in bytes.
struct SumBytes {
  std::size_t lane = 0;  // for each lane (program replica)
  // Additionally, for each lane (program replica) with several micro-batches.
  std::size_t further = 0;
  std::size_t shared = 0;  // once for all lanes
};
SumBytes bytes_of_sums(const GradientLayout& layout, bool whole_numbers) noexcept;

// Sums the values of all micro-batches of a step: over a rank's lanes (program replicas), then over
// ranks.
//
// Order    begin(). For each micro-batch of a lane: write its values to written(lane), then add()
//          each bucket. For each bucket: add_lanes(), reduce(). finish(). read(). values().
// Threads  add(), add_lanes() and read() are called once for each part, by any threads in parallel.
class GradientSum {
 public:
  virtual ~GradientSum() = default;

  // The memory to which micro-batches of this lane (program replica) write their values:
  // GradientLayout::elements numbers.
  virtual std::span<float> written(int lane) noexcept = 0;

  // Starts a step, or starts it again.
  virtual void begin() noexcept = 0;

  // Adds `bucket` of the micro-batch in written(lane) to the sum of that lane (program replica).
  // Bits do not depend on the division into parts.
  // first  It is the lane's first micro-batch of the step.
  virtual void add(int lane, std::size_t bucket, bool first, Part part = {}) = 0;

  // Sums `bucket` over all lanes (program replicas), after every add() to this bucket.
  virtual void add_lanes(std::size_t bucket, Part part = {}) = 0;

  // Starts the all-reduce of `bucket`. Call it in ascending order of buckets, on every rank.
  virtual void reduce(std::size_t bucket) = 0;

  // Waits for all all-reduces. Returns the same on every rank.
  enum class Outcome : std::uint8_t {
    kDone,
    kRepeat,  // a value exceeded the capacity of fixed_point.h: compute the step again
    // NaN or infinity was added on some rank. Sums in f32 return kDone and contain it instead.
    kNotFinite,
  };
  virtual Outcome finish() = 0;

  // Computes this part of values() and returns it. Call it after finish() returned kDone.
  virtual std::span<const float> read(Part part = {}) noexcept = 0;

  // The sums over all micro-batches of all ranks: GradientLayout::elements numbers. The caller may
  // change them, because the next step computes new ones.
  virtual std::span<float> values() noexcept = 0;

  // Whether the sum of a tensor is finite. `tensor`: index in GradientLayout::tensors; higher
  // indices stand for the trainer's numbers after the gradients. Call it after finish(), whatever
  // that returned.
  virtual bool is_finite(std::size_t tensor) const = 0;

  // Discards the errors that are fed back in the next step. Called at checkpoints, which do not
  // keep them.
  virtual void forget_errors() noexcept {}

  // Returns the state, by tensor, that a checkpoint must keep so that the next step has the same
  // bits.
  virtual std::map<std::string, std::int32_t> state() const = 0;
  // Restores a state(). Throws FormatError, which names the tensor, for a number that state() never
  // returns.
  virtual void restore(const std::map<std::string, std::int32_t>& state) = 0;
};

// Makes sums in f32: over micro-batches in order, lanes (program replicas) in order, and ranks in
// the order of the transfers. Bits are the same as long as none of these changes.
std::unique_ptr<GradientSum> make_float_sum(const GradientLayout& layout, comm::Communicator& comm,
                                            SumOptions options);

// Makes sums of integers (fixed_point.h), with the same bits for any number of ranks and lanes
// (program replicas), any all-reduce algorithm and any buckets.
// names  One for each tensor of the layout, then one for each of the trainer's numbers after the
//        gradients.
std::unique_ptr<GradientSum> make_fixed_point_sum(const GradientLayout& layout,
                                                  std::vector<std::string> names,
                                                  comm::Communicator& comm, SumOptions options);

}  // namespace winnow::train
