#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/sweep_table.h"

// What a sweep will take, told before it begins. Pure functions.
namespace winnow::app {

// What a run took: part of the result of a job.
struct RunCost {
  double seconds = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t disk_bytes = 0;  // of its folder
};

// How fast runs are on this machine.
struct RunSpeed {
  double seconds_per_image = 0;  // trained on; one that is evaluated counts a third
  std::uint64_t peak_bytes = 0;  // the most of a run, as below
  std::uint64_t disk_bytes = 0;
};

// Images that a run trains on, and a third of those it is evaluated on after each epoch.
double work_of(const SweepArm& arm, std::uint64_t held_out);

// How fast runs are by those that are done.
class SpeedMeter {
 public:
  // `work`: as of work_of(). One that does not say what it took counts for nothing.
  void add(const RunCost& cost, double work);
  std::optional<RunSpeed> speed() const;  // nothing where none was added

 private:
  RunSpeed most_;
  double seconds_ = 0;
  double work_ = 0;
};

// By runs that are done; nothing where none is, or none says what it took.
std::optional<RunSpeed> speed_of(
    const std::vector<SweepArm>& arms, std::uint64_t held_out,
    const std::function<std::optional<RunCost>(const std::string& job)>& cost_of);

struct Foretold {
  std::size_t runs = 0;    // equal ones of several arms are one
  std::size_t shared = 0;  // that arms have without training them, for another has the same
  std::size_t done = 0;
  double images = 0;   // that those not done train on
  double seconds = 0;  // until all are done
  std::uint64_t lane_bytes = 0;
  std::uint64_t disk_bytes = 0;  // of all that are not done
};
Foretold foretell(const std::vector<SweepArm>& arms, std::uint64_t held_out, int lanes,
                  const RunSpeed& speed,
                  const std::function<bool(const std::string& job)>& is_done);

// In sentences, a line each, without their full stops. `memory_left`: kNoMemoryLimit: not known.
std::vector<std::string> in_words(const Foretold& foretold, int lanes, std::uint64_t memory_left);
std::string disk_in_words(const Foretold& foretold, std::uint64_t disk_left);

// Throws UsageError where lanes need more memory than is left; says how many would fit.
void check_memory(const Foretold& foretold, int lanes, std::uint64_t memory_left);
// The same of the disk.
void check_disk(const Foretold& foretold, std::uint64_t disk_left);

}  // namespace winnow::app
