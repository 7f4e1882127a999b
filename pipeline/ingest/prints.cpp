#include "pipeline/ingest/prints.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "dedup/audit/measure.h"
#include "dedup/hash/features.h"
#include "pipeline/decode/upon_gray.h"

namespace winnow::pipeline {
namespace {

void begin_hash(Xxh3Stream& stream, const Image& image) {
  const std::array<std::uint32_t, 3> shape{static_cast<std::uint32_t>(image.height_px),
                                           static_cast<std::uint32_t>(image.width_px),
                                           static_cast<std::uint32_t>(image.channels)};
  stream.update(std::as_bytes(std::span(shape)));
}

ImageView rows_of(const Image& image, int first, int count) {
  ImageView rows = image.view();
  rows.data = rows.row(first);
  rows.height_px = count;
  return rows;
}

BytesView bytes_of(ImageView packed) {
  return {reinterpret_cast<const std::byte*>(packed.data),
          static_cast<std::size_t>(packed.height_px) *
              static_cast<std::size_t>(packed.row_stride_bytes)};
}

void copy_rows(ImageView rows, Image& to) {
  to.reshape(rows.height_px, rows.width_px, rows.channels);
  std::memcpy(to.pixels.data(), rows.data, to.pixels.size());
}

// Gray rows as they arrive, preceded by the last two rows.
class GrayRows {
 public:
  GrayRows(Image& memory, int most_rows, int width_px) : image_(memory) {
    image_.reshape(most_rows + kAbove, width_px, 1);
  }

  void add(ImageView rows) {
    const int kept = std::min(kAbove, above_ + count_);
    const auto line = static_cast<std::size_t>(image_.width_px);
    std::memmove(at(kAbove - kept), at(kAbove + count_ - kept),
                 line * static_cast<std::size_t>(kept));
    above_ = kept;
    count_ = rows.height_px;
    to_gray(rows, at(kAbove));
  }

  int above() const noexcept { return above_; }
  ImageView with_above() const {
    return winnow::pipeline::rows_of(image_, kAbove - above_, above_ + count_);
  }
  ImageView rows() const { return winnow::pipeline::rows_of(image_, kAbove, count_); }

 private:
  static constexpr int kAbove = 2;

  std::uint8_t* at(int row) { return image_.pixels.data() + std::ptrdiff_t{row} * image_.width_px; }

  Image& image_;
  int above_ = 0;
  int count_ = 0;
};

}  // namespace

Hash128 hash_pixels(const Image& image, const Image& alpha) {
  Xxh3Stream stream;
  begin_hash(stream, image);
  stream.update(as_bytes(image.pixels));
  stream.update(as_bytes(alpha.pixels));
  return stream.digest();
}

Prints prints_of(const Image& image, std::span<const dedup::HashKind> hashes,
                 dedup::HashMemory& memory, dedup::ThumbnailSize thumbnail, const Image& alpha,
                 bool is_multiplied) {
  const int at_once = dedup::rows_at_once(image.width_px, image.channels);
  Xxh3Stream pixels;
  begin_hash(pixels, image);
  Prints prints;
  dedup::RowFeatures features(image.height_px, image.width_px, &memory.weights);
  dedup::HashStreams streams(image.height_px, image.width_px, image.channels, hashes,
                             memory.weights);
  dedup::RowMeasures measures(image.height_px, image.width_px, image.channels, &memory.weights);
  std::optional<RowResizer> small;
  if (thumbnail != dedup::ThumbnailSize{}) {
    small.emplace(
        dedup::thumbnail_rows(image.height_px, image.width_px, thumbnail, &memory.weights));
  }
  GrayRows grays(memory.gray, std::min(at_once, image.height_px), image.width_px);
  Image seen;
  for (int y = 0; y < image.height_px; y += at_once) {
    ImageView rows = rows_of(image, y, std::min(at_once, image.height_px - y));
    pixels.update(bytes_of(rows));
    prints.sums += sum_channels(rows);
    if (!alpha.pixels.empty()) {
      copy_rows(rows, seen);
      compose_on_gray(seen, rows_of(alpha, y, rows.height_px), is_multiplied);
      rows = seen.view();
    }
    grays.add(rows);
    features.add(grays.with_above(), grays.above());
    streams.add(rows, grays.rows());
    measures.add(rows, grays.rows());
    if (small) small->add(grays.rows());
  }
  pixels.update(as_bytes(alpha.pixels));
  prints.pixel_hash = pixels.digest();
  prints.sharpness = features.sharpness();
  prints.quality = features.quality();
  prints.measures = measures.finish();
  if (small) prints.thumbnail = small->finish();
  for (const dedup::HashCode& code : streams.finish()) {
    prints.codes.insert(prints.codes.end(), code.words.begin(), code.words.end());
  }
  return prints;
}

}  // namespace winnow::pipeline
