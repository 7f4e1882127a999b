#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/image.h"
#include "dedup/search/search.h"
#include "dedup/table/fingerprints.h"
#include "dedup/verify/landmarks.h"

namespace winnow::dedup {

// Returns the gray thumbnail of a row. Thread-safe.
using PictureSource = std::function<Image(std::uint32_t row)>;

// The thumbnails of a table as a PictureSource. Throws UsageError if it has none.
PictureSource pictures_of(const Fingerprints& sizes, ThumbnailSource thumbnails);

// Place in 8 bytes, as landmarks are stored.
struct PackedPlace {
  std::uint16_t x = 0;      // in 1/256 pixel
  std::uint16_t y = 0;      // in 1/256 pixel
  std::uint16_t scale = 0;  // in 1/4096 pixel
  std::uint16_t angle = 0;  // in 1/65536 of a turn
  friend bool operator==(const PackedPlace&, const PackedPlace&) = default;
};

// The landmarks (keypoints with codes) of many pictures without their frames (content_of), in the
// order of `rows`. 28 bytes a landmark.
class LandmarkTable {
 public:
  LandmarkTable();  // empty
  // Finds the landmarks of these rows. Of `options`, uses progress (it counts pictures) and stop.
  LandmarkTable(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                const SearchOptions& options = {});

  // Takes arrays as returned by codes(), places() and owners().
  LandmarkTable(std::vector<std::uint64_t> codes, std::vector<PackedPlace> places,
                std::vector<std::uint32_t> owners);

  // Appends the landmarks of another picture, as returned by codes() and places().
  void append(std::uint32_t owner, std::span<const std::uint64_t> codes,
              std::span<const PackedPlace> places);
  // Appends landmarks of `other`: those of its pictures for which `owner_of` returns a row number,
  // under that number.
  using OwnerOf = std::function<std::optional<std::uint32_t>(std::uint32_t owner)>;
  void append(const LandmarkTable& other, const OwnerOf& owner_of);
  void reserve(std::size_t landmarks);  // allocates exactly this capacity

  std::size_t size() const noexcept { return owners_.size(); }
  const CodeColumn& codes() const noexcept { return codes_; }
  LandmarkCode code(std::uint32_t landmark) const noexcept {
    const auto words = codes_.code(landmark);
    return {words[0], words[1]};
  }
  std::span<const PackedPlace> places() const noexcept { return places_; }
  Place place(std::uint32_t landmark) const noexcept;
  std::span<const std::uint32_t> owners() const noexcept { return owners_; }
  // The row of the picture that has the landmark.
  std::uint32_t owner(std::uint32_t landmark) const noexcept { return owners_[landmark]; }

 private:
  CodeColumn codes_;
  std::vector<PackedPlace> places_;
  std::vector<std::uint32_t> owners_;
};

}  // namespace winnow::dedup
