#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/sampler.h"
#include "train/plan/batch_layout.h"
#include "train/run/record/census.h"

namespace winnow::train {

// The census of a running run: the samples this rank has seen, and those that were due.
class RunCensus {
 public:
  // The run starts or resumes after `first_step` steps. `sampler` must outlive this.
  RunCensus(const pipeline::Sampler& sampler, const BatchLayout& batches, std::int64_t first_step)
      : sampler_(sampler), batches_(batches), gathered_step_(first_step) {}

  // Records this rank's part of the batch of step `step`, counted from 0, when it was computed.
  void add(std::int64_t step, const std::vector<SampleId>& ids);

  // Adds to `rows` what all ranks have seen since the last call; `done` steps are done. Collective.
  void gather(std::vector<EpochCensus>& rows, std::int64_t done, comm::Communicator& comm);

  // Compares `rows` with what was due (see check_census), and returns the text of census.json.
  std::string checked_text(const std::vector<EpochCensus>& rows, std::int64_t done);

 private:
  std::uint64_t epoch_samples() const { return static_cast<std::uint64_t>(batches_.samples); }

  const pipeline::Sampler& sampler_;
  BatchLayout batches_;
  std::int64_t gathered_step_;
  std::vector<EpochCensus> seen_;  // by this rank, since gathered_step_
  std::vector<EpochCensus> due_;   // for epochs 0, 1, 2 ...; only if checked_text() is called
};

}  // namespace winnow::train
