#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/image.h"
#include "common/resample.h"
#include "dedup/audit/measures.h"

namespace winnow::dedup {

// Computes the Measures of an image whose rows arrive a few at a time, from the top. The same bits
// on every machine. Not thread-safe.
class RowMeasures {
 public:
  // For an image of at least 1x1 px with 1 or 3 channels. `weights` as for RowResizer.
  RowMeasures(int height_px, int width_px, int channels, ResampleWeights* weights = nullptr);

  // Adds the next rows at full width. `rows` has the image's channels; `gray` is the same rows
  // after to_gray().
  void add(ImageView rows, ImageView gray);
  // The measures of the image. Call it after the last row was added. The caller fills in
  // orientation.
  Measures finish();

 private:
  int first_column() const noexcept;  // column of the first sampled pixel in row next_row_
  void sample_gray(const std::uint8_t* row);
  void sample_rgb(const std::uint8_t* row);
  float brightness_at(std::uint64_t percent) const noexcept;

  int height_px_;
  int width_px_;
  int channels_;
  int step_;      // spacing of sampled pixels
  int next_row_;  // the next row with sampled pixels
  int row_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t white_ = 0;
  std::uint64_t spread_ = 0;                     // sum of squares
  std::array<std::uint32_t, 3 * 256> values_{};  // by channel
  std::array<std::uint32_t, 512> brightness_{};  // by squared brightness
  // nullopt: the image is small, so its rows go to small_ unchanged.
  std::optional<RowResizer> resizer_;
  Image small_;
};

// Measures a whole image.
Measures measure(ImageView image);

}  // namespace winnow::dedup
