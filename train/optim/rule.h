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
// and a place in the list of rules.h.
namespace winnow::train {

// One tensor in one step.
struct TensorStep {
  double lr = 0;          // of this tensor: the step's learning rate times the tensor's factor
  std::int64_t step = 0;  // from 0
  bool decay = true;      // false for biases and batch norm: no weight decay, no LARS scaling
  double value_norm = 0;  // L2 norms, where needs_norms()
  double gradient_norm = 0;
};

}  // namespace winnow::train
