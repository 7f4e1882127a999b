#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/agreement.h"
#include "common/sample.h"

namespace winnow::train {

// Findings of one rank about a step whose sums of losses and gradients are not all finite.
struct NotFiniteFindings {
  bool loss_is_finite = true;       // whether the losses of this rank's micro-batches are finite
  std::vector<SampleId> samples{};  // ids of this rank's samples whose loss is not finite
  // First tensor in backward order whose gradient sum is not finite; empty: none.
  std::string tensor{};
  double loss_scale = 1;  // loss scale used in the step
};

// Error: the loss or a gradient of a step is not finite. Thrown on every rank, before the weights
// were changed.
class NotFiniteError : public comm::AgreedError {
 public:
  explicit NotFiniteError(NotFiniteFindings findings)
      : AgreedError("the loss or a gradient is not finite", 1), findings_(std::move(findings)) {}
  const NotFiniteFindings& findings() const noexcept { return findings_; }

 private:
  NotFiniteFindings findings_;
};

// Findings of one rank, as gathered on rank 0.
struct NotFiniteRank {
  bool loss_is_finite = true;
  std::uint64_t samples = 0;        // number of samples whose loss is not finite
  std::vector<SampleId> first_ids;  // ids of the first few of these samples
};

// Returns a message such as "step 13: the loss is not finite on rank 1 (samples 4, 17 and 3 more)
// ...". `step` counts from 1. Pure. Each contains "not finite", by which a log is recognised as
// that of a run that diverged (app/experiment/train_jobs.h).
std::string describe_not_finite(std::int64_t step, const std::vector<NotFiniteRank>& ranks,
                                const std::string& tensor, double loss_scale = 1);

}  // namespace winnow::train
