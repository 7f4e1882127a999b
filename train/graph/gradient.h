#pragma once

#include <string>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Interface with which Operation::gradient appends the backward pass of one forward node.
class GradientBuilder {
 public:
  virtual ~GradientBuilder() = default;

  virtual const Value& value(ValueId id) const = 0;
  // Whether the gradient of value `id` is needed: the loss depends on `id`, and `id` depends on a
  // parameter.
  virtual bool wants(ValueId id) const = 0;
  virtual bool is_loss(ValueId id) const = 0;
  // Returns the gradient of the loss with respect to an output of the forward node; -1 if there is
  // none, as for the loss itself.
  virtual ValueId gradient_of(ValueId output) const = 0;

  // Appends a backward node, named "<forward node>.<what>". Returns its outputs.
  virtual std::vector<ValueId> append(const Operation& op, const std::string& what,
                                      std::vector<ValueId> inputs, Attributes attributes) = 0;
  // Adds `part`, the output of a node just appended, to the gradient of the forward node's input
  // `of`. Names `part` after that input. No further effect if wants(of) is false.
  virtual void add_gradient(ValueId of, ValueId part) = 0;
  // As add_gradient(), but `part` keeps its name, because it may be the gradient of several inputs.
  virtual void pass_gradient(ValueId of, ValueId part) = 0;

  // Throws Error saying that the forward node cannot be differentiated.
  [[noreturn]] virtual void refuse(const std::string& why) const = 0;
};

}  // namespace winnow::train
