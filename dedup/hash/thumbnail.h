#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/image.h"
#include "common/resample.h"

namespace winnow::dedup {

// Thumbnails: small gray versions of images, stored with their fingerprints. They are compared
// pixel by pixel where hashes cannot decide whether images are copies.

// Maximum number of pixels of a thumbnail. Part of the file format: a change requires a new version
// of fingerprint tables.
inline constexpr int kThumbnailPixels = 3072;

struct ThumbnailSize {
  int width_px = 0;
  int height_px = 0;

  friend bool operator==(const ThumbnailSize&, const ThumbnailSize&) = default;
};

// Size of the thumbnail of an image of this size, such as 64 x 48 px for an image of 4:3. 0 x 0 if
// the image has no pixels.
// - At most kThumbnailPixels, and no side longer than the image's.
// - As large as that allows, with the image's aspect ratio to the nearest pixel.
// - No side below 16 px unless the image's is: very long images are squeezed along their long side.
// Pure, in integers: the same on every machine.
ThumbnailSize thumbnail_size(std::uint32_t width_px, std::uint32_t height_px) noexcept;

// Makes a thumbnail from gray rows that arrive a few at a time: resize() with
// ResampleFilter::kBilinear, which averages the covered pixels.
// size     The thumbnail's: thumbnail_size() of the image at full size. The rows may come from an
//          image that was decoded at a smaller scale.
// weights  May be null, else it must outlive the resizer.
RowResizer thumbnail_rows(int height_px, int width_px, ThumbnailSize size,
                          ResampleWeights* weights = nullptr);

// Makes the thumbnail of a whole gray image.
Image thumbnail(ImageView gray);

// Storage unit of thumbnails in tables. A thumbnail's pixels follow row by row; the rest of its
// last block is 0.
using ThumbnailBlock = std::array<std::uint8_t, 64>;
std::size_t thumbnail_blocks(ThumbnailSize size) noexcept;
std::vector<ThumbnailBlock> to_blocks(const Image& thumbnail);
// The thumbnail stored in these blocks; borrows them. Throws FormatError if the number of blocks
// does not fit the size.
ImageView thumbnail_view(std::span<const ThumbnailBlock> blocks, ThumbnailSize size);

}  // namespace winnow::dedup
