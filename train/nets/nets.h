#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/losses.h"

namespace winnow::train {

// Limits for nets. Graphs have a limit of their own: kMostElements.
inline constexpr int kMostMicroBatch = 1 << 20;
inline constexpr int kMostSidePx = 1 << 14;
inline constexpr int kMostClasses = 1 << 24;

struct NetOptions {
  std::int64_t batch = 1;  // micro-batch, the group of batch norm; 1 to kMostMicroBatch
  int channels = 3;        // 3 or 1
  int height_px = 32;      // 1 to kMostSidePx; also the width
  int width_px = 32;
  int classes = 10;           // 1 to kMostClasses
  std::vector<float> mean;    // per channel, on the scale [0, 1]
  std::vector<float> stddev;  // per channel, above 0
  LossOptions loss{};
};
double loss_of_guessing(const NetOptions& options);  // if all classes are equally probable
// Throws UsageError if image size, micro-batch or classes exceed these limits.
void check_ranges(const NetOptions& options);

// A row of the table of nets. Graphs are forward only; train/rewrites adds the rest.
//
// Inputs      To bind: "pixels" (u8 N,C,H,W), "targets" (N,K) and "weights" (N). With dropout also
//             "keys" (u8 N,8). No targets if the loss reads no labels.
// Outputs     kLoss, kPerSampleLoss, kLogits. kMean and kVariance for each batch norm. Without
//             labels, the logits are the input of the projector.
// Parameters  Named as in torchvision.
struct Net {
  std::string_view name;
  std::string_view what;
  int default_side_px;  // for data sets whose images differ in size
  Graph (*make)(const NetOptions& options);
};
std::span<const Net> nets();
const Net& find_net(std::string_view name);  // UsageError naming the known ones

// Initial value of a parameter or buffer: a pure function of its Value and the seed.
std::vector<float> initial_value(const Value& value, std::uint64_t seed);

}  // namespace winnow::train
