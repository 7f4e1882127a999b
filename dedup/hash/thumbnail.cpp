#include "dedup/hash/thumbnail.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "common/error.h"

namespace winnow::dedup {
namespace {

constexpr std::uint64_t kLeastSide = 16;  // unless the image's side is shorter
constexpr std::uint64_t kMostPixels = kThumbnailPixels;

constexpr std::size_t pixels_of(ThumbnailSize size) noexcept {
  return static_cast<std::size_t>(size.width_px) * static_cast<std::size_t>(size.height_px);
}

// The shorter side of the largest thumbnail with this ratio.
std::uint64_t shorter_side(std::uint64_t shorter, std::uint64_t longer) noexcept {
  std::uint64_t side = 0;
  while ((side + 1) * (side + 1) * longer <= kMostPixels * shorter) ++side;
  return std::max(side, std::min(kLeastSide, shorter));
}

}  // namespace

ThumbnailSize thumbnail_size(std::uint32_t width_px, std::uint32_t height_px) noexcept {
  const std::uint64_t longer = std::max(width_px, height_px);
  const std::uint64_t shorter = std::min(width_px, height_px);
  if (longer * shorter <= kMostPixels) {
    return shorter == 0 ? ThumbnailSize{}
                        : ThumbnailSize{static_cast<int>(width_px), static_cast<int>(height_px)};
  }
  const std::uint64_t to_shorter = shorter_side(shorter, longer);
  const std::uint64_t in_ratio = (2 * to_shorter * longer + shorter) / (2 * shorter);
  const auto to_longer = static_cast<int>(std::min(in_ratio, kMostPixels / to_shorter));
  const auto other = static_cast<int>(to_shorter);
  return width_px >= height_px ? ThumbnailSize{to_longer, other} : ThumbnailSize{other, to_longer};
}

RowResizer thumbnail_rows(int height_px, int width_px, ThumbnailSize size,
                          ResampleWeights* weights) {
  return {
      {height_px, width_px, 1, size.height_px, size.width_px}, ResampleFilter::kBilinear, weights};
}

Image thumbnail(ImageView gray) {
  const ThumbnailSize size = thumbnail_size(static_cast<std::uint32_t>(gray.width_px),
                                            static_cast<std::uint32_t>(gray.height_px));
  RowResizer rows = thumbnail_rows(gray.height_px, gray.width_px, size);
  rows.add(gray);
  return rows.finish();
}

std::size_t thumbnail_blocks(ThumbnailSize size) noexcept {
  constexpr std::size_t kBytes = sizeof(ThumbnailBlock);
  return (pixels_of(size) + kBytes - 1) / kBytes;
}

std::vector<ThumbnailBlock> to_blocks(const Image& thumbnail) {
  std::vector<ThumbnailBlock> blocks(thumbnail_blocks({thumbnail.width_px, thumbnail.height_px}));
  if (!blocks.empty()) {
    std::memcpy(blocks.data(), thumbnail.pixels.data(), thumbnail.pixels.size());
  }
  return blocks;
}

ImageView thumbnail_view(std::span<const ThumbnailBlock> blocks, ThumbnailSize size) {
  if (blocks.size() != thumbnail_blocks(size)) {
    throw FormatError("a thumbnail of " + std::to_string(size.width_px) + " x " +
                      std::to_string(size.height_px) + " px has " +
                      std::to_string(thumbnail_blocks(size)) + " blocks and not " +
                      std::to_string(blocks.size()) + "; make the table of fingerprints again");
  }
  return {blocks.empty() ? nullptr : blocks.front().data(), size.height_px, size.width_px, 1,
          size.width_px};
}

}  // namespace winnow::dedup
