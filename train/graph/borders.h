#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Where a forward graph can be cut in two.

// A value that lies on every path from "pixels" to the loss, so that no skip connection crosses it.
// Labels, sample weights, tensors and random keys do not count as paths.
struct Border {
  ValueId value = -1;
  std::size_t nodes = 0;  // nodes [0, nodes) compute it and everything before it

  friend bool operator==(const Border&, const Border&) = default;
};

// All borders of a forward graph in its order, including the image and the input of the loss.
// Throws Error for a graph without pixels or a loss. Pure.
std::vector<Border> find_borders(const Graph& forward);

// The borders where a stage of a net may end. There are multiply-adds before and after each, and
// between any two. If a layer, its norm and its activation all end in borders, it is the last of
// them.
// Errors as find_borders(). Pure.
std::vector<Border> stage_ends(const Graph& forward);

// The cost of a range of nodes.
struct Load {
  double multiply_adds = 0;
  double bytes = 0;  // size of the values they compute, with 4 bytes for an f32 or compute element
  std::int64_t parameters = 0;  // not counting those that an earlier node reads
};
Load load_of(const Graph& graph, std::size_t first_node, std::size_t last_node);

// The border whose value has exactly this name, if there are multiply-adds before and after it;
// else nullopt. Pure.
std::optional<Border> find_border(const Graph& forward, std::string_view value);

// The border where a stage of this name ends: find_border(); otherwise the last border of the
// module "layer1" with multiply-adds before and after it. Pure.
// Throws UsageError if nothing has that name, or if the module continues after its last border. The
// message names the nearest border, or the first and the last one.
Border border_called(const Graph& forward, std::string_view name);

// Cuts a chain of pieces into `stages` so that the costliest stage is as cheap as possible. Pure.
//
// In   `cost[first][last - first - 1]`: cost of a stage of pieces [first, last). `stages`: from 1
//      to the number of pieces.
// Out  The last piece of each stage but the last, ascending; the earliest if there are ties.
// Exact, by dynamic programming.
std::vector<std::size_t> choose_ends(const std::vector<std::vector<double>>& cost,
                                     std::size_t stages);

// As choose_ends(), but the costliest two neighbouring stages together become as cheap as possible.
// With one stage there is nothing to choose.
std::vector<std::size_t> choose_ends_of_neighbours(const std::vector<std::vector<double>>& cost,
                                                   std::size_t stages);

}  // namespace winnow::train
