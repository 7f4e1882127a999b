#include "pipeline/export/thumbnails.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "pipeline/decode/upon_gray.h"
#include "pipeline/export/pixels.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::pipeline {
namespace {

constexpr std::size_t kSampled = 64;  // size of the sample by which the size is chosen

// The scale for decoding a picture that will be reduced to `side_px`.
int scale_for(Size size, int side_px) noexcept {
  int scale = 8;
  while (scale > 1 && std::max(size.height_px, size.width_px) / scale < 2 * side_px) scale /= 2;
  return scale;
}

std::optional<Image> picture_of_input(const datasets::Source& source, DecodeSettings settings,
                                      SampleId id, int side_px) {
  auto payload = source.read(position_of(id));
  if (!payload) return std::nullopt;
  if (Image* pixels = std::get_if<Image>(&*payload)) return std::move(*pixels);
  const auto choose = [side_px](Size whole) -> Crop {
    return {{0, 0, whole.height_px, whole.width_px}, scale_for(whole, side_px)};
  };
  auto image = decode_crop(std::get<Bytes>(*payload), settings, choose, {.keep_alpha = true});
  if (!image) return std::nullopt;
  const int scale = image->scale;
  return as_seen(*std::move(image), scale);
}

// Calls take(i, picture), in parallel, for each ids[places[i]] with a picture.
template <class Take>
void for_each_picture(const PictureOf& picture_of, std::span<const SampleId> ids,
                      std::span<const std::size_t> places, const StopRequested& stop,
                      const Take& take) {
  tbb::parallel_for(std::size_t{0}, places.size(), [&](std::size_t i) {
    if (stop && stop()) throw StoppedError("stopped before the pictures of the page were made");
    if (const auto image = picture_of(ids[places[i]], kThumbnailSizes.front().side_px)) {
      take(i, image->view());
    }
  });
}

// Divides `count` positions: up to kSampled evenly spaced ones, and the others.
struct Places {
  std::vector<std::size_t> some, others;
};
Places sample(std::size_t count) {
  const std::size_t wanted = std::min(kSampled, count);
  Places made;
  for (std::size_t place = 0; place < count; ++place) {
    const std::size_t taken = made.some.size();
    const bool is_next = taken < wanted && place == taken * count / wanted;
    (is_next ? made.some : made.others).push_back(place);
  }
  return made;
}

// The JPEGs of a picture in each of kThumbnailSizes; empty without a picture.
using InEachSize = std::array<Bytes, kThumbnailSizes.size()>;

// The index in kThumbnailSizes for `pictures` pictures, of which `sampled` is a sample.
std::size_t choose_size(std::span<const InEachSize> sampled, std::size_t pictures,
                        std::uint64_t most_bytes) {
  for (std::size_t k = 0; k < kThumbnailSizes.size(); ++k) {
    std::uint64_t sum = 0;
    for (const InEachSize& jpegs : sampled) sum += jpegs[k].size();
    if (sum * pictures <= most_bytes * sampled.size()) return k;
  }
  return kThumbnailSizes.size() - 1;
}

}  // namespace

Bytes jpeg_thumbnail(ImageView image, ThumbnailSize size) {
  const auto smaller = shrunk_to(image, size.side_px);
  return encode_jpeg(smaller ? smaller->view() : image, size.quality);
}

PictureOf pictures_of(const Cache& cache) {
  if (cache.manifest().shards.empty()) return {};
  return [&cache](SampleId id, int side_px) -> std::optional<Image> {
    try {
      const RecordView record = cache.record(id, first_variant);
      auto image = seen_pixels_of(record, cache.manifest().settings.decode,
                                  scale_for({record.height_px, record.width_px}, side_px));
      if (!image) return std::nullopt;
      return *std::move(image);
    } catch (const FormatError&) {
      return std::nullopt;
    }
  };
}

PictureOf pictures_of(const datasets::Source& source, DecodeSettings settings) {
  return [&source, settings](SampleId id, int side_px) {
    return picture_of_input(source, settings, id, side_px);
  };
}

Thumbnails make_thumbnails(const PictureOf& picture_of, std::span<const SampleId> ids,
                           const ThumbnailOptions& options) {
  Thumbnails made;
  made.jpegs.resize(ids.size());
  if (!picture_of || ids.empty()) return made;
  const WorkerLimit limit(options.threads);
  const Places places = sample(ids.size());
  std::vector<InEachSize> sampled(places.some.size());
  for_each_picture(picture_of, ids, places.some, options.stop, [&](std::size_t i, ImageView image) {
    for (std::size_t k = 0; k < kThumbnailSizes.size(); ++k) {
      sampled[i][k] = jpeg_thumbnail(image, kThumbnailSizes[k]);
    }
  });
  const std::size_t chosen = choose_size(sampled, ids.size(), options.most_bytes);
  made.size = kThumbnailSizes[chosen];
  for (std::size_t i = 0; i < places.some.size(); ++i) {
    made.jpegs[places.some[i]] = std::move(sampled[i][chosen]);
  }
  for_each_picture(picture_of, ids, places.others, options.stop,
                   [&](std::size_t i, ImageView image) {
                     made.jpegs[places.others[i]] = jpeg_thumbnail(image, made.size);
                   });
  return made;
}

}  // namespace winnow::pipeline
