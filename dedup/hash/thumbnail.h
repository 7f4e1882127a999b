#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/image.h"
#include "common/resample.h"

namespace winnow::dedup {

// Small gray pictures of images, kept beside their fingerprints: what is looked at where codes
// cannot tell.

// Of one, at most. Part of the format: whoever changes it raises the version of fingerprint tables.
inline constexpr int kThumbnailPixels = 3072;

struct ThumbnailSize {
  int width_px = 0;
  int height_px = 0;

  friend bool operator==(const ThumbnailSize&, const ThumbnailSize&) = default;
};

// How large the thumbnail of an image of that size is: of 4:3, 64 x 48 px. 0 x 0 for no image.
// It has at most kThumbnailPixels, and no side is longer than the image's.
// Sides are as long as that allows and in the ratio of the image's, to the nearest pixel; but none
// is below 16 px unless the image's is: very long images are squeezed along their long side.
// Pure, in integers: the same on every machine.
ThumbnailSize thumbnail_size(std::uint32_t width_px, std::uint32_t height_px) noexcept;

// Makes a thumbnail of gray rows that come a few at a time: resize() by ResampleFilter::kBilinear,
// which averages what a pixel covers. Rows may be those of the image decoded at a smaller scale:
// `size` is that of the image as it is. `weights`, which outlives it, may be null.
RowResizer thumbnail_rows(int height_px, int width_px, ThumbnailSize size,
                          ResampleWeights* weights = nullptr);

// The same of a whole gray image.
Image thumbnail(ImageView gray);

// What tables hold of one: its pixels, row by row, and zeros behind those in the last block.
using ThumbnailBlock = std::array<std::uint8_t, 64>;
std::size_t thumbnail_blocks(ThumbnailSize size) noexcept;
std::vector<ThumbnailBlock> to_blocks(const Image& thumbnail);
// A thumbnail in its blocks, which must outlive it. FormatError where a thumbnail of that size has
// more or fewer.
ImageView thumbnail_view(std::span<const ThumbnailBlock> blocks, ThumbnailSize size);

}  // namespace winnow::dedup
