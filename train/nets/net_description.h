#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/nets/net_blocks.h"
#include "train/nets/nets.h"

namespace winnow::train {

// A net as data: a sequence of blocks (docs/nets.md). Descriptions are untrusted; these limits
// bound what one can request. Tensors have the same limit as in any graph.
inline constexpr int kMostBlocks = 1000;
inline constexpr std::int64_t kMostParameters = std::int64_t{1} << 30;

// One block, or a sequence of `depth` blocks. The first of them has the stride.
struct BlockEntry {
  std::int64_t line = 0;  // in the file, for messages
  const Block* block = nullptr;
  std::string name;  // "layer1", or "features.#", whose '#' counts the blocks of that name from 0
  int depth = 0;     // 0: one block, called `name`; else `name`.0, `name`.1, ...
  BlockValues values;
};

struct NetDescription {
  std::string where;  // the file, for messages
  int image_size_px = 224;
  double drop_path = 0;  // rate of the last block that has one; proportionally less before it
  std::vector<BlockEntry> entries;
};

// Builds the graph, as Net::make does.
//
// Errors  UsageError: two tensors of one name, more than kMostParameters. ShapeError: a block that
//         does not fit the one before it. Both name the line.
Graph make_net(const NetDescription& description, const NetOptions& options);

}  // namespace winnow::train
