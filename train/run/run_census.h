#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/sampler.h"
#include "train/plan/batch_layout.h"
#include "train/run/record/census.h"

namespace winnow::train {

// Records which samples a run was computed from, and compares them with those that were due.
class RunCensus {
 public:
  // Begins the record of a run before step `first_step`, counted from 0. `sampler` must outlive
  // this object.
  RunCensus(const pipeline::Sampler& sampler, const BatchLayout& batches, std::int64_t first_step)
      : sampler_(sampler), batches_(batches), gathered_step_(first_step) {}

  // Records the samples of this rank's part of a batch, after the batch was computed. `step`:
  // counted from 0.
  void add(std::int64_t step, const std::vector<SampleId>& ids);

  // Adds to `rows` the samples that all ranks have computed since the last call. `done`: number of
  // steps done. Collective.
  void gather(std::vector<EpochCensus>& rows, std::int64_t done, comm::Communicator& comm);

  // Compares `rows` with the samples that were due, see check_census(). Returns the text of
  // census.json.
  std::string checked_text(const std::vector<EpochCensus>& rows, std::int64_t done);

 private:
  std::uint64_t epoch_samples() const { return static_cast<std::uint64_t>(batches_.samples); }

  const pipeline::Sampler& sampler_;
  BatchLayout batches_;
  std::int64_t gathered_step_;
  std::vector<EpochCensus> seen_;  // samples computed by this rank since gathered_step_
  // Expected samples of epochs 0, 1, 2 ...; filled only by checked_text().
  std::vector<EpochCensus> due_;
};

}  // namespace winnow::train
