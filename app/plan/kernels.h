#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/plan/rates.h"
#include "app/plan/report.h"
#include "app/session.h"
#include "train/backend/backend.h"
#include "train/plan/algorithms.h"
#include "train/plan/memory.h"

namespace winnow::app {

// Chooses a kernel for each layer by its times, see train::choose_kernels(). Pure.
// bytes  Limit for the scratch memory of a lane, which its layers share; at least what the
//        library's choice needs.
PlanKernels chosen_kernels(std::span<const train::LayerTimes> layers, std::size_t bytes);

// Bytes that the scratch memory of a lane may have in a row with `memory`, if it now has `own`: as
// many more as are left to each lane of `available`. Pure.
std::size_t scratch_room(std::size_t available, const train::MemoryFit& memory, std::size_t own);

// Scratch memory that layers share by the library's choice.
std::size_t own_scratch(std::span<const train::LayerTimes> layers);

// Takes the choices back: every layer keeps the library's.
void keep_own_kernels(PlanKernels& kernels);

// The choices that differ from the library's.
train::KernelChoices kernel_choices(const PlanKernels& kernels);

// Facts that determine how long it takes to measure kernels. In a turn each layer runs one of its
// kernels; a round has as many turns as some layer has kernels.
struct KernelMeasuring {
  std::size_t turns = 0;     // in a round
  double turn_seconds = 0;   // about
  double limit_seconds = 0;  // rough; the first round is always complete
  int rounds = 3;
  bool again = false;  // measures even if times are kept

  double seconds() const;  // rough estimate for all of it
};

// Measures, and asks goes_on() before each turn after the first round: train::measure_kernels().
using MeasureKernels =
    std::function<std::vector<train::LayerTimes>(const std::function<bool()>& goes_on)>;

struct KernelTimesFound {
  std::vector<train::LayerTimes> layers{};
  bool kept = false;  // measured by an earlier plan
};

// Finds the times of all `candidates`: those that an earlier plan kept as `key`, if any, else those
// of `measure`, which it keeps. First tells the user how long measuring takes.
// Kept times count only if they are for exactly these candidates.
// Throws StoppedError: asked to stop while measuring.
KernelTimesFound find_kernel_times(const train::KernelCandidates& candidates, const Rates& rates,
                                   const std::string& key, const KernelMeasuring& measuring,
                                   const MeasureKernels& measure, const Session& session);

// A lane whose kernels are asked about.
struct KernelsOfLane {
  train::Backend& backend;
  const train::Graph& graph;  // training graph of a micro-batch
  train::CompileOptions options{};
};

// As find_kernel_times(), on rank 0 for all ranks: `lane` is measured. Collective.
// Out  No layers: the backend lists no kernels.
KernelTimesFound kernel_times(const KernelsOfLane& lane, const Rates& rates, const std::string& key,
                              KernelMeasuring measuring, Session& session);

}  // namespace winnow::app
