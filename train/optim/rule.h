#pragma once

#include <cstdint>

#include "train/tensor/device_function.h"

// Interface of an optimiser's update rule: a trivially copyable struct whose members are the values
// of its options. rules.h lists all rules. The same code is compiled for the host and, by nvcc, for
// the device.
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
// A rule whose step depends on the norm of its own direction (LAMB) has two more functions. Its
// state is updated by accumulate(), not by update(), before the norm is known:
//
//   accumulate(factors, gradient, state)     updates the state of one element
//   direction(factors, value, state)         direction of one element, from the updated state; its
//                                            norm over the tensor is step.direction_norm in the
//                                            factors for update()
namespace winnow::train {

// Facts about one tensor in one step, from which a rule computes its factors.
struct TensorStep {
  double lr = 0;  // learning rate of this tensor: the step's rate times the tensor's lr_scale
  std::int64_t step = 0;  // number of the step, from 0
  // Whether weight decay and LARS scaling apply; false for biases and batch norm.
  bool decay = true;
  double value_norm = 0;  // L2 norm of the weights; set only if needs_norms()
  double gradient_norm = 0;
  // L2 norm of the step's direction, for rules with direction(); gradient_norm is then not set.
  double direction_norm = 0;
};

template <class Rule>
concept HasDirection = requires {
  &Rule::direction;
};

// base^exponent by repeated squaring. Host and device get the same bits, which std::pow() does not
// guarantee.
WINNOW_DEVICE_FN double whole_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

}  // namespace winnow::train
