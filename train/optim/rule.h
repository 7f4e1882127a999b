#pragma once

#include <cstdint>

#include "train/tensor/device_function.h"

// Interface of an optimiser's rule: a trivially copyable struct whose members are the values of its
// options, listed in rules.h. The same code is compiled for the host and, by nvcc, for the device.
//
//   kName, kWhat                             name, and one line of help
//   kOptions                                 array of Option
//   kSlots                                   array of names: state vectors of each parameter, of
//                                            its length, zero before the first step; checkpoints
//                                            store "<slot>.<parameter>"
//   from(chosen)                             the rule with these ChosenOptions
//   needs_norms(decay)                       whether TensorStep must hold norms
//   Factors                                  an aggregate without initial values
//   factors(step)                            computed once per tensor and step
//   update(factors, gradient, value, state)  updates one element; state[k] belongs to kSlots[k]
//
// A rule whose step depends on the norm of its own direction (LAMB) has two more functions. They
// update its state before the norm is known, instead of update():
//
//   accumulate(factors, gradient, state)     updates the state of one element
//   direction(factors, value, state)         direction of one element, from the updated state; its
//                                            norm over the tensor is step.direction_norm in the
//                                            factors for update()
namespace winnow::train {

// One tensor in one step.
struct TensorStep {
  double lr = 0;          // for this tensor: the step's learning rate times lr_scale
  std::int64_t step = 0;  // from 0
  bool decay = true;      // false for biases and batch norm: no weight decay, no LARS scaling
  double value_norm = 0;  // L2 norms, if needs_norms()
  double gradient_norm = 0;
  double direction_norm = 0;  // for rules with a direction(), instead of gradient_norm
};

template <class Rule>
concept HasDirection = requires {
  &Rule::direction;
};

// base^exponent by repeated squaring. Host and device get the same bits, which their pow()
// functions do not guarantee.
WINNOW_DEVICE_FN double whole_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

}  // namespace winnow::train
