#include "dedup/verify/known_landmarks.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/error.h"

namespace winnow::dedup {
namespace {

constexpr std::uint16_t kLeastScale = 2048;  // half a pixel

}  // namespace

LandmarkPiece piece_of(LandmarkTable landmarks, std::uint64_t pictures) {
  std::vector<std::uint64_t> offsets(pictures + 1);
  for (const std::uint32_t owner : landmarks.owners()) ++offsets.at(owner + 1);
  for (std::uint64_t i = 0; i < pictures; ++i) offsets[i + 1] += offsets[i];
  const auto owned = std::make_shared<const LandmarkTable>(std::move(landmarks));
  return {.memory = owned,
          .codes = owned->codes().words,
          .places = owned->places(),
          .offsets = std::move(offsets)};
}

KnownLandmarks::KnownLandmarks(LandmarkTable landmarks) {
  const std::uint64_t pictures = landmarks.size() == 0 ? 0 : landmarks.owners().back() + 1;
  std::vector<std::optional<std::uint32_t>> rows;
  for (std::uint32_t row = 0; row < pictures; ++row) rows.emplace_back(row);
  add(piece_of(std::move(landmarks), pictures), std::move(rows));
}

void KnownLandmarks::add(LandmarkPiece piece, std::vector<std::optional<std::uint32_t>> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]) size_ += piece.offsets[i + 1] - piece.offsets[i];
  }
  const std::uint32_t first = end_;
  if (piece.places.size() > std::numeric_limits<std::uint32_t>::max() - end_) {
    throw UsageError("these images have more than 2^32 landmarks; compare the images in parts");
  }
  end_ += static_cast<std::uint32_t>(piece.places.size());
  parts_.push_back({std::move(piece), std::move(rows), first});
}

KnownLandmarks::Picture KnownLandmarks::picture(const Part& part, std::size_t i) {
  const auto& [memory, codes, places, offsets] = part.piece;
  const std::size_t count = offsets[i + 1] - offsets[i];
  return {.row = *part.rows[i],
          .first = part.first + static_cast<std::uint32_t>(offsets[i]),
          .codes = codes.subspan(kLandmarkWords * offsets[i], kLandmarkWords * count),
          .places = places.subspan(offsets[i], count)};
}

KnownLandmarks::Picture KnownLandmarks::picture_of(std::uint32_t landmark) const {
  const auto part = std::prev(std::ranges::upper_bound(parts_, landmark, {}, &Part::first));
  const std::vector<std::uint64_t>& offsets = part->piece.offsets;
  const auto behind = std::ranges::upper_bound(offsets, landmark - part->first);
  return picture(*part, static_cast<std::size_t>(behind - offsets.begin()) - 1);
}

void KnownLandmarks::Picture::append_to(LandmarkTable& landmarks) const {
  std::vector<PackedPlace> good(places.begin(), places.end());
  // No landmark is smaller, and a scale of 0 would break later steps.
  for (PackedPlace& place : good) place.scale = std::max(place.scale, kLeastScale);
  landmarks.append(row, codes, good);
}

LandmarkTable KnownLandmarks::table() const {
  LandmarkTable all;
  all.reserve(size_);
  for_each([&](const Picture& picture) { picture.append_to(all); });
  return all;
}

}  // namespace winnow::dedup
