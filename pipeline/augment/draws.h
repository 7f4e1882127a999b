#pragma once

#include <cstdint>

#include "common/rng.h"

namespace winnow::pipeline {

// Where samplings take their random numbers from, in the order and kinds in which torchvision asks
// torch for them, so that a test can hand both the same.
class Draws {
 public:
  virtual ~Draws() = default;
  virtual std::uint32_t below(std::uint32_t bound) = 0;  // uniform in [0, bound); torch.randint
  virtual float uniform() = 0;  // in [0, 1), a multiple of 2^-24; torch.rand
};

class CounterDraws final : public Draws {
 public:
  explicit CounterDraws(const CounterRng& rng) noexcept : rng_(rng) {}
  std::uint32_t below(std::uint32_t bound) override { return rng_.below(bound); }
  float uniform() override { return static_cast<float>(rng_.next_u32() >> 8) * 0x1.0p-24F; }

 private:
  CounterRng rng_;
};

}  // namespace winnow::pipeline
