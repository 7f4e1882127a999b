#pragma once

#include <array>
#include <span>

#include "pipeline/augment/sampling.h"

namespace winnow::pipeline {

// A step of an AutoAugment policy: its probability, and the bin of 10 magnitudes.
struct PolicyStep {
  Op op = Op::kIdentity;
  double probability = 0;
  int bin = 0;  // 0 for operations without magnitude
};
using SubPolicy = std::array<PolicyStep, 2>;

// torchvision's 25 sub-policies, in its order.
std::span<const SubPolicy> policy_table(Policy policy) noexcept;

}  // namespace winnow::pipeline
