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
  kFloats,        // in f32; the order of additions affects the last bits
  kBF16Messages,  // --bf16-gradients: as kFloats, with bf16 messages between ranks
  kBF16Feedback,  // --error-feedback: also feeds back the rounding errors of a rank's own terms
  kWholeNumbers,  // --reproducible: the order affects no bit, see fixed_point.h
};

constexpr bool sends_bf16(Sums sums) noexcept {
  return sums == Sums::kBF16Messages || sums == Sums::kBF16Feedback;
}

// Everything that determines the bits of a micro-batch's gradients. Equal on all ranks and at every
// resume.
struct Numerics {
  std::string backend;
  std::string build;  // winnow's build name
  std::string instruction_set;
  std::string library;  // the kernel library, with its version
  DType dtype = DType::kF32;
  Sums sums = Sums::kFloats;
  int lane_threads = 1;
  std::map<std::string, std::string> kernels{};  // KernelChoices of train/backend
};

struct RankLayout {
  std::vector<int> lanes{};  // micro-batches of each lane
  int threads = 1;           // threads of the rank
  int evaluation_lanes = 1;
  int batches_ahead = 1;  // number that its loader prepares
  int node = 0;           // the rank's machine
};

// The schedule of all-reduces with at most this many elements.
struct SizedSchedule {
  std::size_t elements = 0;
  std::string schedule;
  comm::ScheduleOptions options{};

  friend bool operator==(const SizedSchedule&, const SizedSchedule&) = default;
};

// Which rank computes what, and the order in which sums over ranks are taken.
struct Layout {
  std::vector<RankLayout> ranks{};
  std::vector<int> stage_ranks{};  // number of ranks of each stage of a pipeline; else empty
  std::string schedule;            // for all-reduces that are larger than all of `smaller`
  comm::ScheduleOptions schedule_options{};
  std::vector<SizedSchedule> smaller{};  // ascending; each applies to sizes above the one before it
  std::size_t bucket_bytes = 1u << 20;
  std::string transfers{};  // digest of all ranks' all-reduces, in hex
};

// How a run is computed. (config.json determines the results.) Stored as RUN/plan.json, so that a
// resumed run keeps its choices; format: docs/formats/plan.md.
struct RunPlan {
  int version = 2;  // version of the file it was read from
  Numerics numerics;
  Layout layout;
  std::vector<std::string> supersedes{};  // digests of plans it has replaced, oldest first
  StepTasks step{};                       // tasks of rank 0; derived from the layout, not compared
};

// The text of RUN/plan.json, always in the newest version.
std::string to_text(const RunPlan& plan);

// Parses any version. In version 1, lanes have 0 micro-batches, and entries that it lacks are
// empty.
// Throws FormatError, naming `where`, for damage, a newer version, or impossible numbers.
RunPlan parse_plan(const std::string& text, const std::string& where);

std::string digest_of_plan(const std::string& text);  // XXH3-128 in hex

// How a run with the plan `stored` is resumed, if `now` is what would be chosen today.
struct PlanChange {
  bool changed = false;
  std::string note;  // user-facing: what changes, and the consequences; may be empty
};

// Compares the entries that both versions have. Pure.
// Throws UsageError: different numerics would change the weights, and `replan` does not allow it.
PlanChange compare_plans(const RunPlan& stored, const RunPlan& now, bool replan);

}  // namespace winnow::train
