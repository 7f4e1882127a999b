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

// How gradients are added up over micro-batches and ranks.
enum class Sums : std::uint8_t {
  kFloats,        // in f32; the order of additions decides the last bits
  kBF16Messages,  // --bf16-gradients: as kFloats, and ranks tell each other bf16
  kBF16Feedback,  // --error-feedback: and feed back what rounding their own terms loses
  kWholeNumbers,  // --reproducible: no order changes a bit, see fixed_point.h
};

constexpr bool sends_bf16(Sums sums) noexcept {
  return sums == Sums::kBF16Messages || sums == Sums::kBF16Feedback;
}

// What decides the bits of a micro-batch's gradients. Equal on all ranks and at every resume.
struct Numerics {
  std::string backend;
  std::string build;  // of winnow
  std::string instruction_set;
  std::string library;  // whose kernels they are, with its version
  DType dtype = DType::kF32;
  Sums sums = Sums::kFloats;
  int lane_threads = 1;
  std::map<std::string, std::string> kernels{};  // KernelChoices of train/backend
};

struct RankLayout {
  std::vector<int> lanes{};  // micro-batches of each lane
  int threads = 1;           // of the rank
  int evaluation_lanes = 1;
  int batches_ahead = 1;  // that its loader prepares
  int node = 0;           // the rank's machine
};

// The schedule of all-reduces of at most so many elements.
struct SizedSchedule {
  std::size_t elements = 0;
  std::string schedule;
  comm::ScheduleOptions options{};

  friend bool operator==(const SizedSchedule&, const SizedSchedule&) = default;
};

// Who computes what, and the order in which sums over ranks are taken.
struct Layout {
  std::vector<RankLayout> ranks{};
  std::string schedule;  // of all-reduces that are larger than all of `smaller`
  comm::ScheduleOptions schedule_options{};
  std::vector<SizedSchedule> smaller{};  // ascending; each for what those before it are not for
  std::size_t bucket_bytes = 1u << 20;
  std::string transfers{};  // digest of all ranks' all-reduces, hex
};

// How a run is computed. What is computed stands in config.json. Stored as RUN/plan.json, so that
// a run goes on with the choices it began with; docs/formats/plan.md.
struct RunPlan {
  int version = 2;  // of the file it comes from
  Numerics numerics;
  Layout layout;
  std::vector<std::string> supersedes{};  // digests of the plans it has replaced, oldest first
  StepTasks step{};                       // of rank 0; follows from the layout, not compared
};

// RUN/plan.json, always of the newest version.
std::string to_text(const RunPlan& plan);

// Reads every version. Of version 1: lanes have 0 micro-batches, and what it does not say is empty.
// Throws FormatError, naming `where`, for damage, a newer version and numbers that cannot be.
RunPlan parse_plan(const std::string& text, const std::string& where);

std::string digest_of_plan(const std::string& text);  // XXH3-128, hex

// How a run with the plan `stored` goes on where `now` is what would be chosen afresh.
struct PlanChange {
  bool changed = false;
  std::string note;  // for people, what changes and what that means; may be empty
};

// Compares what both versions say. Pure.
// Throws UsageError: other numerics would change the weights, and `replan` does not allow it.
PlanChange compare_plans(const RunPlan& stored, const RunPlan& now, bool replan);

}  // namespace winnow::train
