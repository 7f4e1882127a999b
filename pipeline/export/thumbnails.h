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

// Makes small JPEGs of samples, for HTML pages.
namespace winnow::pipeline {

struct ThumbnailSize {
  int side_px = 160;  // most pixels of the longer side
  int quality = 80;   // JPEG quality, as for encode_jpeg()

  friend bool operator==(const ThumbnailSize&, const ThumbnailSize&) = default;
};
// Sizes to choose from, largest first: about 7 KB per photo for the first, 1 KB for the last.
inline constexpr std::array<ThumbnailSize, 7> kThumbnailSizes{
    {{160, 80}, {160, 60}, {128, 60}, {112, 50}, {96, 50}, {80, 40}, {64, 40}}};

// The picture as a JPEG, downscaled to fit; a smaller one keeps its size. Thread-safe.
Bytes jpeg_thumbnail(ImageView image, ThumbnailSize size);

// A function that returns the picture of a sample, perhaps downscaled, but not below 2 * `side_px`
// in its longer side. nullopt if the picture cannot be read. Thread-safe.
using PictureOf = std::function<std::optional<Image>(SampleId id, int side_px)>;
// A function that reads pictures from a cache, which must outlive it. Empty if the cache stores no
// images.
PictureOf pictures_of(const Cache& cache);
// A function that reads pictures from a data set, which must outlive it. Its ids are positions of
// inputs in the data set.
PictureOf pictures_of(const datasets::Source& source, DecodeSettings settings);

struct ThumbnailOptions {
  std::uint64_t most_bytes = 0;  // most bytes of all thumbnails together
  int threads = 0;               // threads of TBB; 0: TBB's default
  StopRequested stop = {};
};

struct Thumbnails {
  ThumbnailSize size;
  std::vector<Bytes> jpegs;  // a JPEG for each id; empty if there is no picture
};

// Makes thumbnails of one common size: the first of kThumbnailSizes at which all are expected to
// fit, by an evenly spaced sample; else the last one. Throws StoppedError.
Thumbnails make_thumbnails(const PictureOf& picture_of, std::span<const SampleId> ids,
                           const ThumbnailOptions& options);

}  // namespace winnow::pipeline
