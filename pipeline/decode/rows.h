#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/expected.h"
#include "common/stop.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encoded.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {

// A picture that is decoded row by row from the top, so that it need not be in memory as a whole.
// For one thread at a time.
class PictureRows {
 public:
  virtual ~PictureRows() = default;

  virtual Size size() const noexcept = 0;     // size of the stored picture
  virtual int channels() const noexcept = 0;  // number of channels, 1 or 3
  // EXIF orientation that is still to be applied; 1: none.
  virtual int orientation() const noexcept = 0;
  // Reads the next `rows` rows, without padding. They must exist. After an error nothing more may
  // be read. Throws SystemError and StoppedError.
  virtual std::optional<DecodeError> read(int rows, std::uint8_t* to) = 0;
  // Skips the next `rows` rows, which must exist; some must still be decoded, see rows_to_reach().
  // Errors and exceptions as read().
  virtual std::optional<DecodeError> skip(int rows) = 0;
  // Number of rows that must be decoded to get any one of them: those of a strip or of a row of
  // tiles; for a JPEG all rows.
  virtual int rows_to_reach() const noexcept = 0;
  // The decoder's warnings so far, in the form of DecodedImage::warning; empty: none.
  virtual std::string warning() const = 0;
};

struct RowLimits {
  // Memory limit in bytes, besides the returned rows. A picture that cannot be decoded in parts
  // needs all its pixels and encoded bytes.
  std::uint64_t memory_bytes = 0;
  StopRequested stop{};
};

// Opens a picture to read its rows. The pixels are those of decode(), bit for bit.
//
// In parts  JPEGs of one scan; TIFFs and BigTIFFs by strips and tiles, up to 2^22 of them. Bytes
//           are read as needed.
// Whole     All other pictures are decoded as a whole, with their orientation applied.
// Errors    As decode(); kTooLarge, with the number of bytes, if memory would exceed the limit.
Expected<std::unique_ptr<PictureRows>, DecodeError> open_rows(const EncodedBytes& encoded,
                                                              const DecodeSettings& settings,
                                                              const RowLimits& limits);

// The rows of an image in memory, whose orientation was applied.
std::unique_ptr<PictureRows> rows_of(DecodedImage image);

// The structure of a picture that open_rows() opens in parts.
struct PartsShape {
  Size stored;
  int orientation = 1;
  int rows_to_reach = 1;
};
// Reads the structure of a picture from its header. nullopt for a picture that is opened as a
// whole, or cannot be opened. Throws SystemError.
std::optional<PartsShape> shape_in_parts(const EncodedBytes& encoded,
                                         const DecodeSettings& settings, const RowLimits& limits);

}  // namespace winnow::pipeline
