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

// A histogram: counts of buckets, from the first to the last non-empty one.
struct Histogram {
  int first = 0;  // number of the first non-empty bucket
  // Counts of buckets first, first + 1, ...; the first and the last count are not 0.
  std::vector<std::uint64_t> counts;

  void add(int bucket);
  std::uint64_t total() const noexcept;
  int end() const noexcept { return first + static_cast<int>(counts.size()); }

  friend bool operator==(const Histogram&, const Histogram&) = default;
};

// The bucket of a value in a histogram with logarithmic buckets, computed in integers. Half-octave
// bucket b has values from 2^(b/2) to below 2^((b+1)/2).
int octave(std::uint64_t value) noexcept;  // floor(log2(value)); 0 for 0
int half_octave(std::uint32_t value) noexcept;
// The bucket of an aspect ratio: kSquare plus the number of quarter octaves nearest to log2(width /
// height). kSquare is 1:1 (2^(-1/8) to 2^(1/8)), kSquare + 2 has 4:3 and 3:2, kSquare + 3 has 16:9.
// Portrait images are equally far below kSquare.
inline constexpr int kSquare = 128;
int aspect_bucket(std::uint32_t width_px, std::uint32_t height_px) noexcept;

// Statistics of a cache's readable images. All integers: the result does not depend on the order of
// adding, and its size depends only on the number of classes.
struct Statistics {
  struct OfSplit {
    std::uint64_t unlabelled = 0;  // images without a label, or only with labels that have no class
    // Number of images of each class; an image with several labels counts in each.
    std::vector<std::uint64_t> classes;

    friend bool operator==(const OfSplit&, const OfSplit&) = default;
  };
  struct Picture {
    SampleId id = 0;  // id of the first image of this size
    std::uint32_t width_px = 0;
    std::uint32_t height_px = 0;

    std::uint64_t pixels() const noexcept { return std::uint64_t{width_px} * height_px; }
    friend bool operator==(const Picture&, const Picture&) = default;
  };

  Statistics() = default;
  explicit Statistics(std::size_t classes);

  // Adds the images of any rows of a fingerprint table. Needs columns labels, widths_px, heights_px
  // and file_bytes. Each image must be added once.
  void add(const dedup::Fingerprints& rows);
  // Whether all counts are possible for these numbers of images.
  bool agrees_with(const std::array<std::uint64_t, kSplitCount>& split_counts) const noexcept;

  std::array<OfSplit, kSplitCount> splits;
  Histogram short_side;  // shorter side in pixels, by half octaves
  Histogram pixels;      // pixels per image, by octaves
  Histogram aspect;      // width / height, by quarter octaves around kSquare
  Histogram file_bytes;  // size of the input's file, by octaves
  std::uint64_t total_pixels = 0;
  std::uint64_t total_file_bytes = 0;
  Picture smallest;  // image with fewest pixels; all 0 without images
  Picture largest;

  friend bool operator==(const Statistics&, const Statistics&) = default;
};

}  // namespace winnow::pipeline
