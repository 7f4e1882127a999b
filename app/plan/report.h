#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/statistics.h"
#include "train/plan/memory.h"
#include "train/plan/step_seconds.h"
#include "train/plan/steps_to_target.h"

namespace winnow::app {

// Where a number comes from.
enum class How : std::uint8_t { kComputed, kScaled, kMeasured };
const char* how_name(How how) noexcept;  // "computed", "scaled", "measured"

// One way to run the training on this machine.
struct PlanRow {
  std::int64_t micro_batch = 1;
  int lane_threads = 1;
  // As many lanes and batches prepared ahead as memory allows, and the memory that they need. A
  // lane is a copy of the net's program that computes one micro-batch at a time.
  train::MemoryFit memory{};
  train::MemoryParts parts{};  // parts of the peak; computed
  bool fits = false;           // the machine has memory.peak bytes to give
  // learns what was asked for: the same micro-batch, unless any may be chosen
  bool is_allowed = false;
  std::optional<train::StepSeconds> step{};  // nullopt: unknown
  How step_how = How::kScaled;
  double spread = 0;  // (slowest - fastest) / median of the measured steps
  std::string remark{};

  double images_per_second(std::int64_t images) const {  // on this machine, with so many per step
    return step && step->total() > 0 ? static_cast<double>(images) / step->total() : 0;
  }
};

// Duration of an epoch and of the whole run, in seconds.
struct PlanTime {
  double start = 0;       // until the first step; measured
  double steps = 0;       // per epoch
  double evaluation = 0;  // per epoch
  double checkpoint = 0;  // per epoch; computed
  double test = 0;        // evaluation at the end
  double epochs = 1;
  Interval range{};  // range of run()

  double epoch() const { return steps + evaluation + checkpoint; }
  double run() const { return start + epochs * epoch() + test; }
};

// The training on a number of machines, with the same global batch.
struct PlanHosts {
  int hosts = 1;
  std::optional<train::StepSeconds> step{};  // nullopt: more machines than micro-batches
  double images_per_second = 0;              // on all machines
  double efficiency = 1;                     // compared with as many separate machines
  double overhead = 0;                       // R_O
  // Efficiency predicted from the overhead R_O of one machine: (1 + R_O) / (1 + hosts R_O).
  double lemma_efficiency = 1;
  double all_reduce_seconds = 0;  // per step, hidden or not
  double run_seconds = 0;
  std::optional<double> price{};
  std::int64_t parameter_servers = 1;  // number that would carry the same traffic
  std::size_t bucket_bytes = 0;
};

struct PlanNetwork {
  std::string source{};         // "10gbit,20us", a file name, or "these ranks"
  double bytes_per_second = 0;  // between two machines
  double latency_seconds = 0;
  // Rate at which hiding_hosts machines would hide their all-reduces behind computing; nullopt: no
  // rate would.
  std::optional<double> hiding_bytes_per_second{};
  int hiding_hosts = 1;  // number of machines that the rate is for
};

struct PlanScaling {
  PlanNetwork network{};
  double wished_efficiency = 0.8;
  double overhead = 0;  // R_O of one machine
  // Largest number of machines with at least wished_efficiency; nullopt: any number.
  std::optional<std::int64_t> most{};
  std::optional<double> needed_overhead{};  // for the largest number of machines asked for
  std::vector<PlanHosts> rows{};
  std::size_t knee = 0;  // place among the rows
};

// A global batch, and the cost of reaching the target with it.
struct PlanBatch {
  std::int64_t batch = 1;
  double steps = 0;
  Interval steps_range{};
  std::optional<double> seconds{};
  std::optional<double> price{};
};

struct PlanTarget {
  std::string target{};  // "top1=0.9"
  train::StepsToTarget fit{};
  double critical_batch = 0;
  std::vector<PlanBatch> rows{};
};

// A kernel for all nodes of a layer in a micro-batch.
struct PlanKernel {
  std::string name{};  // the library's name, as in train::KernelChoices
  double seconds = 0;  // median
  std::size_t scratch_bytes = 0;
};

// A pass of a layer, or of several that are alike.
struct PlanLayer {
  std::string layer{};  // as in train::KernelChoices
  int nodes = 1;        // number of them in a micro-batch
  PlanKernel own{};     // the library's choice
  PlanKernel chosen{};
};

// Kernels for the best row, by times on one lane with nothing running beside it.
struct PlanKernels {
  std::vector<PlanLayer> layers{};
  std::size_t room_bytes = 0;  // limit for the scratch memory of a lane
  bool kept = false;           // times were measured by an earlier plan

  // For all layers of a micro-batch, by `which` of their kernels.
  double seconds(PlanKernel PlanLayer::*which) const;
  std::size_t scratch_bytes(PlanKernel PlanLayer::*which) const;  // shared by the layers
};

// The result of winnow plan.
struct PlanReport {
  std::string net{};
  int side_px = 0;
  std::int64_t images = 0;             // training images per epoch
  std::int64_t evaluation_images = 0;  // evaluated after each epoch
  std::int64_t batch = 1;
  std::int64_t rank_images = 1;  // images of a rank per step
  std::int64_t micro_batch = 1;  // micro-batch that the run would have
  int ranks = 1;
  int cores = 1;
  std::string machine{};      // backend, library, instruction set
  std::size_t available = 0;  // bytes that a rank may use
  bool has_norm = false;      // then the micro-batch is the group of batch norm
  double others_cores = 0;    // cores that other work used during the measurement
  std::vector<PlanRow> rows{};
  std::optional<std::size_t> best{};
  std::int64_t measured_steps = 0;       // measured by this plan
  std::int64_t kept_steps = 0;           // measured by an earlier plan
  std::int64_t largest_micro_batch = 0;  // largest divisor of the batch that fits; 0: none
  std::optional<PlanTime> time{};
  std::optional<PlanScaling> scaling{};
  std::optional<PlanTarget> target{};
  std::optional<PlanKernels> kernels{};
  // flags of winnow train for the best row
  std::vector<std::pair<std::string, std::string>> flags{};
  std::vector<std::string> notes{};
  std::string refusal{};  // if there is no best row: the reason, and what would help
};

}  // namespace winnow::app
