#include "dedup/verify/landmark_table.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "common/error.h"

namespace winnow::dedup {
namespace {

constexpr float kTurn = 2 * std::numbers::pi_v<float>;
constexpr float kPixel = 256;
constexpr float kScale = 4096;
constexpr std::size_t kAtOnce = 1024;  // pictures between two checks of progress and stop

std::uint16_t whole(float value) noexcept {
  return static_cast<std::uint16_t>(std::clamp(std::lround(value), 0L, 65535L));
}

PackedPlace pack(const Place& place) noexcept {
  const float turn = place.angle / kTurn;
  return {whole(place.x * kPixel), whole(place.y * kPixel), whole(place.scale * kScale),
          static_cast<std::uint16_t>(std::lround((turn - std::floor(turn)) * 65536) % 65536)};
}

}  // namespace

PictureSource pictures_of(const Fingerprints& sizes, ThumbnailSource thumbnails) {
  if (!thumbnails) {
    throw UsageError(
        "there are no thumbnails to compare pictures with; ingest again with --thumbnails on");
  }
  auto shapes = std::make_shared<std::vector<ThumbnailSize>>();
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    shapes->push_back(thumbnail_size(sizes.widths_px[row], sizes.heights_px[row]));
  }
  return [shapes, thumbnails = std::move(thumbnails)](std::uint32_t row) {
    const Ragged<ThumbnailBlock> blocks = thumbnails(row, 1);
    const ImageView view = thumbnail_view(blocks[0], (*shapes)[row]);
    Image image(view.height_px, view.width_px, 1);
    std::copy_n(view.data, image.pixels.size(), image.pixels.begin());
    return image;
  };
}

Place LandmarkTable::place(std::uint32_t landmark) const noexcept {
  const PackedPlace& packed = places_[landmark];
  return {static_cast<float>(packed.x) / kPixel, static_cast<float>(packed.y) / kPixel,
          static_cast<float>(packed.scale) / kScale,
          static_cast<float>(packed.angle) / 65536 * kTurn};
}

LandmarkTable::LandmarkTable()
    : codes_{.hash = "landmarks", .version = 1, .bits = kLandmarkBits, .words = {}} {}

LandmarkTable::LandmarkTable(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                             const SearchOptions& options)
    : LandmarkTable() {
  std::vector<std::vector<Landmark>> found;
  for (std::size_t begin = 0; begin < rows.size(); begin += kAtOnce) {
    if (options.stop && options.stop()) throw StoppedError("stopped while looking for landmarks");
    const std::size_t count = std::min(kAtOnce, rows.size() - begin);
    found.assign(count, {});
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      found[i] = find_landmarks(content_plane(pictures(rows[begin + i]).view()));
    });
    for (std::size_t i = 0; i < count; ++i) {
      for (const Landmark& landmark : found[i]) {
        codes_.words.insert(codes_.words.end(), landmark.code.begin(), landmark.code.end());
        places_.push_back(pack(landmark.place));
        owners_.push_back(rows[begin + i]);
      }
    }
    if (options.progress) options.progress({begin + count, rows.size(), {}, "landmarks", "images"});
  }
}

LandmarkTable::LandmarkTable(std::vector<std::uint64_t> codes, std::vector<PackedPlace> places,
                             std::vector<std::uint32_t> owners)
    : LandmarkTable() {
  codes_.words = std::move(codes);
  places_ = std::move(places);
  owners_ = std::move(owners);
}

void LandmarkTable::append(std::uint32_t owner, std::span<const std::uint64_t> codes,
                           std::span<const PackedPlace> places) {
  codes_.words.insert(codes_.words.end(), codes.begin(), codes.end());
  places_.insert(places_.end(), places.begin(), places.end());
  owners_.resize(places_.size(), owner);
}

void LandmarkTable::append(const LandmarkTable& other, const OwnerOf& owner_of) {
  const std::size_t width = codes_.words_per_code();
  const std::span words = other.codes_.words;
  for (std::size_t begin = 0; begin < other.size();) {
    std::size_t end = begin;
    while (end < other.size() && other.owners_[end] == other.owners_[begin]) ++end;
    if (const auto owner = owner_of(other.owners_[begin])) {
      append(*owner, words.subspan(begin * width, (end - begin) * width),
             other.places().subspan(begin, end - begin));
    }
    begin = end;
  }
}

void LandmarkTable::reserve(std::size_t landmarks) {
  codes_.words.reserve(landmarks * codes_.words_per_code());
  places_.reserve(landmarks);
  owners_.reserve(landmarks);
}

}  // namespace winnow::dedup
