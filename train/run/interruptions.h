#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "common/comm/communicator.h"
#include "train/run/options.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"
#include "train/step/not_finite.h"

namespace winnow::train {

// Progress of a run.
struct RunPosition {
  std::int64_t done = 0;  // in steps
  std::int64_t last = 0;
};

// Ends a run that was asked to stop, after its checkpoint: throws comm::AgreedError with exit code
// 75.
[[noreturn]] void throw_stopped(const comm::Communicator& comm, const std::filesystem::path& run,
                                RunPosition at);

// Throws Error, naming the cache, if it was replaced or removed, because the run could not resume
// from its checkpoint. At the last step that is only a note: nothing more is read except for
// evaluation. Collective.
void require_unchanged_cache(const Job& job, const std::filesystem::path& run, RunPosition at,
                             comm::Communicator& comm,
                             const std::function<void(std::string)>& note);

// A sentence about what all ranks found in step `step` (counted from 1), whose loss or a gradient
// is not finite. The same on every rank. Collective.
std::string diagnose_not_finite(const NotFiniteFindings& mine, std::int64_t step,
                                comm::Communicator& comm);

// As diagnose_not_finite(), for the weights after step `step`: a step with a finite loss may leave
// weights that are not. Empty if all are finite. Copies them to the host of rank 0. Collective.
std::string diagnose_weights(Engine& engine, std::int64_t step, comm::Communicator& comm);

// Ends a run at such a step: throws comm::AgreedError. `kept`: the newest checkpoint, whose weights
// are finite; empty if there is none.
[[noreturn]] void throw_not_finite(const comm::Communicator& comm, const std::string& diagnosis,
                                   const std::filesystem::path& kept);

}  // namespace winnow::train
