#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/builder.h"

namespace winnow::train {

// Local heads (auxiliary classifiers): each stage of a net is trained by a loss of its own, which
// its head computes (Belilovsky et al. 2020, Laskin et al. 2020).

// One kind of local head (auxiliary classifier): a row of local_heads().
struct LocalHead {
  std::string_view name;
  std::string_view what;
  // Adds the layers of a local head (auxiliary classifier), named "<name>.*", on value `x`,
  // (N,C,H,W) or (N,C). Returns the head's logits.
  ValueId (*make)(NetBuilder& net, const std::string& name, ValueId x, std::int64_t classes);
};
std::span<const LocalHead> local_heads();
// Finds a kind of local head (auxiliary classifier) by name. Throws UsageError, which names the
// known kinds.
const LocalHead& find_local_head(std::string_view name);

inline constexpr std::string_view kLocalPrefix = "local.";

// Returns the name of a stage's local head (auxiliary classifier): "local.1" for stage 1, the
// first.
std::string local_head_name(std::size_t stage);

// Whether a name is in the form that tensors, values and nodes of a local head (auxiliary
// classifier) have, such as "local.1.fc.weight".
bool is_named_as_local_head(std::string_view name);

// Whether the forward graph has local heads (auxiliary classifiers of stages).
bool has_local_heads(const Graph& forward);

// Adds a local head (auxiliary classifier) to each of `ends`, which are values of `forward` in
// execution order. Pure.
// Tensors  Named "local.1.*", "local.2.*", ..., after those of the net.
// Inputs   Each head reads the net's targets, and a new input "local.1.weights" and so on.
// Errors   UsageError: a loss that reads no labels; a net that already has such names. ShapeError:
//          one of `ends` does not consist of images.
Graph with_local_heads(Graph forward, const std::vector<ValueId>& ends, const LocalHead& head,
                       const NetOptions& options);

// Largest number of features of the linear layers in the local head (auxiliary classifier)
// "mlp-sr". The published head has 4 C for C channels.
inline constexpr std::int64_t kMostHeadWidth = 1024;

}  // namespace winnow::train
