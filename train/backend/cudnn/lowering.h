#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/backend/cudnn/compiled.h"
#include "train/backend/cudnn/device.h"
#include "train/backend/cudnn/kernels.h"
#include "train/backend/lower/layer.h"
#include "train/backend/lower/lowering.h"

namespace winnow::train::cudnn {

// Extents of a filter (K, C/groups, R, S).
struct FilterExtents {
  std::int64_t k, c, r, s;
  std::int64_t count() const { return k * c * r * s; }
};

// One pass of a convolution or linear layer.
struct Layer {
  const char* op;  // operation of the layer: "conv2d", "linear"
  LayerOperands operands;
  // The product to compute; a linear layer is described as a convolution.
  ConvolutionDescription description;
  FilterExtents filter;
};

// The memory that a matrix product reads and writes.
struct Operands {
  Slots::Id a, b, result;
};

// Interface by which emitters (ops/) emit the GPU calls of graph nodes.
class CudnnLowering final : public Lowering<Stream&> {
 public:
  CudnnLowering(const Graph& graph, const CompileOptions& options, Device& device, Compiled& out);

  const kernels::Table& table() const { return device_.kernels(); }

  // Returns a description of `pass` with the types and options of this program. The extents are not
  // set.
  ConvolutionDescription description(Pass pass) const;
  void layer(const Layer& layer);

  // Emits a matrix product in the program's type. `name` identifies it in Program::choices().
  void matmul(const std::string& name, MatmulDescription description, const Operands& operands);

  Slot sums_scratch(const ImageExtents& extents);

 private:
  void forward(Layer layer);
  void backward_data(const Layer& layer);
  void backward_filter(Layer layer);
  // Returns the filter `id` in the layout that products read. Weights are packed when they are
  // loaded, other values before each use.
  Slot filter(ValueId id, const FilterExtents& extents);
  Call pack(Slot from, Slot to, const FilterExtents& extents);
  // Makes the library's product for a layer; nullptr: use our own loops.
  std::unique_ptr<Product> make_product(const Layer& layer);
  std::unique_ptr<Product> make_filter_product(Layer& layer);
  void run_product(std::unique_ptr<Product> product, const Layer& layer, Slot a, Slot b,
                   Slot result);
  void run(std::unique_ptr<Product> product, const Operands& operands);
  // Makes a product by calling make(wanted), where `wanted` is the kernel imposed on `name`, or
  // nullptr if there is none. Returns nullptr if our own loops are imposed.
  template <class Make>
  std::unique_ptr<Product> chosen(const std::string& name, Make make) const;
  const std::string* imposed(const std::string& name) const;

  Device& device_;
  const CompileOptions options_;
  Compiled& out_;
  std::vector<std::pair<ValueId, Slot>> packed_;
};

}  // namespace winnow::train::cudnn
