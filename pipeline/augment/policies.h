#pragma once

#include <array>
#include <span>

#include "pipeline/augment/sampling.h"

namespace winnow::pipeline {

// One operation of an AutoAugment policy: its probability, and its magnitude as one of 10 bins.
struct PolicyStep {
  Op op = Op::kIdentity;
  double probability = 0;
  int bin = 0;  // bin of the magnitude; 0 for operations without magnitude
};
using SubPolicy = std::array<PolicyStep, 2>;

// The 25 sub-policies of a policy, in torchvision's order.
std::span<const SubPolicy> policy_table(Policy policy) noexcept;

}  // namespace winnow::pipeline
