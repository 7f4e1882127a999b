#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/nets/net_blocks.h"
#include "train/nets/nets.h"

namespace winnow::train {

// A net as data: blocks one after the other (docs/nets.md). Descriptions may come from anywhere;
// these bound what one can ask for. Tensors have the limit of any graph.
inline constexpr int kMostBlocks = 1000;
inline constexpr std::int64_t kMostParameters = std::int64_t{1} << 30;

// One block, or `depth` of them, of which the first has the stride.
struct BlockEntry {
  std::int64_t line = 0;  // of the file, for messages
  const Block* block = nullptr;
  std::string name;  // "layer1", or "features.#", whose '#' counts blocks of that name from 0
  int depth = 0;     // 0: one block, called `name`; else they are called `name`.0, `name`.1, ...
  BlockValues values;
};

struct NetDescription {
  std::string where;  // the file, for messages
  int image_size_px = 224;
  double drop_path = 0;  // rate of the last block that has one; less in proportion before
  std::vector<BlockEntry> entries;
};

// The graph, as Net::make has it.
//
// Throws   UsageError: two tensors of one name, more than kMostParameters.
//          ShapeError: a block that does not fit what is before it. Both name its line.
Graph make_net(const NetDescription& description, const NetOptions& options);

}  // namespace winnow::train
