#pragma once

#include <cstdint>
#include <memory>

#include "app/predict/inputs.h"
#include "common/expected.h"
#include "common/image.h"
#include "common/stop.h"
#include "pipeline/decode/rows.h"
#include "pipeline/ingest/input.h"

namespace winnow::app {

// Opens an input to read it row by row. It is decoded in parts if it is a file of a format that
// allows it. Else returns its outcome (`Fate`) for the ledger.
// memory_bytes  limit above which the picture is refused as too large
// Throws        UsageError: the file's size is not that in the listing; StoppedError.
Expected<std::unique_ptr<pipeline::PictureRows>, pipeline::Refused> open_picture(
    const Inputs& inputs, std::uint64_t at, std::uint64_t memory_bytes, const StopRequested& stop);

// A downscaled version of an input, rotated by its EXIF orientation.
struct SmallPicture {
  Image image;          // downscaled picture; without pixels if the input cannot be read
  pipeline::Size size;  // size of the whole picture in pixels
};
// Reads a picture of any size, a few rows at a time, and downscales it to `side_px`. Throws as
// open_picture().
SmallPicture small_picture(const Inputs& inputs, std::uint64_t at, std::uint64_t memory_bytes,
                           int side_px, const StopRequested& stop);

}  // namespace winnow::app
