#pragma once

#include <iosfwd>
#include <map>
#include <span>
#include <string>

#include "train/graph/graph.h"

// Estimates the time of a step on a card that moves each kernel's bytes and multiplies its numbers
// at peak rates, and does nothing else. Written before a run, compared with it afterwards.
namespace winnow::gpu {

// Peak rates without sparsity, from NVIDIA's data sheets.
struct Peaks {
  const char* name;
  double bytes_per_second;  // to and from the card's memory
  double f32, tf32, half;   // operations a second; half: bf16 and f16 on tensor cores
};
std::span<const Peaks> peaks();  // H100 SXM, H200 SXM, A100 SXM of 40 GB

// The work of a node with today's kernels.
struct Cost {
  double bytes = 0;       // read from and written to the card's memory
  double operations = 0;  // a multiplication and an addition are two
};
// Norms read their input twice, once for sums and once for the result. Their gradients read each of
// x, dy and y twice. All else is read once.
Cost cost_of(const train::Graph& graph, const train::Node& node, train::DType dtype);

// The longer of the times for bytes and for operations.
double seconds(const Cost& cost, const Peaks& card, train::DType dtype);

// Seconds of a step on a card, by kind of kernel: "convolutions", "norms", "other".
std::map<std::string, double> step_seconds(const train::Graph& graph, const Peaks& card,
                                           train::DType dtype);

// A Markdown table of ResNet-50 (batch 256) and ResNet-20 (batch 1,024) in training, in bf16.
void print_prediction(std::ostream& out);

}  // namespace winnow::gpu
