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

// Opens the rows of an input, decoded in parts if it is a file and its format allows; else returns
// its fate in the ledger.
// memory_bytes  limit, above which it is too large
// Throws        UsageError: its size differs from the listing; StoppedError.
Expected<std::unique_ptr<pipeline::PictureRows>, pipeline::Refused> open_picture(
    const Inputs& inputs, std::uint64_t at, std::uint64_t memory_bytes, const StopRequested& stop);

// A small version of an input, rotated by its orientation.
struct SmallPicture {
  Image image;          // without pixels if it cannot be read
  pipeline::Size size;  // size of the whole picture
};
// Reads a picture of any size a few rows at a time. Throws as open_picture().
SmallPicture small_picture(const Inputs& inputs, std::uint64_t at, std::uint64_t memory_bytes,
                           int side_px, const StopRequested& stop);

}  // namespace winnow::app
