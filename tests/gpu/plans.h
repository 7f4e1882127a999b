#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/gpu/devices.h"

// The plans that a card's libraries chose, in words, and requirements for plans with tensor cores.
namespace winnow::gpu {

// The plan of each layer, by the layer without the word for deterministic plans.
using Plans = std::map<std::string, std::string>;
Plans plans_of(const std::vector<MadeProduct>& made);

// The number of layers of each plan: "cudnn engine 46: 12, own loops: 1"; "none" without a layer.
std::string in_words(const Plans& plans);
// Compares the plans for deterministic programs with those for any program: "the same for all 13
// layers", or the number that differ, and the first of them with both names.
std::string compared(const Plans& any, const Plans& deterministic);

// A layer in one pass, by a plan for f32 and by one for tf32.
struct RoundedLayer {
  std::string name;           // "conv2d_backward_data_wide_3x3"
  bool tensor_cores = false;  // according to the plan for tf32
  double f32_error = 0;       // relative l2 to float64
  double tf32_error = 0;
};

struct Verdict {
  bool passed = false;
  std::string note;  // the faults, layer by layer
};

// Passes if, for each layer on tensor cores, tf32's error is above ten times that of f32 and within
// tf32's tolerance, and if there is such a layer in each pass: forward, data and filter gradient.
Verdict judge_tf32(std::span<const RoundedLayer> layers);

// The wide products of tests/train/cases.h by the backend on `device`.
std::vector<RoundedLayer> tf32_layers(std::shared_ptr<train::cudnn::Device> device);

}  // namespace winnow::gpu
