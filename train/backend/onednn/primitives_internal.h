#pragma once

#include <cstdint>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/lower/layer.h"

namespace winnow::train::onednn {

// x (N,C,H,W), or (N,C) with h = w = 1. The filter has the features of x in the same order.
struct LinearExtents {
  ImageExtents x;
  std::int64_t k;
};

struct Operand {
  dnnl::memory::desc layout;
  int argument = 0;  // DNNL_ARG_...
};

// A primitive and the layouts it wants. Each pass has the same four operands, and computes one (or
// two) of them: data is x or dx, filter w or dw, bias b or db, result y or dy.
struct Primitive {
  dnnl::primitive call;
  std::string implementation;  // oneDNN's name for it
  Element type;                // element type of data and result
  Operand data;                // NHWC
  Operand result;              // NHWC
  Operand filter;              // in the implementation's preferred layout; f32 if it is dw
  Operand bias;                // f32; empty without a bias
  dnnl::memory::desc scratchpad;
  // If set: a product that computes dw of this convolution from patches, see unfold_internal.h. Its
  // data are the transposed patches, dw is filter_of_patches(), and the bias is not computed.
  std::optional<ConvExtents> unfolds{};
};

// Creates the primitive of a pass. If bf16 is requested but oneDNN has only its slow reference, or
// an implementation known to be wrong, the result is the f32 one: check `type`.
// Throws Error if there is none at all.
Primitive make_convolution(const dnnl::engine& engine, Pass pass, const ConvExtents& extents,
                           bool bias, Element type);
Primitive make_linear(const dnnl::engine& engine, Pass pass, const LinearExtents& extents,
                      bool bias, Element type);

// A kernel of a layer with its name. make() compiles it.
struct NamedKernel {
  std::string name;
  std::function<Primitive()> make;
};
// All kernels of a layer, each name once: the one that is created above, then the library's others
// of that type, except its slow reference and those known to be wrong. Gradients of filters with
// one group also have products of unfolded patches: "unfold " and the library's name of the
// product.
std::vector<NamedKernel> convolution_kernels(const dnnl::engine& engine, Pass pass,
                                             const ConvExtents& extents, bool bias, Element type);
std::vector<NamedKernel> linear_kernels(const dnnl::engine& engine, Pass pass,
                                        const LinearExtents& extents, bool bias, Element type);

// The filter's layout as a parameter: f32, (K,C/groups,R,S) or (K,D) in that order.
dnnl::memory::desc plain_filter(const ConvExtents& extents);
dnnl::memory::desc plain_filter(const LinearExtents& extents);
// The layout of its gradient from a product of patches: (R,S,C,K) in that order.
dnnl::memory::desc filter_of_patches(const ConvExtents& extents);

// A row-major matrix of f32, or its transpose. Rows are `stride` elements apart.
struct Matrix {
  float* at;
  std::int64_t stride;
  bool transposed = false;
};
// result (m, n) = a (m, k) * b (k, n). Uses the threads of the OpenMP region in which it is called:
// one if that region is parallel. Returns false if memory runs out.
[[nodiscard]] bool multiply(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                            const Matrix& b, const Matrix& result) noexcept;

struct Reorder {
  dnnl::primitive call;
  dnnl::memory::desc scratchpad;
};
Reorder make_reorder(const dnnl::engine& engine, const dnnl::memory::desc& from,
                     const dnnl::memory::desc& to);

}  // namespace winnow::train::onednn
