#pragma once

#include <optional>

#include "common/expected.h"
#include "common/image.h"
#include "pipeline/decode/decode.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// The pixels of a record (of several variants, the first), decoded with its cache's `settings`, or
// the reason why there are none. Thread-safe.
// scale  As for decode(); applies to raw pixels, too.
Expected<Image, DecodeError> pixels_of(const RecordView& record, DecodeSettings settings,
                                       int scale = 1);

// pixels_of() as people and comparisons see the picture (upon_gray.h). Raw pixels, and images
// stored at reduced size, have no alpha.
Expected<Image, DecodeError> seen_pixels_of(const RecordView& record, DecodeSettings settings,
                                            int scale);

// The image reduced so that its longer side is `side_px`; nullopt if it already fits. Pure.
std::optional<Image> shrunk_to(ImageView image, int side_px);

}  // namespace winnow::pipeline
