#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/image.h"
#include "dedup/fingerprints.h"
#include "dedup/search/search.h"
#include "dedup/verify/landmarks.h"

namespace winnow::dedup {

// Gives the gray thumbnail of a row. For any number of threads.
using PictureSource = std::function<Image(std::uint32_t row)>;

// The thumbnails of a table. UsageError where it has none.
PictureSource pictures_of(const Fingerprints& sizes, ThumbnailSource thumbnails);

// The landmarks of the content (content_of) of many pictures, in the order of `rows`. 28 bytes a
// landmark.
class LandmarkTable {
 public:
  // Of `options` its progress, which counts pictures, and its stop.
  LandmarkTable(std::span<const std::uint32_t> rows, const PictureSource& pictures,
                const SearchOptions& options = {});

  std::size_t size() const noexcept { return owners_.size(); }
  const CodeColumn& codes() const noexcept { return codes_; }
  LandmarkCode code(std::uint32_t landmark) const noexcept {
    const auto words = codes_.code(landmark);
    return {words[0], words[1]};
  }
  Place place(std::uint32_t landmark) const noexcept;
  // The row of the table of pictures it is in.
  std::uint32_t owner(std::uint32_t landmark) const noexcept { return owners_[landmark]; }

 private:
  struct PackedPlace {
    std::uint16_t x;      // 1/256 pixel
    std::uint16_t y;      // 1/256 pixel
    std::uint16_t scale;  // 1/4096 pixel
    std::uint16_t angle;  // 1/65536 of a turn
  };
  static PackedPlace pack(const Place& place) noexcept;

  CodeColumn codes_;
  std::vector<PackedPlace> places_;
  std::vector<std::uint32_t> owners_;
};

}  // namespace winnow::dedup
