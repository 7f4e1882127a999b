#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace winnow::train {

// Sums over all patches of some images: of pixels, and of products of pixels. They are integers, so
// the order in which images are added does not matter.
class PatchSums {
 public:
  PatchSums(int channels, int side_px);  // channels and side of a patch

  // Adds the patches of an image. pixels: u8 (H,W,C). An image smaller than a patch has no patches.
  void add(std::span<const std::uint8_t> pixels, int height_px, int width_px);

  int channels() const noexcept { return channels_; }
  int side_px() const noexcept { return side_px_; }
  // Number of elements of a patch. They are ordered as in a filter: (C,side,side).
  std::size_t size() const noexcept { return sums_.size(); }
  std::uint64_t count() const noexcept { return count_; }
  // Mean of x_i, and mean of x_i x_j, over all patches, where x_i is element i of a patch. Pixels
  // are in [0, 255].
  double mean(std::size_t i) const;
  double mean(std::size_t i, std::size_t j) const;

 private:
  int channels_;
  int side_px_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> sums_;
  // Sums of products of pixels i and j of a patch, size() x size(); only columns j <= i are used.
  std::vector<std::uint64_t> products_;
};

struct WhiteningOptions {
  std::span<const float> mean;    // mean of each channel, for pixels in [0, 1]
  std::span<const float> stddev;  // standard deviation of each channel, for pixels in [0, 1]
  double epsilon = 5e-4;          // added to the eigenvalues
};

// Returns filters that whiten patches of normalised images: shape (2 D,C,side,side), where D = C *
// side * side.
// Filters  First e_k / sqrt(l_k + epsilon), then the negatives of these. e_k, l_k: eigenvectors and
//          eigenvalues of the patches' second moments, largest first. The largest element of e_k is
//          positive.
// Errors   Error if no patch was added.
// Source   KellerJordan/cifar10-airbench.
std::vector<float> whitening_filters(const PatchSums& patches, const WhiteningOptions& options);

}  // namespace winnow::train
