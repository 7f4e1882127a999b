#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

struct NetOptions {
  std::int64_t batch = 1;  // the micro-batch: the group of batch norm
  int channels = 3;
  int height_px = 32;
  int width_px = 32;
  int classes = 10;
  std::vector<float> mean;       // per channel, scale [0, 1]
  std::vector<float> deviation;  // per channel
  double label_smoothing = 0;
};

// Names of the values every net has, to bind: inputs "pixels" (u8 N,C,H,W), "targets" (N,K),
// "weights" (N); outputs kLoss, kPerSampleLoss, kLogits, and kMean/kVariance for each batch norm.
// Parameters carry torchvision's names. The graph is forward only; see fuse, differentiate,
// for_inference.
struct Net {
  std::string_view name;
  std::string_view what;
  int default_side_px;  // when images of a data set differ in size
  Graph (*make)(const NetOptions& options);
};
std::span<const Net> nets();
const Net& find_net(std::string_view name);  // UsageError naming the known ones

// Initial values of a parameter or state: a pure function of its Value and the seed.
std::vector<float> initial_value(const Value& value, std::uint64_t seed);

}  // namespace winnow::train
