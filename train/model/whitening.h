#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace winnow::train {

// Sums of the pixels of all patches of some images, and of their products, in whole numbers: they
// do not depend on the order in which images are added.
class PatchSums {
 public:
  PatchSums(int channels, int side_px);  // of a patch

  // pixels (H,W,C) of u8. An image smaller than a patch has none.
  void add(std::span<const std::uint8_t> pixels, int height_px, int width_px);

  int channels() const noexcept { return channels_; }
  int side_px() const noexcept { return side_px_; }
  // Numbers of a patch, in the order (C,side,side) of a filter.
  std::size_t size() const noexcept { return sums_.size(); }
  std::uint64_t count() const noexcept { return count_; }
  // Mean of x_i and of x_i x_j over the patches, of pixels from 0 to 255.
  double mean(std::size_t i) const;
  double mean(std::size_t i, std::size_t j) const;

 private:
  int channels_;
  int side_px_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint64_t>
      products_;  // size() x size(), of which the columns up to the row are used
};

struct WhiteningOptions {
  std::span<const float> mean;    // a channel each, scale [0, 1]
  std::span<const float> stddev;  // likewise
  double epsilon = 5e-4;          // added to the eigenvalues
};

// Filters (2 D,C,side,side), D = C side side, that whiten patches of normalised images: first e_k /
// sqrt(l_k + epsilon), then the same with the other sign. e_k, l_k: eigenvectors and eigenvalues of
// the patches' second moments, largest first; the largest element of e_k is positive. Of
// KellerJordan/cifar10-airbench. Throws Error where no patch was added.
std::vector<float> whitening_filters(const PatchSums& patches, const WhiteningOptions& options);

}  // namespace winnow::train
