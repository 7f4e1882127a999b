#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/image.h"
#include "common/resample.h"
#include "dedup/audit/measures.h"

namespace winnow::dedup {

// Measures an image whose rows arrive a few at a time, from the top. The same bits on every
// machine.
// Not thread-safe.
class RowMeasures {
 public:
  // An image of at least 1x1 px with 1 or 3 channels. `weights` as for RowResizer.
  RowMeasures(int height_px, int width_px, int channels, ResampleWeights* weights = nullptr);

  // The next rows at full width: as they are, and as to_gray() makes them.
  void add(ImageView rows, ImageView gray);
  // Call it once all rows are there. The caller fills in the orientation.
  Measures finish();

 private:
  int first_column() const noexcept;  // first grid column in its next row
  void sample_gray(const std::uint8_t* row);
  void sample_rgb(const std::uint8_t* row);
  float brightness_at(std::uint64_t percent) const noexcept;

  int height_px_;
  int width_px_;
  int channels_;
  int step_;      // grid spacing
  int next_row_;  // next row of the grid
  int row_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t white_ = 0;
  std::uint64_t spread_ = 0;                     // sum of squares
  std::array<std::uint32_t, 3 * 256> values_{};  // by channel
  std::array<std::uint32_t, 512> brightness_{};  // by squared brightness
  std::optional<RowResizer> resizer_;            // nullopt: rows are gathered in small_
  Image small_;
};

// Measures a whole image.
Measures measure(ImageView image);

}  // namespace winnow::dedup
