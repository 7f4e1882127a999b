#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/comm/schedule/schedule.h"
#include "train/plan/step_tasks.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// How gradients are summed over micro-batches and ranks.
enum class Sums : std::uint8_t {
  kFloats,        // sums in f32; the order of additions affects the last bits
  kBF16Messages,  // --bf16-gradients: as kFloats, with bf16 messages between ranks
  // --error-feedback: as kBF16Messages, and a rank's rounding errors are added in the next step.
  kBF16Feedback,
  // --reproducible: integer sums, whose bits do not depend on the order, see fixed_point.h.
  kWholeNumbers,
};

constexpr bool sends_bf16(Sums sums) noexcept {
  return sums == Sums::kBF16Messages || sums == Sums::kBF16Feedback;
}

// Everything that determines the bits of a micro-batch's gradients. Equal on all ranks, and every
// time the run is resumed.
struct Numerics {
  std::string backend;
  std::string build;  // version, build type and compiler of winnow
  std::string instruction_set;
  std::string library;  // kernel library, with its version
  DType dtype = DType::kF32;
  Sums sums = Sums::kFloats;
  int lane_threads = 1;
  // The kernel of each layer, as KernelChoices of train/backend.
  std::map<std::string, std::string> kernels{};
};

struct RankLayout {
  std::vector<int> lanes{};  // number of micro-batches of each lane (program replica)
  int threads = 1;           // number of threads of the rank
  int evaluation_lanes = 1;
  int batches_ahead = 1;  // number of batches that the rank's loader prepares in advance
  int node = 0;           // number of the rank's machine
};

// The all-reduce algorithm (schedule) for at most this many elements.
struct SizedSchedule {
  std::size_t elements = 0;
  std::string schedule;
  comm::ScheduleOptions options{};

  friend bool operator==(const SizedSchedule&, const SizedSchedule&) = default;
};

// Which rank computes what, and the order in which sums over ranks are taken.
struct Layout {
  std::vector<RankLayout> ranks{};
  // Number of ranks of each stage of a pipeline; empty: no pipeline.
  std::vector<int> stage_ranks{};
  std::string schedule;  // all-reduce algorithm for sizes above all of `smaller`
  comm::ScheduleOptions schedule_options{};
  // Algorithms for smaller sizes, ascending; each applies to sizes above the one before it.
  std::vector<SizedSchedule> smaller{};
  std::size_t bucket_bytes = 1u << 20;
  std::string transfers{};  // digest of the transfers of all ranks' all-reduces, in hex
};

// How a run is executed; what it computes is in config.json. Stored as RUN/plan.json
// (docs/formats/plan.md), so that a resumed run keeps its choices.
struct RunPlan {
  int version = 2;  // version of the file from which the plan was read
  Numerics numerics;
  Layout layout;
  // Digests of the plans that this one has replaced, oldest first.
  std::vector<std::string> supersedes{};
  StepTasks step{};  // tasks of rank 0; derived from the layout, and not compared
};

// Returns the text of RUN/plan.json, always in the newest version.
std::string to_text(const RunPlan& plan);

// Parses a plan.json of any version. For version 1, lanes (program replicas) get 0 micro-batches,
// and entries that this version lacks are empty.
// Throws  FormatError, which names `where`, for damage, a newer version, or impossible numbers.
RunPlan parse_plan(const std::string& text, const std::string& where);

std::string digest_of_plan(const std::string& text);  // XXH3-128 of a plan's text, in hex

// How a run with a stored plan is resumed, if another plan would be chosen today.
struct PlanChange {
  bool changed = false;
  std::string note;  // User-facing text: what changes, and the consequences; may be empty.
};

// Compares plan `stored` with plan `now`, which would be chosen today, in the entries that both
// versions have. Pure.
// Throws  UsageError: different numerics would change the weights, and `replan` does not allow it.
PlanChange compare_plans(const RunPlan& stored, const RunPlan& now, bool replan);

}  // namespace winnow::train
