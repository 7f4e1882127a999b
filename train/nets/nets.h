#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/losses.h"

namespace winnow::train {

// What a net can be asked for. A graph has a limit of its own: kMostElements.
inline constexpr int kMostMicroBatch = 1 << 20;
inline constexpr int kMostSidePx = 1 << 14;
inline constexpr int kMostClasses = 1 << 24;

struct NetOptions {
  std::int64_t batch = 1;  // the micro-batch: the group of batch norm; from 1 to kMostMicroBatch
  int channels = 3;        // or 1
  int height_px = 32;      // from 1 to kMostSidePx, as the width
  int width_px = 32;
  int classes = 10;           // from 1 to kMostClasses
  std::vector<float> mean;    // per channel, scale [0, 1]
  std::vector<float> stddev;  // per channel, above 0
  LossOptions loss{};
};
double loss_of_guessing(const NetOptions& options);  // of equal chances for all classes
// Throws UsageError for images, a micro-batch or classes out of these ranges.
void check_ranges(const NetOptions& options);

// A row of the table of nets. Every net's graph is forward only (see train/rewrites) and has:
//
// Inputs      "pixels" (u8 N,C,H,W), "targets" (N,K) and "weights" (N), to bind.
//             With dropout also "keys" (u8 N,8). No targets where the loss reads no labels.
// Outputs     kLoss, kPerSampleLoss, kLogits. kMean and kVariance for each batch norm.
//             Without labels the logits are what the projector makes its projections of.
// Parameters  under torchvision's names.
struct Net {
  std::string_view name;
  std::string_view what;
  int default_side_px;  // when images of a data set differ in size
  Graph (*make)(const NetOptions& options);
};
std::span<const Net> nets();
const Net& find_net(std::string_view name);  // UsageError naming the known ones

// Initial values of a parameter or buffer: a pure function of its Value and the seed.
std::vector<float> initial_value(const Value& value, std::uint64_t seed);

}  // namespace winnow::train
