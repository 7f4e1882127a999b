#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "common/bytes.h"
#include "train/graph/graph.h"

namespace winnow::train {

// Function that returns the numbers of the parameter or buffer with this name.
using TensorOf = std::function<std::span<const float>(const std::string& name)>;

// Writes a net with its weights as an ONNX model (onnx.proto, IR 8, operator set 17).
//
// graph     For inference.
// metadata  The model's metadata_props.
// Inputs    "pixels" (N,C,H,W) of u8, as decoded: the model normalises them. N is free.
// Outputs   "logits" (N,K) for K classes.
// Tensors   f32, with their names in the graph.
// sink      Receives the bytes in order; its exceptions are passed on.
// Throws    UsageError, before anything is written: an operation has no equivalent in ONNX, or the
//           weights have 2 GiB or more, the limit of Protocol Buffers files.
void write_onnx(const Graph& graph, const TensorOf& tensor_of,
                const std::map<std::string, std::string>& metadata,
                const std::function<void(BytesView)>& sink);

}  // namespace winnow::train
