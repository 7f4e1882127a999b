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

// How many values fell into each bucket, from the first to the last that has any.
struct Histogram {
  int first = 0;                      // number of the first bucket
  std::vector<std::uint64_t> counts;  // of buckets first, first + 1, ...; neither end is 0

  void add(int bucket);
  std::uint64_t total() const noexcept;
  int end() const noexcept { return first + static_cast<int>(counts.size()); }

  friend bool operator==(const Histogram&, const Histogram&) = default;
};

// Buckets are steps of a ratio, found with whole numbers: bucket b of half octaves holds values
// from 2^(b/2) to below 2^((b+1)/2).
int octave(std::uint64_t value) noexcept;  // floor(log2(value)); 0 for 0
int half_octave(std::uint32_t value) noexcept;
// kSquare plus the quarter octave nearest to width / height: kSquare is 1:1 (from 2^(-1/8) to
// 2^(1/8)), 2 more has 4:3 and 3:2, 3 more 16:9; an image turned on its side is as far below.
inline constexpr int kSquare = 128;
int aspect_bucket(std::uint32_t width_px, std::uint32_t height_px) noexcept;

// Counts over the readable images. Whole numbers throughout: the result depends on no order of
// adding, and its size on the number of classes alone.
struct Statistics {
  struct OfSplit {
    std::uint64_t unlabelled = 0;        // images without a label that has a class
    std::vector<std::uint64_t> classes;  // images of each; one of several labels is in each of them

    friend bool operator==(const OfSplit&, const OfSplit&) = default;
  };
  struct Picture {
    SampleId id = 0;  // the first of its size
    std::uint32_t width_px = 0;
    std::uint32_t height_px = 0;

    std::uint64_t pixels() const noexcept { return std::uint64_t{width_px} * height_px; }
    friend bool operator==(const Picture&, const Picture&) = default;
  };

  Statistics() = default;
  explicit Statistics(std::size_t classes);

  // Any rows with the columns labels, widths_px, heights_px and file_bytes, each image once.
  void add(const dedup::Fingerprints& rows);
  // Whether all counts can be those of so many images.
  bool agrees_with(const std::array<std::uint64_t, kSplitCount>& split_counts) const noexcept;

  std::array<OfSplit, kSplitCount> splits;
  Histogram short_side;  // of px, by half octaves
  Histogram pixels;      // of an image, by octaves
  Histogram aspect;      // width / height, by quarter octaves about kSquare
  Histogram file_bytes;  // of the input, by octaves
  std::uint64_t total_pixels = 0;
  std::uint64_t total_file_bytes = 0;
  Picture smallest;  // by pixels; all 0 where there is no image
  Picture largest;

  friend bool operator==(const Statistics&, const Statistics&) = default;
};

}  // namespace winnow::pipeline
