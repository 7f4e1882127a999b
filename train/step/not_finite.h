#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/agreement.h"
#include "common/sample.h"

namespace winnow::train {

// What one rank knows of a step whose sums are not finite.
struct NotFiniteFindings {
  bool loss_is_finite = true;       // of this rank's micro-batches
  std::vector<SampleId> samples{};  // of this rank, whose loss is not finite
  std::string tensor{};             // first in backward order whose sum is not finite; empty: none
  double loss_scale = 1;            // that the step was computed with
};

// A step's loss or a gradient is not finite. Thrown on every rank, before anything has changed.
class NotFiniteError : public comm::AgreedError {
 public:
  explicit NotFiniteError(NotFiniteFindings findings)
      : AgreedError("the loss or a gradient is not finite", 1), findings_(std::move(findings)) {}
  const NotFiniteFindings& findings() const noexcept { return findings_; }

 private:
  NotFiniteFindings findings_;
};

// One rank's share of the diagnosis, as rank 0 knows it.
struct NotFiniteRank {
  bool loss_is_finite = true;
  std::uint64_t samples = 0;        // whose loss is not finite
  std::vector<SampleId> first_ids;  // the first of them
};

// "step 13: the loss is not finite on rank 1 (samples 4, 17 and 3 more) ...". `step` counts from 1.
// Pure.
std::string describe_not_finite(std::int64_t step, const std::vector<NotFiniteRank>& ranks,
                                const std::string& tensor, double loss_scale = 1);

}  // namespace winnow::train
