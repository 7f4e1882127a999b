#include "pipeline/export/thumbnails.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/resample.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "pipeline/export/pixels.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::pipeline {
namespace {

constexpr std::size_t kSampled = 64;  // pictures that the size is chosen by

// The scale to decode a picture at that is to be `side_px` long.
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
  const auto& bytes = std::get<Bytes>(*payload);
  auto image = decode(bytes, settings, {}, {}, 1);
  if (!image) return std::nullopt;
  const int scale = scale_for({image->height_px, image->width_px}, side_px);
  if (scale > 1) return box_average(image->view(), scale);
  return Image(*std::move(image));
}

// What `take` is called with, in parallel, for each of the pictures that are there.
template <class Take>
void for_each_picture(const PictureOf& picture_of, std::span<const SampleId> ids,
                      const StopRequested& stop, const Take& take) {
  tbb::parallel_for(std::size_t{0}, ids.size(), [&](std::size_t i) {
    if (stop && stop()) throw StoppedError("stopped before the pictures of the page were made");
    if (const auto image = picture_of(ids[i], kThumbnailSizes.front().side_px)) {
      take(i, image->view());
    }
  });
}

ThumbnailSize choose_size(const PictureOf& picture_of, std::span<const SampleId> ids,
                          const ThumbnailOptions& options) {
  const std::size_t count = std::min(kSampled, ids.size());
  std::vector<SampleId> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(ids[i * ids.size() / count]);
  std::vector<std::array<std::size_t, kThumbnailSizes.size()>> bytes(count);
  for_each_picture(picture_of, some, options.stop, [&](std::size_t i, ImageView image) {
    for (std::size_t k = 0; k < kThumbnailSizes.size(); ++k) {
      bytes[i][k] = jpeg_thumbnail(image, kThumbnailSizes[k]).size();
    }
  });
  for (std::size_t k = 0; k < kThumbnailSizes.size(); ++k) {
    std::uint64_t sum = 0;
    for (const auto& of_picture : bytes) sum += of_picture[k];
    if (sum * ids.size() <= options.most_bytes * count) return kThumbnailSizes[k];
  }
  return kThumbnailSizes.back();
}

}  // namespace

Bytes jpeg_thumbnail(ImageView image, ThumbnailSize size) {
  const int longest = std::max(image.height_px, image.width_px);
  if (longest <= size.side_px) return encode_jpeg(image, size.quality);
  const auto side = [&](int px) {
    return std::max(1, static_cast<int>(std::int64_t{px} * size.side_px / longest));
  };
  const Image small =
      resize(image, side(image.height_px), side(image.width_px), ResampleFilter::kBilinear);
  return encode_jpeg(small.view(), size.quality);
}

PictureOf pictures_of(const Cache& cache) {
  if (cache.manifest().shards.empty()) return {};
  return [&cache](SampleId id, int side_px) -> std::optional<Image> {
    try {
      const RecordView record = cache.record(id, first_variant);
      auto image = pixels_of(record, cache.manifest().settings.decode,
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
  made.size = choose_size(picture_of, ids, options);
  for_each_picture(picture_of, ids, options.stop, [&](std::size_t i, ImageView image) {
    made.jpegs[i] = jpeg_thumbnail(image, made.size);
  });
  return made;
}

}  // namespace winnow::pipeline
