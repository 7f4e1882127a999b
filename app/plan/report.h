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
  train::MemoryFit memory{};   // lanes and batches ahead as far as memory allows
  train::MemoryParts parts{};  // of memory at its peak; computed
  bool fits = false;           // memory.peak is no more than there is
  bool is_allowed = false;     // learns what was asked for: same micro-batch, or any asked for
  std::optional<train::StepSeconds> step{};  // nothing: not known
  How step_how = How::kScaled;
  double spread = 0;  // share by which steps differed that were measured
  std::string remark{};

  double images_per_second(std::int64_t images) const {  // of this machine, per step so many
    return step && step->total() > 0 ? static_cast<double>(images) / step->total() : 0;
  }
};

// What an epoch and the whole run take, in seconds.
struct PlanTime {
  double start = 0;       // until the first step; measured
  double steps = 0;       // of an epoch
  double evaluation = 0;  // of an epoch
  double checkpoint = 0;  // of an epoch; computed
  double test = 0;        // evaluation at the end
  double epochs = 1;
  Interval range{};  // of run()

  double epoch() const { return steps + evaluation + checkpoint; }
  double run() const { return start + epochs * epoch() + test; }
};

// The training on so many machines, with the same global batch.
struct PlanHosts {
  int hosts = 1;
  std::optional<train::StepSeconds> step{};  // nothing: more machines than micro-batches
  double images_per_second = 0;              // of all machines
  double efficiency = 1;                     // beside as many machines alone
  double overhead = 0;                       // R_O
  double lemma_efficiency = 1;               // by the overhead of one machine
  double all_reduce_seconds = 0;             // of a step, hidden or not
  double run_seconds = 0;
  std::optional<double> price{};
  std::int64_t parameter_servers = 1;  // that would carry the same traffic
  std::size_t bucket_bytes = 0;
};

struct PlanNetwork {
  std::string source{};         // "10gbit,20us", a file's name, or "these ranks"
  double bytes_per_second = 0;  // between two machines
  double latency_seconds = 0;
  std::optional<double> hiding_bytes_per_second{};  // that would hide all-reduces; nothing: none
  int hiding_hosts = 1;                             // on so many machines
};

struct PlanScaling {
  PlanNetwork network{};
  double wished_efficiency = 0.8;
  double overhead = 0;                      // R_O of one machine
  std::optional<std::int64_t> most{};       // G_max of the lemma; nothing: no limit
  std::optional<double> needed_overhead{};  // for the most machines asked for
  std::vector<PlanHosts> rows{};
  std::size_t knee = 0;  // among the rows
};

// A global batch, and what it takes to reach the target with it.
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

// All that winnow plan says.
struct PlanReport {
  std::string net{};
  int side_px = 0;
  std::int64_t images = 0;             // trained on in an epoch
  std::int64_t evaluation_images = 0;  // after each epoch
  std::int64_t batch = 1;
  std::int64_t rank_images = 1;  // of a step, on a rank
  std::int64_t micro_batch = 1;  // that the run would have
  int ranks = 1;
  int cores = 1;
  std::string machine{};      // backend, library, instruction set
  std::size_t available = 0;  // bytes that a rank may hold
  bool has_norm = false;      // the micro-batch is the group of batch norm
  double others_cores = 0;    // that other work kept busy while it was measured
  std::vector<PlanRow> rows{};
  std::optional<std::size_t> best{};
  std::int64_t largest_micro_batch = 0;  // of all that divide the batch that fits; 0: none
  std::optional<PlanTime> time{};
  std::optional<PlanScaling> scaling{};
  std::optional<PlanTarget> target{};
  std::vector<std::pair<std::string, std::string>> flags{};  // of winnow train, for the best row
  std::vector<std::string> notes{};
  std::string refusal{};  // where there is no best row: why, and what would help
};

}  // namespace winnow::app
