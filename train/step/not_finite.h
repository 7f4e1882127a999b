#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/comm/agreement.h"
#include "common/sample.h"

namespace winnow::train {

// Findings of one rank about a step whose sums are not all finite.
struct NotFiniteFindings {
  bool loss_is_finite = true;       // for this rank's micro-batches
  std::vector<SampleId> samples{};  // this rank's samples whose loss is not finite
  std::string tensor{};   // the first tensor in backward order whose sum is not finite; empty: none
  double loss_scale = 1;  // used in the step
};

// The loss or a gradient of a step is not finite. Thrown on every rank, before anything was
// changed.
class NotFiniteError : public comm::AgreedError {
 public:
  explicit NotFiniteError(NotFiniteFindings findings)
      : AgreedError("the loss or a gradient is not finite", 1), findings_(std::move(findings)) {}
  const NotFiniteFindings& findings() const noexcept { return findings_; }

 private:
  NotFiniteFindings findings_;
};

// One rank's part of the diagnosis, as rank 0 sees it.
struct NotFiniteRank {
  bool loss_is_finite = true;
  std::uint64_t samples = 0;        // number with a loss that is not finite
  std::vector<SampleId> first_ids;  // the first of them
};

// A message such as "step 13: the loss is not finite on rank 1 (samples 4, 17 and 3 more) ...".
// `step` counts from 1. Pure.
std::string describe_not_finite(std::int64_t step, const std::vector<NotFiniteRank>& ranks,
                                const std::string& tensor, double loss_scale = 1);

}  // namespace winnow::train
