#pragma once

#include <vector>

#include "train/backend/lower/copy_channels_kernels.h"
#include "train/backend/lower/node_arguments.h"

namespace winnow::train {

// Source and destination memory of a copy of channels, and the index of the first copied channel in
// each.
struct CopiedChannels {
  Slots::Id from, to;
  std::int64_t from_first = 0, to_first = 0;
};
// Completes `made` with the addresses of source and destination.
Fill<kernels::CopyChannels> copy_arguments(const kernels::CopyChannels& made,
                                           const CopiedChannels& copied);

std::vector<Fill<kernels::CopyChannels>> concat_arguments(ValuePlaces& places, const Node& node);
Fill<kernels::CopyChannels> slice_arguments(ValuePlaces& places, const Node& node);

}  // namespace winnow::train
