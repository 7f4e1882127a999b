#pragma once

#include <string>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Interface of Operation::gradient: the backward pass at one forward node.
class GradientBuilder {
 public:
  virtual ~GradientBuilder() = default;

  virtual const Value& value(ValueId id) const = 0;
  // Whether the loss depends on `id` and `id` on a parameter. If not, its gradient is not needed.
  virtual bool wants(ValueId id) const = 0;
  virtual bool is_loss(ValueId id) const = 0;
  // The gradient of the loss with respect to an output of the node; -1 if there is none, as for the
  // loss itself.
  virtual ValueId gradient_of(ValueId output) const = 0;

  // Appends a backward node, named "<forward node>.<what>".
  virtual std::vector<ValueId> append(const Operation& op, const std::string& what,
                                      std::vector<ValueId> inputs, Attributes attributes) = 0;
  // Adds `part`, the output of a node just appended, to the gradient of the input `of`, and names
  // it after that input. No further effect if the gradient is not wanted.
  virtual void add_gradient(ValueId of, ValueId part) = 0;
  // As add_gradient(), but `part` keeps its name, since it may be passed to several inputs.
  virtual void pass_gradient(ValueId of, ValueId part) = 0;

  // Throws Error: the node cannot be differentiated.
  [[noreturn]] virtual void refuse(const std::string& why) const = 0;
};

}  // namespace winnow::train
