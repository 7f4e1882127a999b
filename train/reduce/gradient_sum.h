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

// The all-reduces of a step as seen by one rank. Created once, executed in every step.
struct SumTransfers {
  std::vector<std::vector<comm::Transfer>> buckets;  // for each bucket's elements
  // Replace buckets[b] for sums of floats, if a machine has several ranks and the schedule supports
  // it.
  std::map<std::size_t, comm::HierarchicalParts> parts{};
  std::vector<comm::Transfer> exponents;  // for exponent_count() elements; may be empty
  // For the last bucket's tail, which is then not part of buckets.back(): it counts samples, and is
  // f32 on any wire. Empty: it is sent with its bucket.
  std::vector<comm::Transfer> tail{};
  std::vector<std::vector<comm::Transfer>> exchanges{};  // for each Exchange over all micro-batches
};

struct SumOptions {
  std::vector<int> micro_batches;           // for each lane of this rank, >= 1
  std::int64_t total_micro_batches = 1;     // V, over all lanes of all ranks
  const SumTransfers* transfers = nullptr;  // must outlive the sum
  comm::Wire wire = comm::Wire::kF32;       // for sums in f32
  // With a bf16 wire: the rounding errors of a rank's own terms are added to its terms of the next
  // step (error feedback: Seide et al. 2014, 1-Bit Stochastic Gradient Descent; Karimireddy et al.
  // 2019). Errors of partial sums in transfer, and of sums through shared memory, are not fed back.
  bool error_feedback = false;
  std::uint32_t group = 0;  // the ranks that add up, see comm::Collective
};

// Number of exponents that reproducible sums exchange: one for each tensor and each number of the
// tail.
std::size_t exponent_count(const GradientLayout& layout) noexcept;

// Memory of the sums of a step.
struct SumBytes {
  std::size_t lane = 0;     // for each lane
  std::size_t further = 0;  // additionally for each lane with several micro-batches
  std::size_t shared = 0;   // once
};
SumBytes bytes_of_sums(const GradientLayout& layout, bool whole_numbers) noexcept;

// Sums what the micro-batches of a step contribute: over a rank's lanes, then over ranks.
//
// A step   begin(). For each micro-batch of a lane: write its values to written(lane), then add()
//          each bucket. For each bucket: add_lanes(), reduce(). finish(). read(). values().
// Threads  add(), add_lanes() and read() are called once for each part, by any threads in parallel.
class GradientSum {
 public:
  virtual ~GradientSum() = default;

  // Where this lane's micro-batches write their values, layout.elements of them.
  virtual std::span<float> written(int lane) noexcept = 0;

  // Starts a step, or repeats it.
  virtual void begin() noexcept = 0;

  // Adds `bucket` of the written micro-batch to the lane's sum. `first`: it is the lane's first
  // micro-batch of the step. Bits do not depend on the parts.
  virtual void add(int lane, std::size_t bucket, bool first, Part part = {}) = 0;

  // Sums `bucket` over all lanes, after every add() to it.
  virtual void add_lanes(std::size_t bucket, Part part = {}) = 0;

  // Starts the bucket's all-reduce. In ascending order of buckets on every rank.
  virtual void reduce(std::size_t bucket) = 0;

  // Waits for all all-reduces. Returns the same on every rank.
  enum class Outcome : std::uint8_t {
    kDone,
    kRepeat,     // a value exceeded the capacity: the step must be computed again
    kNotFinite,  // NaN or infinity was added somewhere; sums in f32 simply contain it instead
  };
  virtual Outcome finish() = 0;

  // Prepares this part of values() and returns it. After kDone.
  virtual std::span<const float> read(Part part = {}) noexcept = 0;

  // The sums over all micro-batches of all ranks, layout.elements of them. The caller may change
  // them: the next step computes new ones.
  virtual std::span<float> values() noexcept = 0;

  // Whether the sum of a tensor of the layout is finite. Indices after the tensors are numbers of
  // the tail. After finish(), with any result.
  virtual bool is_finite(std::size_t tensor) const = 0;

  // Discards the error feedback for the next step, which a checkpoint does not keep.
  virtual void forget_errors() noexcept {}

  // State by tensor that must be kept so that the next step has the same bits after a restart.
  virtual std::map<std::string, std::int32_t> state() const = 0;
  // Throws FormatError, naming the tensor, for a number that state() never returns.
  virtual void restore(const std::map<std::string, std::int32_t>& state) = 0;
};

// Sums in f32: over micro-batches in order, lanes in order, and ranks in the order of the
// transfers. The same bits as long as none of these changes.
std::unique_ptr<GradientSum> make_float_sum(const GradientLayout& layout, comm::Communicator& comm,
                                            SumOptions options);

// Sums of integers (fixed_point.h): the same bits for any number of ranks and lanes, any schedule
// and any buckets. `names`: one for each tensor of the layout, then one for each number of the
// tail.
std::unique_ptr<GradientSum> make_fixed_point_sum(const GradientLayout& layout,
                                                  std::vector<std::string> names,
                                                  comm::Communicator& comm, SumOptions options);

}  // namespace winnow::train
