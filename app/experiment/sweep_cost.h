#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/sweep_table.h"

// Estimates the cost of a sweep before it begins. Pure functions.
namespace winnow::app {

// Measured cost of one run, stored in its job's outcome.
struct RunCost {
  double seconds = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t disk_bytes = 0;  // size of the run's folder
};

// Speed, memory and disk space of runs on this machine.
struct RunSpeed {
  double seconds_per_image = 0;  // time per training image; an evaluated image counts a third
  std::uint64_t peak_bytes = 0;  // peak memory in bytes, maximum over runs
  std::uint64_t disk_bytes = 0;  // size of a run's folder in bytes, maximum over runs
};

// Work of a run, in training images: its training images plus a third of the images that it
// evaluates after its epochs.
double work_of(const SweepArm& arm, std::uint64_t held_out);

// Measures the speed of training from runs that are done.
class SpeedMeter {
 public:
  // Adds the cost of one run. `work`: from work_of(). A cost without a time is ignored.
  void add(const RunCost& cost, double work);
  std::optional<RunSpeed> speed() const;  // nullopt if no run was added

 private:
  RunSpeed most_;
  double seconds_ = 0;
  double work_ = 0;
};

// The speed measured from the runs of a sweep that are done; nullopt if none has a stored cost.
std::optional<RunSpeed> speed_of(
    const std::vector<SweepArm>& arms, std::uint64_t held_out,
    const std::function<std::optional<RunCost>(const std::string& job)>& cost_of);

struct CostEstimate {
  // Number of different runs; two arms that train on the same images share one.
  std::size_t runs = 0;
  std::size_t shared = 0;        // number of runs saved because an arm shares them with another
  std::size_t done = 0;          // number of runs that are done already
  double images = 0;             // training images, summed over the runs that are still to do
  double seconds = 0;            // time until all runs are done
  std::uint64_t lane_bytes = 0;  // memory of each run, in bytes
  std::uint64_t disk_bytes = 0;  // disk space of all runs that are still to do, in bytes
};
CostEstimate estimate_cost(const std::vector<SweepArm>& arms, std::uint64_t held_out, int lanes,
                           const RunSpeed& speed,
                           const std::function<bool(const std::string& job)>& is_done);

// The estimate in sentences without full stops, one per line. `memory_left`: free memory in bytes,
// kNoMemoryLimit if unknown.
std::vector<std::string> in_words(const CostEstimate& cost, int lanes, std::uint64_t memory_left);
std::string disk_in_words(const CostEstimate& cost, std::uint64_t disk_left);

// Throws UsageError if `lanes` runs at the same time need more memory than is left. The message
// says how many would fit.
void check_memory(const CostEstimate& cost, int lanes, std::uint64_t memory_left);
// Throws UsageError if the runs need more disk space than is left.
void check_disk(const CostEstimate& cost, std::uint64_t disk_left);

}  // namespace winnow::app
