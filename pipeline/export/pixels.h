#pragma once

#include <optional>

#include "common/expected.h"
#include "common/image.h"
#include "pipeline/decode/decode.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {

// The pixels of a stored record, decoded with the cache's `settings`, or the error. Of several
// variants, the first. Thread-safe.
// scale  as for decode(); applies to raw pixels, too
Expected<Image, DecodeError> pixels_of(const RecordView& record, DecodeSettings settings,
                                       int scale = 1);

// pixels_of() as people see the picture, with transparency composed on gray (upon_gray.h). Raw
// pixels, and images stored at reduced size, have no alpha.
Expected<Image, DecodeError> seen_pixels_of(const RecordView& record, DecodeSettings settings,
                                            int scale);

// Downscales the image so that its longer side is `side_px`; nullopt if it already fits. Pure.
std::optional<Image> shrunk_to(ImageView image, int side_px);

}  // namespace winnow::pipeline
