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

// A picture whose rows are decoded from the top to the bottom, so that it need not be held whole.
// For one thread at a time.
class PictureRows {
 public:
  virtual ~PictureRows() = default;

  virtual Size size() const noexcept = 0;        // as it is stored
  virtual int channels() const noexcept = 0;     // 1 or 3
  virtual int orientation() const noexcept = 0;  // by which it is still to be turned; 1: it is not
  // Assigns the next `rows` rows, packed, which there must be. An error where they cannot be
  // decoded; nothing more is to be read then. Throws SystemError and StoppedError.
  virtual std::optional<DecodeError> read(int rows, std::uint8_t* to) = 0;
  // Passes over the next `rows` rows, which there must be. Otherwise as read(): what is decoded for
  // it is what rows_to_reach() says.
  virtual std::optional<DecodeError> skip(int rows) = 0;
  // Rows that are decoded from the first of them on to have any one of them: those of a strip or of
  // a row of tiles, all of a JPEG.
  virtual int rows_to_reach() const noexcept = 0;
  // What was said of the picture so far; empty: nothing. As DecodedImage::warning.
  virtual std::string warning() const = 0;
};

struct RowLimits {
  // Of what is held of a picture besides the rows that are given: of one that cannot be decoded in
  // parts all of its pixels and encoded bytes.
  std::uint64_t memory_bytes = 0;
  StopRequested stop{};
};

// Opens a picture: its rows have the pixels of decode(), bit for bit.
//
// In parts  JPEGs of one scan, and TIFFs by their strips and tiles, BigTIFFs too, of up to 2^22
//           strips or tiles. Their bytes are read as they are needed.
// Whole     all others, already turned.
// Error     as decode(); kTooLarge with the number for what would take more than the limit.
Expected<std::unique_ptr<PictureRows>, DecodeError> open_rows(const EncodedBytes& encoded,
                                                              const DecodeSettings& settings,
                                                              const RowLimits& limits);

// The rows of an image that is held, turned already.
std::unique_ptr<PictureRows> rows_of(DecodedImage image);

// How a picture lies that open_rows() opens in parts.
struct PartsShape {
  Size stored;
  int orientation = 1;
  int rows_to_reach = 1;
};
// From its header alone. Nothing of any other, nor of one that is not opened. Throws SystemError.
std::optional<PartsShape> shape_in_parts(const EncodedBytes& encoded,
                                         const DecodeSettings& settings, const RowLimits& limits);

}  // namespace winnow::pipeline
