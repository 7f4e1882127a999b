#pragma once

#include <cstdint>
#include <span>

namespace winnow::train {

// Seconds of a step of one rank, by what they go into. They add up to the step.
struct StepSeconds {
  double forward = 0;  // with loss
  double backward = 0;
  double sums = 0;    // of gradients over micro-batches and lanes
  double update = 0;  // of weights, and packing them for kernels
  double data = 0;    // waiting for a batch
  double ranks = 0;   // waiting for other ranks
  double idle = 0;    // lanes that wait for each other

  double total() const noexcept { return forward + backward + sums + update + data + ranks + idle; }
  StepSeconds& operator+=(const StepSeconds& other) noexcept;
  StepSeconds operator*(double factor) const noexcept;
};

// The step in the middle, by what the whole step took. In  at least one.
StepSeconds median_step(std::span<const StepSeconds> steps);

// How a rank's step is laid out.
struct StepForm {
  std::int64_t micro_batch = 1;
  std::int64_t micro_batches = 1;  // of the rank
  int lanes = 1;

  // Micro-batches that the busiest lane works off one after the other.
  std::int64_t rounds() const noexcept { return (micro_batches + lanes - 1) / lanes; }
};

// What a step of the form `wanted` takes, as one of the form `measured` took `seconds`: forward and
// backward and what lanes wait in proportion to rounds and to samples, sums in proportion to
// rounds; the update is the same. Waits for ranks and data are left as they are. Pure.
StepSeconds scaled_step(const StepSeconds& seconds, const StepForm& measured,
                        const StepForm& wanted) noexcept;

}  // namespace winnow::train
