#pragma once

#include <optional>

#include "common/expected.h"
#include "common/image.h"
#include "pipeline/decode/decode.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// The pixels of a record (of several variants, the first), decoded as its cache's `settings` say,
// or why there are none. Safe from many threads.
// At `scale` as decode() does it, bare pixels too.
Expected<Image, DecodeError> pixels_of(const RecordView& record, DecodeSettings settings,
                                       int scale = 1);

// The same as people and comparisons see it (upon_gray.h). Bare pixels, and smaller ones that were
// stored, have lost their alpha.
Expected<Image, DecodeError> seen_pixels_of(const RecordView& record, DecodeSettings settings,
                                            int scale);

// The image made smaller so that its longer side is `side_px`; nothing where it fits as it is.
// Pure.
std::optional<Image> shrunk_to(ImageView image, int side_px);

}  // namespace winnow::pipeline
