#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "common/bytes.h"
#include "train/graph/graph.h"

namespace winnow::train {

// The numbers of a parameter or buffer, by its name.
using TensorOf = std::function<std::span<const float>(const std::string& name)>;

// Writes a net with its weights as an ONNX model (onnx.proto, IR 8, operator set 17).
//
// In        A graph for inference. `metadata`: the model's metadata_props.
// Inputs    "pixels" (N,C,H,W) of u8, as decoded: the graph normalises them. N is free.
// Outputs   "logits" (N,K).
// Tensors   f32, under their names in the graph.
// sink      Takes the bytes in order; what it throws is passed on.
// Throws    UsageError where an operation has no form in ONNX, or the weights are of 2 GiB or more,
//           which a file of Protocol Buffers cannot hold. Before anything is written.
void write_onnx(const Graph& graph, const TensorOf& tensor_of,
                const std::map<std::string, std::string>& metadata,
                const std::function<void(BytesView)>& sink);

}  // namespace winnow::train
