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

// Small JPEGs of samples, for pages.
namespace winnow::pipeline {

struct ThumbnailSize {
  int side_px = 160;  // of the longer side, at most
  int quality = 80;   // as of encode_jpeg()

  friend bool operator==(const ThumbnailSize&, const ThumbnailSize&) = default;
};
// Each takes less than the one before: some 7 KB a photo at first, 1 KB at last.
inline constexpr std::array<ThumbnailSize, 7> kThumbnailSizes{
    {{160, 80}, {160, 60}, {128, 60}, {112, 50}, {96, 50}, {80, 40}, {64, 40}}};

// The picture as a JPEG, made smaller to fit; one that fits keeps its size. Safe from many threads.
Bytes jpeg_thumbnail(ImageView image, ThumbnailSize size);

// Gives the picture of a sample, maybe smaller, but not below twice `side_px` in its longer side
// for that; nothing where it cannot be read. Safe from many threads.
using PictureOf = std::function<std::optional<Image>(SampleId id, int side_px)>;
// Of a cache, which must outlive it; empty where it keeps no images.
PictureOf pictures_of(const Cache& cache);
// Of a data set, which must outlive it: the inputs at the positions of ids.
PictureOf pictures_of(const datasets::Source& source, DecodeSettings settings);

struct ThumbnailOptions {
  std::uint64_t most_bytes = 0;  // of all together
  int threads = 0;               // 0: what TBB has
  StopRequested stop = {};
};

struct Thumbnails {
  ThumbnailSize size;
  std::vector<Bytes> jpegs;  // one for each id; empty where there is no picture
};

// One size for all: the first of kThumbnailSizes at which some of the pictures, taken evenly, say
// that all will fit; the last where none does. Throws StoppedError.
Thumbnails make_thumbnails(const PictureOf& picture_of, std::span<const SampleId> ids,
                           const ThumbnailOptions& options);

}  // namespace winnow::pipeline
