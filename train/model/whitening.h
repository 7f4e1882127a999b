#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace winnow::train {

// Sums over all patches of some images: of pixels, and of products of pixels. Integers, so that the
// order in which images are added does not matter.
class PatchSums {
 public:
  PatchSums(int channels, int side_px);  // size of a patch

  // Adds an image: pixels (H,W,C) of u8. An image smaller than a patch has no patches.
  void add(std::span<const std::uint8_t> pixels, int height_px, int width_px);

  int channels() const noexcept { return channels_; }
  int side_px() const noexcept { return side_px_; }
  // Number of elements of a patch, which are ordered as in a filter: (C,side,side).
  std::size_t size() const noexcept { return sums_.size(); }
  std::uint64_t count() const noexcept { return count_; }
  // Mean of x_i, and of x_i x_j, over the patches. Pixels are on the scale 0 to 255.
  double mean(std::size_t i) const;
  double mean(std::size_t i, std::size_t j) const;

 private:
  int channels_;
  int side_px_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint64_t> products_;  // size() x size(); only columns up to the row are used
};

struct WhiteningOptions {
  std::span<const float> mean;    // per channel, on the scale [0, 1]
  std::span<const float> stddev;  // the same
  double epsilon = 5e-4;          // added to the eigenvalues
};

// Filters (2 D,C,side,side), D = C side side, that whiten patches of normalised images.
// Filters  First e_k / sqrt(l_k + epsilon), then the same with the opposite sign. e_k, l_k:
//          eigenvectors and eigenvalues of the patches' second moments, largest first. The largest
//          element of e_k is positive.
// Errors   Error if no patch was added.
// Source   KellerJordan/cifar10-airbench.
std::vector<float> whitening_filters(const PatchSums& patches, const WhiteningOptions& options);

}  // namespace winnow::train
