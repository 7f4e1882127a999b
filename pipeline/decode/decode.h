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
  std::string detail;  // the library's own message
};

// What was wrong with a picture that was decoded all the same.
enum class Damage { kNone, kWarning };

struct DecodedImage : Image {
  DecodedImage(Image image)  // NOLINT: implicit, most are sound and whole
      : Image(std::move(image)), whole_height_px(height_px), whole_width_px(width_px) {}
  int whole_height_px = 0;  // of the picture that this is a scale of
  int whole_width_px = 0;
  Damage damage = Damage::kNone;
  std::string warning;  // the library's first, and how many there were; empty where none
  int orientation = 1;  // that EXIF says (orientation.h), applied or not
  // Of the whole picture at full scale: one channel, 255 for opaque, turned as the pixels are.
  // Empty where it was not asked for, and where all pixels are opaque or were laid upon a matte.
  Image alpha = {};
  bool is_multiplied = false;  // the pixels are multiplied with the alpha, as TIFFs may have them
};

// Called with the bytes that decoding will take at most, besides the encoded ones and what
// docs/trust.md states: the codec's samples and tables, the pixels, and a second time where they
// are cut or turned. After the header is read and before they are allocated; may block. Not called
// for images that are refused. May be empty.
using BeforeAllocation = std::function<void(std::uint64_t bytes)>;

// What decoding calls back, and what it keeps beside the pixels.
struct DecodeHooks {
  BeforeAllocation before_allocation = {};
  // Asked at every few rows of JPEGs, PNGs, TIFFs and BMPs, some two million pixels of WebPs, and
  // more often of PNMs.
  StopRequested stop = {};
  bool keep_alpha = false;  // as DecodedImage::alpha
};

// "jpeg", "png", "bmp", "webp", "tiff" or "pnm"; "gif", "heic", "avif", "jxl", "jp2", "psd" or
// "exr", which are not read; or "unknown". From the magic bytes.
std::string_view sniff(BytesView encoded) noexcept;

// Decodes JPEG by libjpeg-turbo (accurate DCT, fancy upsampling, as Pillow), PNG by libpng, WebP by
// libwebp, TIFF by libtiff, PNM and BMP itself, into 1 channel where the image is gray,
// else 3 (R, G, B). CMYK and YCCK JPEGs are converted as Pillow does, 16-bit reduced to 8. Alpha is
// dropped (hooks.keep_alpha keeps it beside the pixels); with a matte the picture is laid upon it
// as by Pillow's alpha_composite (gray upon a coloured matte becomes colour; the alpha of gray
// TIFFs is never laid upon one). EXIF orientation is applied where `settings` says so; a TIFF's own
// is always, as Pillow does. Larger images than settings.max_pixels are refused by their headers,
// as are TIFFs of larger tiles, of tiles that together have more than twice as many, or of more
// than 65,536 strips or tiles. A file that ends early is an error (kTruncated), never a half-gray
// image; so is a JPEG whose compressed data ends before its pixels do though the file goes on, and
// a PNG with a wrong CRC (both kCorrupt). What else libjpeg warns about (extraneous bytes before a
// marker, a bad code, a lost restart marker), and libpng (a bad colour profile), it goes on after,
// as Pillow does, and the image says so. Pure; safe from many threads; throws only std::bad_alloc,
// StoppedError and what before_allocation throws. Prints nothing. `buffer` is an image that is no
// longer needed, whose memory is used where it can be. `scale` 1, 2, 4 or 8: the picture at 1/scale
// of both its sides, which are rounded up. JPEGs come so from libjpeg's scaled DCT, bit for bit
// Pillow's draft(), in less time; those it is not used for (other subsampling than of whole pixels,
// 4:2:2, 4:2:0 and 4:4:0, and arithmetic coding) and all other formats are what box_average() makes
// of all pixels. All compressed data is read: a file that ends early is refused as ever, by the
// same limits.
Expected<DecodedImage, DecodeError> decode(BytesView encoded, const DecodeSettings& settings,
                                           const DecodeHooks& hooks = {}, Image buffer = {},
                                           int scale = 1);

// A part of a picture, in its pixels, and the scale, as decode()'s, to have it at.
struct Crop {
  Box box;
  int scale = 1;
};

// Asked once the size is known that decode() gives; a pure function, whose box lies in that size.
using ChooseCrop = std::function<Crop(Size whole)>;

struct DecodedCrop : DecodedImage {
  int scale = 1;
  // Where the box lies in the pixels: all of them at full scale, else to an eighth of a pixel.
  Region region;
};

// The pixels that the box touches of what decode() gives at that scale, bit for bit, in less time:
// of baseline JPEGs of usual sampling (as above) only the rows to the end of the box are read, and
// only its blocks become pixels. Others are decoded whole and cut.
// What a JPEG of one scan has below the box is not looked at: a box that ends above what is broken
// has the pixels it would have in a sound file, though decode() refuses the file, or has warnings
// that decode() has not seen the last of. So the outcome depends on nothing but the bytes, the
// settings and the crop. All else is as for decode(), hooks too. Throws Error for a box
// of no pixels or that leaves the picture.
Expected<DecodedCrop, DecodeError> decode_crop(BytesView encoded, const DecodeSettings& settings,
                                               const ChooseCrop& choose,
                                               const DecodeHooks& hooks = {}, Image buffer = {});

}  // namespace winnow::pipeline
