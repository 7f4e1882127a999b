#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Where a forward graph can be cut in two.

// A value that lies on every path from the input "pixels" to the loss, so that no skip connection
// crosses it. Paths from labels, sample weights, tensors and random keys do not count.
struct Border {
  ValueId value = -1;
  // Number of nodes before the cut: nodes [0, nodes) compute the value and everything before it.
  std::size_t nodes = 0;

  friend bool operator==(const Border&, const Border&) = default;
};

// Finds all borders (places where the graph can be cut in two) of a forward graph, in execution
// order. The image and the input of the loss are among them. Pure.
// Throws  Error for a graph without pixels or a loss.
std::vector<Border> find_borders(const Graph& forward);

// Finds the borders (places to cut) where a stage may end, a part of the net that is trained by its
// own loss. Every stage then has multiply-adds. If a layer, its norm and its activation all end in
// borders, only the last of the three counts. Pure.
// Throws  As find_borders().
std::vector<Border> stage_ends(const Graph& forward);

// Cost of a range of nodes.
struct Load {
  double multiply_adds = 0;
  // Size of the values that the nodes compute, with 4 bytes for an f32 or compute element.
  double bytes = 0;
  // Number of parameter elements, without those that a node before the range reads too.
  std::int64_t parameters = 0;
};
Load load_of(const Graph& graph, std::size_t first_node, std::size_t last_node);

// Finds the border whose value has exactly the name `value`. nullopt if there is none, or if no
// multiply-adds come before or after it. Pure.
std::optional<Border> find_border(const Graph& forward, std::string_view value);

// Finds the border (place to cut) where a stage called `name` ends. Pure.
// In      The name of a value, as for find_border(); or of a module, such as "layer1", for its last
//         border with multiply-adds before and after it.
// Throws  UsageError if nothing has that name, or if the module continues after its last border.
//         The message names the nearest border, or the first and the last one.
Border border_called(const Graph& forward, std::string_view name);

// Cuts a sequence of pieces into `stages` contiguous stages so that the costliest stage is as cheap
// as possible. Exact, by dynamic programming. Pure.
//
// In   `cost[first][last - first - 1]`: cost of a stage of pieces [first, last). `stages`: from 1
//      to the number of pieces.
// Out  The last piece of each stage except the final one, ascending; the earliest cuts in a tie.
std::vector<std::size_t> choose_ends(const std::vector<std::vector<double>>& cost,
                                     std::size_t stages);

// As choose_ends(), but minimises the cost of the costliest two neighbouring stages together. With
// one stage there is nothing to choose.
std::vector<std::size_t> choose_ends_of_neighbours(const std::vector<std::vector<double>>& cost,
                                                   std::size_t stages);

}  // namespace winnow::train
