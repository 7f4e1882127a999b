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

// A filter (K,C/groups,R,S).
struct FilterExtents {
  std::int64_t k, c, r, s;
  std::int64_t count() const { return k * c * r * s; }
};

// A convolution or linear layer in one of its passes.
struct Layer {
  const char* op;  // operation of the product: "conv2d", "linear"
  LayerOperands operands;
  ConvolutionDescription description;  // a linear layer is described as a convolution
  FilterExtents filter;
};

// Slots that a matrix product reads and writes.
struct Operands {
  Slots::Id a, b, result;
};

// The interface by which emitters (ops/) make the calls of nodes.
class CudnnLowering final : public Lowering<Stream&> {
 public:
  CudnnLowering(const Graph& graph, const CompileOptions& options, Device& device, Compiled& out);

  const kernels::Table& table() const { return device_.kernels(); }

  // A description of `pass` with the types and options of this program.
  ConvolutionDescription description(Pass pass) const;
  void layer(const Layer& layer);

  // A matrix product in the program's type. `name` identifies it in Program::choices().
  void matmul(const std::string& name, MatmulDescription description, const Operands& operands);

  Slot sums_scratch(const ImageExtents& extents);

 private:
  void forward(Layer layer);
  void backward_data(const Layer& layer);
  void backward_filter(Layer layer);
  // The filter `id` as products read it. Weights are packed when loaded, other values before each
  // use.
  Slot filter(ValueId id, const FilterExtents& extents);
  Call pack(Slot from, Slot to, const FilterExtents& extents);
  // nullptr: use our own loops.
  std::unique_ptr<Product> make_product(const Layer& layer);
  std::unique_ptr<Product> make_filter_product(Layer& layer);
  void run_product(std::unique_ptr<Product> product, const Layer& layer, Slot a, Slot b,
                   Slot result);
  void run(std::unique_ptr<Product> product, const Operands& operands);
  // Returns make(wanted), where `wanted` is the choice imposed on `name` or nullptr. nullptr if the
  // choice is our own loops.
  template <class Make>
  std::unique_ptr<Product> chosen(const std::string& name, Make make) const;
  const std::string* imposed(const std::string& name) const;

  Device& device_;
  const CompileOptions options_;
  Compiled& out_;
  std::vector<std::pair<ValueId, Slot>> packed_;
};

}  // namespace winnow::train::cudnn
