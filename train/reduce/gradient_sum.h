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

// The all-reduces of a step as one rank sees them. Made once, executed every step.
struct SumTransfers {
  std::vector<std::vector<comm::Transfer>> buckets;  // of each bucket's elements
  // In the place of buckets[b] for sums of floats, where a machine has several ranks and the
  // schedule knows of it.
  std::map<std::size_t, comm::HierarchicalParts> parts{};
  std::vector<comm::Transfer> exponents;  // of exponent_count() elements; may be empty
  // Of the last bucket's tail, which then is no part of buckets.back(): it counts samples, and is
  // f32 on any wire. Empty: it goes with its bucket.
  std::vector<comm::Transfer> tail{};
  std::vector<std::vector<comm::Transfer>> exchanges{};  // of each Exchange of all micro-batches
};

struct SumOptions {
  std::vector<int> micro_batches;           // of each lane of this rank, >= 1
  std::int64_t total_micro_batches = 1;     // V, of all lanes of all ranks
  const SumTransfers* transfers = nullptr;  // outlives the sum
  comm::Wire wire = comm::Wire::kF32;       // of sums in f32
  // With a wire of bf16: what a rank's own terms lose when they are rounded it adds to those of the
  // next step (error feedback: Seide et al. 2014, 1-Bit Stochastic Gradient Descent; Karimireddy et
  // al. 2019). What partial sums lose on their way is not fed back, nor what goes through memory
  // that ranks share.
  bool error_feedback = false;
};

// Numbers whose exponents reproducible sums share: a tensor, or one number of the tail.
std::size_t exponent_count(const GradientLayout& layout) noexcept;

// Memory that the sums of a step take.
struct SumBytes {
  std::size_t lane = 0;     // of each lane
  std::size_t further = 0;  // of each lane that has several micro-batches, besides
  std::size_t shared = 0;   // once
};
SumBytes bytes_of_sums(const GradientLayout& layout, bool whole_numbers) noexcept;

// Adds up what the micro-batches of a step contribute: over a rank's lanes, then over ranks.
//
// A step   begin(). For each micro-batch of a lane: write its values to written(lane), then add()
//          each bucket. For each bucket: add_lanes(), reduce(). finish(). read(). values().
// Parts    add(), add_lanes() and read() are called once for each part, by any threads at once.
class GradientSum {
 public:
  virtual ~GradientSum() = default;

  // Where this lane's micro-batches leave their values; layout.elements of them.
  virtual std::span<float> written(int lane) noexcept = 0;

  // A step begins, or is repeated.
  virtual void begin() noexcept = 0;

  // `bucket` of the micro-batch that was written enters the lane's sum. `first`: it is the lane's
  // first micro-batch of the step. Bits do not depend on the parts.
  virtual void add(int lane, std::size_t bucket, bool first, Part part = {}) = 0;

  // `bucket` of all lanes is added up. After every add() to it.
  virtual void add_lanes(std::size_t bucket, Part part = {}) = 0;

  // Starts the bucket's all-reduce. Buckets in ascending order on every rank.
  virtual void reduce(std::size_t bucket) = 0;

  // Waits for all of them. The same on every rank.
  enum class Outcome : std::uint8_t {
    kDone,
    kRepeat,     // a value was larger than foreseen: the step has to be computed again
    kNotFinite,  // somewhere a NaN or an infinity was added; sums in f32 just have it then
  };
  virtual Outcome finish() = 0;

  // Makes this part of values() ready and returns it. After kDone.
  virtual std::span<const float> read(Part part = {}) noexcept = 0;

  // The sums over all micro-batches of all ranks, layout.elements of them. The caller may change
  // them: the next step makes them anew.
  virtual std::span<float> values() noexcept = 0;

  // Whether the sum of a tensor of the layout is finite; behind the tensors count the numbers of
  // the tail. After finish(), whatever it returned.
  virtual bool is_finite(std::size_t tensor) const = 0;

  // Forgets what error feedback has for the next step: a checkpoint does not keep it.
  virtual void forget_errors() noexcept {}

  // What has to be kept for the next step to have the same bits after a restart; by tensor.
  virtual std::map<std::string, std::int32_t> state() const = 0;
  // Throws FormatError, naming the tensor, for a number that state() never gives.
  virtual void restore(const std::map<std::string, std::int32_t>& state) = 0;
};

// Sums in f32: micro-batches in order, lanes in order, ranks in the transfers' order. The same bits
// as long as none of these changes.
std::unique_ptr<GradientSum> make_float_sum(const GradientLayout& layout, comm::Communicator& comm,
                                            SumOptions options);

// Sums of whole numbers (fixed_point.h): the same bits for any number of ranks and lanes, any
// schedule and any buckets. `names` has one for each tensor of the layout, then one for each number
// of the tail.
std::unique_ptr<GradientSum> make_fixed_point_sum(const GradientLayout& layout,
                                                  std::vector<std::string> names,
                                                  comm::Communicator& comm, SumOptions options);

}  // namespace winnow::train
