#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/bytes.h"
#include "common/expected.h"
#include "common/image.h"
#include "common/resample.h"
#include "common/stop.h"
#include "pipeline/decode/settings.h"
#include "pipeline/decode/shrink.h"

namespace winnow::pipeline {

struct DecodeError {
  enum class Kind { kTruncated, kUnsupported, kTooLarge, kCorrupt };
  Kind kind;
  std::string detail;  // message of the decoder library
};

// Whether an image had problems although it could be decoded.
enum class Damage { kNone, kWarning };

struct DecodedImage : Image {
  DecodedImage(Image image)  // NOLINT: implicit, because most images are complete and sound
      : Image(std::move(image)), whole_height_px(height_px), whole_width_px(width_px) {}
  int whole_height_px = 0;  // height of the picture at full scale
  int whole_width_px = 0;
  Damage damage = Damage::kNone;
  std::string warning;  // first warning of the library, and the number of warnings; empty: none
  int orientation = 1;  // EXIF orientation (orientation.h), whether or not it was applied
  // Alpha channel of the whole picture at full scale: one channel, 255 is opaque, rotated like the
  // pixels. Empty if it was not requested, if all pixels are opaque, or if there is a matte
  // (background colour).
  Image alpha = {};
  bool is_multiplied = false;  // true if colours are premultiplied by alpha, as in some TIFFs
};

// Called before the memory for decoding is allocated, and after the header is read. May block until
// the memory is available. May be empty. Not called for images that are refused.
// bytes  most memory that decoding will take, besides the encoded bytes and what docs/trust.md
//        states: the codec's samples and tables, the pixels, and the pixels once more if they are
//        cut or rotated
using BeforeAllocation = std::function<void(std::uint64_t bytes)>;

// Callbacks and options for decoding an image.
struct DecodeHooks {
  BeforeAllocation before_allocation = {};
  // Asked every few rows (JPEG, PNG, TIFF, BMP), every two million pixels (WebP), more often for
  // PNM.
  StopRequested stop = {};
  bool keep_alpha = false;  // keep the alpha channel in DecodedImage::alpha
};

// The image format, by its magic bytes: "jpeg", "png", "bmp", "webp", "tiff" or "pnm"; "gif",
// "heic", "avif", "jxl", "jp2", "psd" or "exr", which cannot be decoded; or "unknown".
std::string_view sniff(BytesView encoded) noexcept;

// Decodes an image to 1 channel if it is gray, else to 3 (R, G, B).
//
// Libraries    JPEG: libjpeg-turbo (accurate DCT, fancy upsampling, as Pillow). PNG: libpng. WebP:
//              libwebp. TIFF: libtiff. PNM and BMP: own code.
// Conversion   CMYK and YCCK JPEGs are converted as by Pillow. 16 bits are reduced to 8.
// Alpha        Is dropped; hooks.keep_alpha keeps it separately. With a matte (background colour)
//              the picture is composed on it as by Pillow's alpha_composite (gray on a coloured
//              matte becomes colour). The alpha of gray TIFFs is never composed.
// Orientation  EXIF orientation is applied if `settings` says so. The orientation tag of a TIFF is
//              always applied, as in Pillow.
// Refused      By the header: more than settings.max_pixels; TIFFs with larger tiles, with tiles of
//              more than twice as many pixels in all, or with more than 65,536 strips or tiles.
// Damaged      kTruncated: the file ends early; there are no half-gray images. kCorrupt: a JPEG
//              whose compressed data ends before its pixels although the file goes on; a PNG with a
//              wrong CRC.
// Warnings     Other warnings of libjpeg (extraneous bytes before a marker, a bad code, a lost
//              restart marker) and libpng (a bad colour profile) do not stop decoding, as in
//              Pillow; the result records them.
// buffer       An image that is no longer needed; its memory is reused if possible.
// scale        1, 2, 4 or 8: the picture at 1/scale of both sides, rounded up. JPEGs use libjpeg's
//              scaled DCT, which is faster and bit for bit Pillow's draft(). JPEGs with unusual
//              subsampling (other than 4:4:4, 4:2:2, 4:2:0 and 4:4:0) or arithmetic coding, and all
//              other formats, are box_average() of the full picture. All compressed data is read,
//              so that the same files are refused at any scale.
// Errors       Throws only std::bad_alloc, StoppedError and what before_allocation throws.
// Threads      Pure; thread-safe. Prints nothing.
Expected<DecodedImage, DecodeError> decode(BytesView encoded, const DecodeSettings& settings,
                                           const DecodeHooks& hooks = {}, Image buffer = {},
                                           int scale = 1);

// A box of a picture in full-scale pixels, and the scale (as for decode()) at which to decode it.
struct Crop {
  Box box;
  int scale = 1;
};

// Chooses the part to decode, once the size of decode()'s result is known. A pure function; its box
// must lie within that size.
using ChooseCrop = std::function<Crop(Size whole)>;

struct DecodedCrop : DecodedImage {
  int scale = 1;
  // Which part of the decoded pixels is the box: all of them at full scale; at smaller scales exact
  // to 1/8 pixel.
  Region region;
};

// Decodes only a box of a picture. The pixels are those of decode() at that scale, bit for bit, but
// decoding is faster. Hooks and everything else as decode().
//
// Speed     For baseline JPEGs with usual subsampling (see decode()), only rows up to the end of
//           the box are read, and only its blocks are decoded. Other files are decoded completely
//           and cut.
// Damage    In a JPEG of one scan, anything below the box is not examined. A box above damaged data
//           has the same pixels as in a sound file, even if decode() refuses the file. There may be
//           fewer warnings than from decode().
// Out       Depends on the bytes, the settings and the crop only.
// Errors    Error for a box that is empty or leaves the picture.
Expected<DecodedCrop, DecodeError> decode_crop(BytesView encoded, const DecodeSettings& settings,
                                               const ChooseCrop& choose,
                                               const DecodeHooks& hooks = {}, Image buffer = {});

}  // namespace winnow::pipeline
