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

// How far a training run has come.
struct RunPosition {
  std::int64_t done = 0;  // number of steps done
  std::int64_t last = 0;
};

// Ends a run that was asked to stop and has written its checkpoint. Throws comm::AgreedError with
// exit code 75.
[[noreturn]] void throw_stopped(const comm::Communicator& comm, const std::filesystem::path& run,
                                RunPosition at);

// Checks that the run's cache was neither replaced nor removed, because otherwise no checkpoint
// could be resumed. Collective.
// Throws  Error, which names the cache.
// note    At the last step receives the same text instead of an error, because only evaluation
//         still reads the cache.
void require_unchanged_cache(const Job& job, const std::filesystem::path& run, RunPosition at,
                             comm::Communicator& comm,
                             const std::function<void(std::string)>& note);

// Describes, in one user-facing sentence, what all ranks found at a step whose loss or gradient is
// not finite. Collective.
// step  Number of the step, from 1.
// Out   The same on every rank.
std::string diagnose_not_finite(const NotFiniteFindings& mine, std::int64_t step,
                                comm::Communicator& comm);

// Describes weights that are not finite after step `step`; empty if all are finite. A step with a
// finite loss may produce such weights.
// Copies the weights to the host where `looks` is true: on one rank that holds them. Collective.
std::string diagnose_weights(Engine& engine, bool looks, std::int64_t step,
                             comm::Communicator& comm);

// Ends a run whose loss, gradient or weights are not finite: throws comm::AgreedError.
// kept  The newest checkpoint, whose weights are finite; empty if there is none.
[[noreturn]] void throw_not_finite(const comm::Communicator& comm, const std::string& diagnosis,
                                   const std::filesystem::path& kept);

}  // namespace winnow::train
