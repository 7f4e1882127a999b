#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/losses.h"

namespace winnow::train {

// Limits for the options of nets. Values in a graph have a limit of their own: kMostElements.
inline constexpr int kMostMicroBatch = 1 << 20;
inline constexpr int kMostSidePx = 1 << 14;
inline constexpr int kMostClasses = 1 << 24;

struct NetOptions {
  // Images in a micro-batch, which share batch norm statistics; 1 to kMostMicroBatch.
  std::int64_t batch = 1;
  int channels = 3;    // channels of the images: 3 or 1
  int height_px = 32;  // height of the images, 1 to kMostSidePx; the same limits for the width
  int width_px = 32;
  int classes = 10;           // number of classes, 1 to kMostClasses
  std::vector<float> mean;    // mean of each channel, for pixels in [0, 1]
  std::vector<float> stddev;  // standard deviation of each channel, for pixels in [0, 1]; above 0
  LossOptions loss{};
};
// Value of the loss if all classes are predicted with equal probability.
double loss_of_guessing(const NetOptions& options);
// Throws UsageError if image size, micro-batch or number of classes is out of range.
void check_ranges(const NetOptions& options);

// One built-in net: a row of nets(). Graphs are forward only; train/rewrites adds the rest.
//
// Inputs      To bind: "pixels" (u8 N,C,H,W), "targets" (N,K) for K classes, and "weights" (N).
//             With dropout also "keys" (u8 N,8). If the loss reads no labels, there are no targets.
// Outputs     kLoss, kPerSampleLoss, kLogits; kMean and kVariance for each batch norm. If the loss
//             reads no labels, the logits are the input of the projector.
// Parameters  Named as in torchvision.
struct Net {
  std::string_view name;
  std::string_view what;
  int default_side_px;  // default image side in pixels, for data sets whose images differ in size
  Graph (*make)(const NetOptions& options);
};
std::span<const Net> nets();
const Net& find_net(std::string_view name);  // throws UsageError, which names the known nets

// Returns the initial value of a parameter or buffer. Pure: depends only on `value` and `seed`.
std::vector<float> initial_value(const Value& value, std::uint64_t seed);

}  // namespace winnow::train
