#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/builder.h"

namespace winnow::train {

// Auxiliary heads: each stage of a net learns by a loss of its own, computed by its head
// (Belilovsky et al. 2020, Laskin et al. 2020).

// A row of the table of heads.
struct LocalHead {
  std::string_view name;
  std::string_view what;
  // Adds the layers "<name>.*" of a head on `x`, (N,C,H,W) or (N,C), and returns its logits.
  ValueId (*make)(NetBuilder& net, const std::string& name, ValueId x, std::int64_t classes);
};
std::span<const LocalHead> local_heads();
const LocalHead& find_local_head(std::string_view name);  // UsageError naming the known ones

inline constexpr std::string_view kLocalPrefix = "local.";

// "local.1" for stage 1, the first.
std::string local_head_name(std::size_t stage);

// Whether the name could be that of a head's tensor, value or node, such as "local.1.fc.weight".
bool is_named_as_local_head(std::string_view name);

// Whether the forward graph has heads of stages.
bool has_local_heads(const Graph& forward);

// Adds a head to each of `ends`, which are values of `forward` in its order. Pure.
// Tensors  "local.1.*", "local.2.*", ..., after those of the net.
// Inputs   Each head reads the net's targets, and a new input "local.1.weights" and so on.
// Errors   UsageError: a loss that reads no labels; a net that already uses names of heads.
//          ShapeError: a value that does not consist of images.
Graph with_local_heads(Graph forward, const std::vector<ValueId>& ends, const LocalHead& head,
                       const NetOptions& options);

// The widest linear layer of the head "mlp-sr"; the published one has 4 C.
inline constexpr std::int64_t kMostHeadWidth = 1024;

}  // namespace winnow::train
