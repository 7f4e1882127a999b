#pragma once

#include <cstdint>

#include "train/tensor/device_function.h"

// What an optimiser's rule is made of. A rule is a trivially copyable struct; its members are the
// values of its options. The same lines are compiled for the host and, by nvcc, for the card. It
// has
//   kName, kWhat     name and line of help
//   kOptions         array of Option
//   kSlots           array of names: vectors of state that each parameter has, of its length, zero
//                    before the first step; checkpoints store "<slot>.<parameter>"
//   from(chosen)     the rule with these ChosenOptions
//   needs_norms(decay)   whether TensorStep has to hold norms
//   Factors          an aggregate without initial values
//   factors(step)    computed once a tensor and step
//   update(factors, gradient, value, state)   one element; state[k] belongs to kSlots[k]
// and a place in the list of rules.h. A rule whose step depends on the norm of its own direction
// (LAMB) has two functions more. Its state is changed before the norm is known, not by update():
//   accumulate(factors, gradient, state)      changes the state of one element
//   direction(factors, value, state)          of one element, by the changed state; |direction| of
//                                             the tensor is step.direction_norm in the factors that
//                                             update() gets
namespace winnow::train {

// One tensor in one step.
struct TensorStep {
  double lr = 0;          // of this tensor: the step's learning rate times the tensor's factor
  std::int64_t step = 0;  // from 0
  bool decay = true;      // false for biases and batch norm: no weight decay, no LARS scaling
  double value_norm = 0;  // L2 norms, where needs_norms()
  double gradient_norm = 0;
  double direction_norm = 0;  // of rules with a direction(), in place of gradient_norm
};

template <class Rule>
concept HasDirection = requires {
  &Rule::direction;
};

// base^exponent by squarings: host and card get the same bits, which their libraries' pow() need
// not give.
WINNOW_DEVICE_FN double whole_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

}  // namespace winnow::train
