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

namespace winnow::train {

struct SumOptions {
  const comm::Schedule* schedule = nullptr;
  comm::ScheduleOptions schedule_options;
  std::vector<int> micro_batches;        // of each lane of this rank, >= 1
  std::int64_t total_micro_batches = 1;  // V, of all lanes of all ranks
};

// Adds up what the micro-batches of a step contribute, over a rank's lanes, then over ranks. Where
// a program writes, and how it is summed, is all in here: the two ways below differ in nothing
// else. A step is: for each micro-batch of a lane write its values to written(lane) and add() each
// bucket as soon as it is there; reduce() each bucket once every lane is done with it; finish();
// read values().
class GradientSum {
 public:
  virtual ~GradientSum() = default;

  // Where this lane's micro-batches leave their values; layout.elements of them.
  virtual std::span<float> written(int lane) noexcept = 0;

  // From one thread a lane. `first`: it is the lane's first micro-batch of the step.
  virtual void add(int lane, std::size_t bucket, bool first) = 0;

  // Starts the bucket's way over the ranks. Buckets in ascending order on every rank.
  virtual void reduce(std::size_t bucket) = 0;

  // Waits for all of them. The same on every rank.
  enum class Outcome : std::uint8_t {
    kDone,
    kRepeat,     // a value was larger than foreseen: the step has to be computed again
    kNotFinite,  // somewhere a NaN or an infinity was added; f32 sums just have it then
  };
  virtual Outcome finish() = 0;

  // The sums over all micro-batches of all ranks, layout.elements of them; after kDone.
  virtual std::span<const float> values() const noexcept = 0;

  // Whether the sum of a slot of the layout is finite; after finish(), whatever it returned.
  virtual bool is_finite(std::size_t slot) const = 0;

  // What has to be kept for the next step to have the same bits after a restart; by tensor.
  virtual std::map<std::string, std::int32_t> state() const = 0;
  virtual void restore(const std::map<std::string, std::int32_t>& state) = 0;
};

// f32 sums: micro-batches in order, lanes in order, ranks in the schedule's order. The same bits as
// long as none of these changes.
std::unique_ptr<GradientSum> make_float_sum(const GradientLayout& layout, comm::Communicator& comm,
                                            SumOptions options);

// Sums of whole numbers (fixed_point.h): the same bits for any number of ranks and lanes, any
// schedule and any buckets. `names` has one for each slot of the layout, then one for each number
// of the tail.
std::unique_ptr<GradientSum> make_fixed_point_sum(const GradientLayout& layout,
                                                  std::vector<std::string> names,
                                                  comm::Communicator& comm, SumOptions options);

}  // namespace winnow::train
