#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Where a forward graph can be cut in two.

// A value that everything which follows goes through: every path from "pixels" to the loss has it.
// No skip connection crosses it. Labels, sample weights, tensors and keys of random numbers do not
// count as paths.
struct Border {
  ValueId value = -1;
  std::size_t nodes = 0;  // nodes [0, nodes) compute it and all that is before it

  friend bool operator==(const Border&, const Border&) = default;
};

// All borders of a forward graph, in its order, the image and what the loss is made of included.
// Throws Error for a graph without pixels or a loss. Pure.
std::vector<Border> find_borders(const Graph& forward);

// The borders where a stage of a net may end: multiply-adds are done before it and behind it, and
// some between two of them. Where a layer, its norm and its activation all end in borders, it is
// the last of them. Throws as find_borders(). Pure.
std::vector<Border> stage_ends(const Graph& forward);

// The cost of some nodes of a graph.
struct Load {
  double multiply_adds = 0;
  double bytes = 0;             // of the values they compute, at 4 bytes an f32 or compute element
  std::int64_t parameters = 0;  // that no earlier node reads
};
Load load_of(const Graph& graph, std::size_t first_node, std::size_t last_node);

// The border whose value has exactly this name, with multiply-adds before it and behind it. Pure.
std::optional<Border> find_border(const Graph& forward, std::string_view value);

// The border that a stage of this name ends at: find_border(), or else the last border of the
// module "layer1" with multiply-adds before it and behind it.
// Throws   UsageError: there is none of that name, or the module goes on behind its last border; it
//          names the nearest, or the first and the last. Pure.
Border border_called(const Graph& forward, std::string_view name);

// Cuts a chain of pieces into `stages` so that the most costly stage costs least.
//
// In      `cost[first][last - first - 1]`: of a stage of pieces [first, last)
//         `stages`: from 1 to as many as there are pieces
// Out     the pieces that a stage but the last ends with, ascending; of equals the earliest
// Exact, by dynamic programming. Pure.
std::vector<std::size_t> choose_ends(const std::vector<std::vector<double>>& cost,
                                     std::size_t stages);

// As choose_ends(), so that the most costly two neighbouring stages, which cost their sum, cost
// least. One stage alone has no choice.
std::vector<std::size_t> choose_ends_of_neighbours(const std::vector<std::vector<double>>& cost,
                                                   std::size_t stages);

}  // namespace winnow::train
