#pragma once

#include <cstdint>
#include <span>

namespace winnow::train {

// Seconds of a step of one rank, divided by purpose. The parts sum to the whole step.
struct StepSeconds {
  double forward = 0;  // forward pass, including the loss
  double backward = 0;
  double sums = 0;    // summing gradients over micro-batches and lanes (program replicas)
  double update = 0;  // update of the weights, and packing them for kernels
  double data = 0;    // waiting for a batch to be loaded
  double ranks = 0;   // waiting for other ranks
  double idle = 0;    // lanes (program replicas) waiting for each other

  double total() const noexcept { return forward + backward + sums + update + data + ranks + idle; }
  StepSeconds& operator+=(const StepSeconds& other) noexcept;
  StepSeconds operator*(double factor) const noexcept;
};

// Returns the median step, by total time. `steps` must not be empty.
StepSeconds median_step(std::span<const StepSeconds> steps);

// Size of a rank's step.
struct StepForm {
  std::int64_t micro_batch = 1;
  std::int64_t micro_batches = 1;  // number of micro-batches that the rank computes
  int lanes = 1;

  // Number of micro-batches that the busiest lane (program replica) computes one after the other.
  std::int64_t rounds() const noexcept { return (micro_batches + lanes - 1) / lanes; }
};

// Estimates the time of a step of form `wanted`, from a step of form `measured` that took
// `seconds`. Pure.
// forward, backward, idle  Proportional to rounds and to samples.
// sums                     Proportional to rounds.
// update, ranks, data      Unchanged.
StepSeconds scaled_step(const StepSeconds& seconds, const StepForm& measured,
                        const StepForm& wanted) noexcept;

}  // namespace winnow::train
