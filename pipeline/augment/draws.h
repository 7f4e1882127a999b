#pragma once

#include <cstdint>

#include "common/rng.h"

namespace winnow::pipeline {

// Source of random numbers for augmentation. Numbers are requested in the order and of the kinds
// that torchvision requests from torch, so that a test can give both the same numbers.
class Draws {
 public:
  virtual ~Draws() = default;
  // A uniform integer in [0, bound), like torch.randint.
  virtual std::uint32_t below(std::uint32_t bound) = 0;
  virtual float uniform() = 0;  // uniform in [0, 1), a multiple of 2^-24, like torch.rand
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
