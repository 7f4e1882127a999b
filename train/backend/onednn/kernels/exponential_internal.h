#pragma once

#include "train/backend/onednn/kernels/base_internal.h"

namespace winnow::train::kernels::WINNOW_ISA {
namespace {

// exp(x) with an error of at most two units in the last place: 2^n times a polynomial of the
// remainder. Results outside the normal range of f32 become 0 or infinity. NaN stays NaN.
inline Floats exponential(Floats x) {
  const Floats least_x = Floats{} - 87.0F;
  const Floats greatest_x = Floats{} + 88.0F;
  const Ints below = x < least_x;
  const Ints beyond = x > greatest_x;
  x = below ? least_x : x;
  x = beyond ? greatest_x : x;
  const Floats scaled = x * 1.44269504088896341F;  // log2(e)
  const Floats half = Floats{} + 0.5F;
  const Ints n = __builtin_convertvector(scaled + (scaled > 0 ? half : -half), Ints);
  const Floats whole = __builtin_convertvector(n, Floats);
  const Floats r = (x - whole * 0.693359375F) - whole * -2.12194440e-4F;  // ln(2) in two parts
  Floats p = Floats{} + 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const Floats y = p * (Floats)((n + 127) << 23);
  return below ? Floats{} : (beyond ? Floats{} + __builtin_inff() : y);
}

}  // namespace
}  // namespace winnow::train::kernels::WINNOW_ISA
