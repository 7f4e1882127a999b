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

// The rows of an input, decoded in parts where it is a file and its format allows; or the class of
// the ledger that it is in.
// memory_bytes  that it may take, else it is too large
// Throws        UsageError where it has another size than was listed. StoppedError.
Expected<std::unique_ptr<pipeline::PictureRows>, pipeline::Refused> open_picture(
    const Inputs& inputs, std::uint64_t at, std::uint64_t memory_bytes, const StopRequested& stop);

// An input made smaller to be looked at, turned as it is to be.
struct SmallPicture {
  Image image;          // without pixels where it cannot be read
  pipeline::Size size;  // of the whole
};
// Reads a picture of any size a few rows at a time. Throws likewise.
SmallPicture small_picture(const Inputs& inputs, std::uint64_t at, std::uint64_t memory_bytes,
                           int side_px, const StopRequested& stop);

}  // namespace winnow::app
