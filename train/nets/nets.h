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
  std::vector<float> mean;    // per channel, scale [0, 1]
  std::vector<float> stddev;  // per channel
  double label_smoothing = 0;
};

// A row of the table of nets. Every net's graph is forward only (see train/rewrites) and has:
//
// Inputs      "pixels" (u8 N,C,H,W), "targets" (N,K), "weights" (N), to bind
// Outputs     kLoss, kPerSampleLoss, kLogits, and kMean and kVariance for each batch norm
// Parameters  under torchvision's names
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
