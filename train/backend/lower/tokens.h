#pragma once

#include <optional>

#include "train/backend/lower/bias_kernels.h"
#include "train/backend/lower/concat.h"
#include "train/backend/lower/lowering.h"
#include "train/ops/tokens.h"

// Emits the operations of train/ops/tokens.h as calls of kernels that copy and add rows. The tokens
// of a sample are one row of tokens * features elements. `Table`: the backend's kernels.
namespace winnow::train {

template <class Target, class Table>
void emit_tokens(Lowering<Target>& lowering, const Table& table, const Node& node) {
  const ValueId result = node.outputs[0];
  const Element type = lowering.element(result);
  const std::int64_t batch = lowering.value(result).shape[0];
  const std::int64_t features = lowering.value(result).shape[1];
  const std::int64_t row = lowering.count(result) / batch;
  const Slots::Id x = lowering.read(node.inputs[0], type);
  const Slots::Id first = lowering.read(node.inputs[1], type);
  const Slots::Id position = lowering.read(node.inputs[2], Element::kF32);
  const Slots::Id y = lowering.write(result, type);
  lowering.kernel(table.copy_channels,
                  copy_arguments({type, batch, features, nullptr, 0, nullptr, row}, {first, y}));
  const std::int64_t patches = row - features;
  lowering.kernel(
      table.copy_channels,
      copy_arguments({type, batch, patches, nullptr, patches, nullptr, row}, {x, y, 0, features}));
  lowering.kernel(table.add_bias, [=](const Slots& at) {
    return kernels::AddBias{type, at.at(y), at.as<float>(position), batch, row};
  });
}

// Emits the backward pass of a tokens node.
// sums  Scratch memory of table.bias_gradient, for as many rows as there are samples.
template <class Target, class Table>
void emit_tokens_backward(Lowering<Target>& lowering, const Table& table, const Node& node,
                          std::optional<Slots::Id> sums) {
  const Element type = lowering.element(node.inputs[0]);
  const std::int64_t batch = lowering.value(node.inputs[0]).shape[0];
  const std::int64_t features = lowering.value(node.inputs[0]).shape[1];
  const std::int64_t row = lowering.count(node.inputs[0]) / batch;
  const Slots::Id dy = lowering.read(node.inputs[0], type);
  const Slots::Id dx = lowering.write(node.outputs[0], type);
  const Slots::Id dfirst = lowering.write(node.outputs[1], Element::kF32);
  const Slots::Id dposition = lowering.write(node.outputs[2], Element::kF32);
  const std::int64_t patches = row - features;
  lowering.kernel(table.copy_channels,
                  copy_arguments({type, batch, patches, nullptr, row, nullptr, patches},
                                 {dy, dx, features, 0}));
  lowering.kernel(table.bias_gradient, [=](const Slots& at) {
    return kernels::BiasGradient{type,  at.at(dy), at.as<float>(dposition),
                                 batch, row,       sums ? at.at(*sums) : nullptr};
  });
  lowering.kernel(table.copy_channels,
                  copy_arguments({Element::kF32, 1, features, nullptr, features, nullptr, features},
                                 {dposition, dfirst}));
}

template <class Target, class Table>
void emit_select_token(Lowering<Target>& lowering, const Table& table, const Node& node) {
  const ValueId result = node.outputs[0];
  const Element type = lowering.element(result);
  const Shape& y = lowering.value(result).shape;
  const std::int64_t row = lowering.count(node.inputs[0]) / y[0];
  const Slots::Id from = lowering.read(node.inputs[0], type);
  const Slots::Id to = lowering.write(result, type);
  lowering.kernel(table.copy_channels,
                  copy_arguments({type, y[0], y[1], nullptr, row, nullptr, y[1]}, {from, to}));
}

template <class Target, class Table>
void emit_select_token_backward(Lowering<Target>& lowering, const Table& table, const Node& node) {
  const ValueId result = node.outputs[0];
  const Element type = lowering.element(result);
  const Shape& dy = lowering.value(node.inputs[0]).shape;
  const std::int64_t row = lowering.count(result) / dy[0];
  const Slots::Id from = lowering.read(node.inputs[0], type);
  const Slots::Id to = lowering.write(result, type);
  lowering.kernel(table.pad_channels,
                  copy_arguments({type, dy[0], dy[1], nullptr, dy[1], nullptr, row}, {from, to}));
}

}  // namespace winnow::train
