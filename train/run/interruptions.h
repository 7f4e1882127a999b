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

// How far a run is.
struct RunPosition {
  std::int64_t done = 0;  // steps
  std::int64_t last = 0;
};

// Ends a run that was asked to stop, after its checkpoint: comm::AgreedError with exit code 75.
[[noreturn]] void throw_stopped(const comm::Communicator& comm, const std::filesystem::path& run,
                                RunPosition at);

// A run whose cache was replaced or removed could not go on after its checkpoint: Error naming the
// cache. At its last step that is a note: nothing more is read but for evaluation. Collective.
void require_unchanged_cache(const Job& job, const std::filesystem::path& run, RunPosition at,
                             comm::Communicator& comm,
                             const std::function<void(std::string)>& note);

// What all ranks found of step `step` (counted from 1), whose loss or a gradient is not finite, in
// a sentence; the same on every rank. Collective.
std::string diagnose_not_finite(const NotFiniteFindings& mine, std::int64_t step,
                                comm::Communicator& comm);

// The same of weights after step `step`: a step whose loss is finite may leave some that are not.
// Empty: they are. Brings them to rank 0's host. Collective.
std::string diagnose_weights(Engine& engine, std::int64_t step, comm::Communicator& comm);

// Ends a run at such a step: comm::AgreedError. `kept`: the newest checkpoint, whose weights are
// finite; empty: there is none.
[[noreturn]] void throw_not_finite(const comm::Communicator& comm, const std::string& diagnosis,
                                   const std::filesystem::path& kept);

}  // namespace winnow::train
