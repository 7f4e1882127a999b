#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/nets/net_blocks.h"
#include "train/nets/nets.h"

namespace winnow::train {

// A net as data: a sequence of blocks (docs/nets.md). Descriptions are untrusted input; these
// limits bound their cost. Tensors have the same limit as in any graph.
inline constexpr int kMostBlocks = 1000;
inline constexpr std::int64_t kMostParameters = std::int64_t{1} << 30;

// A block, or a sequence of `depth` equal blocks, of which only the first has the stride.
struct BlockEntry {
  std::int64_t line = 0;  // line in the net file, for messages
  const Block* block = nullptr;
  // "layer1", or "features.#", where '#' stands for the number of the block among those of that
  // name, from 0.
  std::string name;
  int depth = 0;  // number of blocks, called `name`.0, `name`.1, ...; 0: one block, called `name`
  BlockValues values;
};

struct NetDescription {
  std::string where;  // path of the net file, for messages
  int image_size_px = 224;
  // Probability of drop path (stochastic depth) in the last block that has one; it grows linearly
  // from 0 at the first.
  double drop_path = 0;
  std::vector<BlockEntry> entries;
};

// Builds the graph of a described net, as Net::make does for built-in nets.
//
// Errors  UsageError: two tensors of one name, or more than kMostParameters. ShapeError: a block
//         that does not fit the one before it. Both name the line.
Graph make_net(const NetDescription& description, const NetOptions& options);

}  // namespace winnow::train
