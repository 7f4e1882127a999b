#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/sample.h"

namespace winnow::dedup {
struct Fingerprints;
}

namespace winnow::pipeline {

// Number of values in each bucket, from the first to the last non-empty one.
struct Histogram {
  int first = 0;  // number of the first bucket
  // Numbers for buckets first, first + 1, ...; the first and the last are not 0.
  std::vector<std::uint64_t> counts;

  void add(int bucket);
  std::uint64_t total() const noexcept;
  int end() const noexcept { return first + static_cast<int>(counts.size()); }

  friend bool operator==(const Histogram&, const Histogram&) = default;
};

// Buckets are steps of a ratio, computed in integers: half-octave bucket b holds values from
// 2^(b/2) to below 2^((b+1)/2).
int octave(std::uint64_t value) noexcept;  // floor(log2(value)); 0 for 0
int half_octave(std::uint32_t value) noexcept;
// kSquare plus the quarter octave nearest to width / height. kSquare is 1:1 (from 2^(-1/8) to
// 2^(1/8)), kSquare + 2 has 4:3 and 3:2, kSquare + 3 has 16:9. A portrait image is equally far
// below.
inline constexpr int kSquare = 128;
int aspect_bucket(std::uint32_t width_px, std::uint32_t height_px) noexcept;

// Statistics of the readable images. Integers throughout: the result does not depend on the order
// of adding, and its size only depends on the number of classes.
struct Statistics {
  struct OfSplit {
    std::uint64_t unlabelled = 0;  // images without any label that has a class
    // Number of images of each class; an image with several labels counts in each.
    std::vector<std::uint64_t> classes;

    friend bool operator==(const OfSplit&, const OfSplit&) = default;
  };
  struct Picture {
    SampleId id = 0;  // the first one of its size
    std::uint32_t width_px = 0;
    std::uint32_t height_px = 0;

    std::uint64_t pixels() const noexcept { return std::uint64_t{width_px} * height_px; }
    friend bool operator==(const Picture&, const Picture&) = default;
  };

  Statistics() = default;
  explicit Statistics(std::size_t classes);

  // Adds any rows with the columns labels, widths_px, heights_px and file_bytes, each image once.
  void add(const dedup::Fingerprints& rows);
  // Whether all counts are possible for these numbers of images.
  bool agrees_with(const std::array<std::uint64_t, kSplitCount>& split_counts) const noexcept;

  std::array<OfSplit, kSplitCount> splits;
  Histogram short_side;  // in px, by half octaves
  Histogram pixels;      // per image, by octaves
  Histogram aspect;      // width / height, by quarter octaves around kSquare
  Histogram file_bytes;  // size of the input, by octaves
  std::uint64_t total_pixels = 0;
  std::uint64_t total_file_bytes = 0;
  Picture smallest;  // by pixels; all 0 without images
  Picture largest;

  friend bool operator==(const Statistics&, const Statistics&) = default;
};

}  // namespace winnow::pipeline
