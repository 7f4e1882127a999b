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

// Measured cost of a run: part of a job's outcome.
struct RunCost {
  double seconds = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t disk_bytes = 0;  // size of its folder
};

// How fast runs are on this machine.
struct RunSpeed {
  double seconds_per_image = 0;  // per training image; an evaluated one counts a third
  std::uint64_t peak_bytes = 0;  // maximum over runs, as is the next one
  std::uint64_t disk_bytes = 0;
};

// Training images of a run plus a third of the images that are evaluated after its epochs.
double work_of(const SweepArm& arm, std::uint64_t held_out);

// Measures the speed of runs from those that are done.
class SpeedMeter {
 public:
  // `work`: from work_of(). A cost without a time is ignored.
  void add(const RunCost& cost, double work);
  std::optional<RunSpeed> speed() const;  // nullopt if none was added

 private:
  RunSpeed most_;
  double seconds_ = 0;
  double work_ = 0;
};

// Speed measured on the runs that are done; nullopt if there are none, or none has a cost.
std::optional<RunSpeed> speed_of(
    const std::vector<SweepArm>& arms, std::uint64_t held_out,
    const std::function<std::optional<RunCost>(const std::string& job)>& cost_of);

struct CostEstimate {
  std::size_t runs = 0;    // equal runs of several arms count once
  std::size_t shared = 0;  // runs that an arm shares with another
  std::size_t done = 0;
  double images = 0;   // training images of the runs that are not done
  double seconds = 0;  // until all are done
  std::uint64_t lane_bytes = 0;
  std::uint64_t disk_bytes = 0;  // all runs that are not done
};
CostEstimate estimate_cost(const std::vector<SweepArm>& arms, std::uint64_t held_out, int lanes,
                           const RunSpeed& speed,
                           const std::function<bool(const std::string& job)>& is_done);

// Sentences, one a line, without full stops. `memory_left`: kNoMemoryLimit if unknown.
std::vector<std::string> in_words(const CostEstimate& cost, int lanes, std::uint64_t memory_left);
std::string disk_in_words(const CostEstimate& cost, std::uint64_t disk_left);

// Throws UsageError if the lanes need more memory than is left. The message says how many would
// fit.
void check_memory(const CostEstimate& cost, int lanes, std::uint64_t memory_left);
// Throws UsageError if the runs need more disk than is left.
void check_disk(const CostEstimate& cost, std::uint64_t disk_left);

}  // namespace winnow::app
