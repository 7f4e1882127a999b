#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "train/backend/backend.h"
#include "train/graph/graph.h"
#include "train/ops/cases.h"

namespace winnow::train {

// Compares every backend with the float64 reference: one table for all backends.
// It does not use GoogleTest, so it also runs on machines without it.

using Numbers = std::vector<double>;
using Inputs = std::map<ValueId, Numbers>;

// Largest relative l2 error of a backend.
// f32     Sums of some hundred products.
// bf16    8 significant bits: 2^-9 = 0.002 per rounding.
// tf32    11 significant bits of the factors.
// f16     11 significant bits: 2^-12 = 0.00025 per rounding.
double tolerance(DType compute);

// |got - want| / |want|. Both zero: 0. NaN: infinity.
double relative_l2(const Numbers& got, const Numbers& want);

double as_bf16(double number);
double as_f16(double number);

// Inputs as a program of this precision reads them: activations given from outside are rounded.
Inputs as_seen(const Graph& graph, Inputs inputs, DType compute);

// A program together with its memory. Outputs hold 77 before the first run.
class Running {
 public:
  Running(Backend& backend, const Graph& graph, const Inputs& inputs,
          const CompileOptions& options);
  Running(std::unique_ptr<Program> program, const Inputs& inputs);  // bound, not yet loaded

  Program& program() { return *program_; }
  std::vector<float>& floats(ValueId id) { return floats_.at(id); }
  void run();  // runs all nodes to completion
  Numbers numbers(ValueId id) const;
  std::vector<Numbers> outputs() const;  // in the order of the graph

 private:
  void bind(ValueId id, const Numbers& numbers);

  std::unique_ptr<Program> program_;
  std::map<ValueId, std::vector<float>> floats_;
  std::map<ValueId, std::vector<std::uint8_t>> bytes_;
};

// The training graph of a net for images of side x side, as the trainer differentiates it.
Graph training_graph(std::string_view net, std::int64_t batch, int side, int channels);

struct NetCase {
  const char* net;
  std::int64_t batch;
  int side;
  int channels;
};
inline constexpr NetCase kConformanceNets[] = {
    {"lenet", 5, 28, 1}, {"resnet20", 4, 16, 3}, {"vit_tiny_patch4_32", 2, 12, 3}};

struct Deviation {
  std::string what;  // "conv2d_stem_7x7: y"
  double error = 0;
  double limit = 0;
  bool is_within() const { return error <= limit; }
};

// One operation; a row for each output, in the node's order.
std::vector<Deviation> compare_case(Backend& backend, const CompileOptions& options,
                                    const OpCase& made);

// Every operation of cases.h, norms and pools of many channels, mixed storage types, and whole
// nets. One row per compared value.
std::vector<Deviation> compare_operations(Backend& backend, const CompileOptions& options);
std::vector<Deviation> compare_wide_products(Backend& backend, const CompileOptions& options);
std::vector<Deviation> compare_wide_layers(Backend& backend, const CompileOptions& options);
std::vector<Deviation> compare_storages(Backend& backend, const CompileOptions& options);
std::vector<Deviation> compare_nets(Backend& backend, const CompileOptions& options);

// Nets that people train, on images so small that the reference takes seconds.
inline constexpr NetCase kDeepNets[] = {{"resnet18", 2, 64, 3},
                                        {"resnet50", 2, 64, 3},  // four pixels in the last stage
                                        {"convnext_tiny", 2, 64, 3},
                                        {"vit_tiny_patch4_32", 2, 32, 3}};

// A deep net, all gradients included. What the reference computes is computed once, for all types
// and backends.
//
// f32     each value within 1e-4 of the exact numbers
// others  no further from the exact numbers than rounding every value takes them
class DeepNet {
 public:
  explicit DeepNet(const NetCase& net);
  std::vector<Deviation> deviations(Backend& backend, const CompileOptions& options);

 private:
  using Values = std::vector<Numbers>;
  const Values& rounded(DType compute);
  std::vector<Deviation> compare_each(const Running& running) const;

  std::string name_;
  Graph graph_;
  Inputs inputs_;
  Values exact_;
  std::map<DType, Values> rounded_;
};

}  // namespace winnow::train
