#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "common/image.h"
#include "common/sample.h"
#include "common/stop.h"
#include "datasets/source.h"
#include "pipeline/decode/settings.h"
#include "pipeline/store/cache.h"

// Small JPEGs of samples, for HTML pages.
namespace winnow::pipeline {

struct ThumbnailSize {
  int side_px = 160;  // maximum of the longer side
  int quality = 80;   // as for encode_jpeg()

  friend bool operator==(const ThumbnailSize&, const ThumbnailSize&) = default;
};
// In order of falling size: about 7 KB a photo for the first, 1 KB for the last.
inline constexpr std::array<ThumbnailSize, 7> kThumbnailSizes{
    {{160, 80}, {160, 60}, {128, 60}, {112, 50}, {96, 50}, {80, 40}, {64, 40}}};

// The picture as a JPEG, reduced to fit; a smaller one keeps its size. Thread-safe.
Bytes jpeg_thumbnail(ImageView image, ThumbnailSize size);

// Returns the picture of a sample, perhaps reduced, but not below 2 `side_px` in its longer side;
// nullopt if it cannot be read. Thread-safe.
using PictureOf = std::function<std::optional<Image>(SampleId id, int side_px)>;
// Reads pictures from a cache, which must outlive the function returned. Empty if the cache keeps
// no images.
PictureOf pictures_of(const Cache& cache);
// Reads pictures from a data set, which must outlive the function returned. An id is the position
// of an input.
PictureOf pictures_of(const datasets::Source& source, DecodeSettings settings);

struct ThumbnailOptions {
  std::uint64_t most_bytes = 0;  // for all together
  int threads = 0;               // 0: TBB's default
  StopRequested stop = {};
};

struct Thumbnails {
  ThumbnailSize size;
  std::vector<Bytes> jpegs;  // one for each id; empty if there is no picture
};

// Makes thumbnails of one common size: the first of kThumbnailSizes at which, by an evenly spaced
// sample, all will fit; else the last one. Throws StoppedError.
Thumbnails make_thumbnails(const PictureOf& picture_of, std::span<const SampleId> ids,
                           const ThumbnailOptions& options);

}  // namespace winnow::pipeline
