#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/image.h"
#include "common/resample.h"

namespace winnow::dedup {

// Small gray versions of images, stored with their fingerprints. They are compared where codes
// cannot decide.

// Maximum pixels of a thumbnail. Part of the format: a change requires a new version of fingerprint
// tables.
inline constexpr int kThumbnailPixels = 3072;

struct ThumbnailSize {
  int width_px = 0;
  int height_px = 0;

  friend bool operator==(const ThumbnailSize&, const ThumbnailSize&) = default;
};

// Size of the thumbnail of an image; 64 x 48 px for 4:3. 0 x 0 for no image. Pure, in integers: the
// same on every machine.
// - At most kThumbnailPixels, and no side longer than the image's.
// - As large as that allows, with the image's aspect ratio to the nearest pixel.
// - No side below 16 px unless the image's is: very long images are squeezed along their long side.
ThumbnailSize thumbnail_size(std::uint32_t width_px, std::uint32_t height_px) noexcept;

// Makes a thumbnail of gray rows that arrive a few at a time: resize() with
// ResampleFilter::kBilinear, which averages the covered pixels.
// size     For the image at full size. The rows may come from a smaller decoding scale.
// weights  May be null, else it must outlive the resizer.
RowResizer thumbnail_rows(int height_px, int width_px, ThumbnailSize size,
                          ResampleWeights* weights = nullptr);

// The thumbnail of a whole gray image.
Image thumbnail(ImageView gray);

// Storage unit of thumbnails in tables: the pixels row by row, padded with zeros in the last block.
using ThumbnailBlock = std::array<std::uint8_t, 64>;
std::size_t thumbnail_blocks(ThumbnailSize size) noexcept;
std::vector<ThumbnailBlock> to_blocks(const Image& thumbnail);
// The image in these blocks, which must outlive it. FormatError if the number of blocks does not
// fit the size.
ImageView thumbnail_view(std::span<const ThumbnailBlock> blocks, ThumbnailSize size);

}  // namespace winnow::dedup
