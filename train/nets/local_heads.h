#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/builder.h"

namespace winnow::train {

// Heads that stages of a net learn by where each has a loss of its own (Belilovsky et al. 2020,
// Laskin et al. 2020).

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

// "local.1", of the first stage's head.
std::string local_head_name(std::size_t stage);

// Whether a tensor, a value or a node of a head may have this name: "local.1.fc.weight".
bool is_named_as_local_head(std::string_view name);

// Whether stages of a forward graph learn by heads.
bool has_local_heads(const Graph& forward);

// The forward graph of a net with a head on each of `ends`, values of it in its order: their
// tensors are "local.1.*", "local.2.*", ..., behind those of the net. Each reads the net's targets,
// and an input "local.1.weights". Pure.
// Throws  UsageError for a loss that reads no labels, and for a net with names as heads have them;
//         ShapeError for a value that is none of images
Graph with_local_heads(Graph forward, const std::vector<ValueId>& ends, const LocalHead& head,
                       const NetOptions& options);

// The widest linear layer of the head "mlp-sr", where the published one has 4 C.
inline constexpr std::int64_t kMostHeadWidth = 1024;

}  // namespace winnow::train
