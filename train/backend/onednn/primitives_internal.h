#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "train/backend/onednn/kernels.h"

// All that depends on the generation of oneDNN's interface: what it calls a descriptor. Written for
// 2.x; another generation is another primitives.cpp.
namespace winnow::train::onednn {

enum class Pass : std::uint8_t { kForward, kBackwardData, kBackwardFilter };

// N batch, C K channels, H W image, P Q output image, R S kernel.
struct ConvExtents {
  std::int64_t n, c, h, w;
  std::int64_t k, r, s;
  std::int64_t p, q;
  std::int64_t stride, pad;
};

// x (N,C,H,W) or, with h = w = 1, (N,C); the filter has the features of x in the same order.
struct LinearExtents {
  std::int64_t n, c, h, w;
  std::int64_t k;
};

// A primitive and the layouts it wants. Each pass has the same four operands, of which it computes
// one (or two): data is x or dx, filter w or dw, bias b or db, result y or dy.
struct Primitive {
  dnnl::primitive call;
  std::string implementation;  // oneDNN's name of it
  kernels::Element type;       // of data and result
  dnnl::memory::desc data;     // NHWC
  dnnl::memory::desc result;   // NHWC
  dnnl::memory::desc filter;   // as the implementation likes it; f32 when it is dw
  dnnl::memory::desc bias;     // f32; zero without
  dnnl::memory::desc scratchpad;
  int data_argument = 0;
  int result_argument = 0;
  int filter_argument = 0;
  int bias_argument = 0;
};

// With bf16 asked for and no implementation but oneDNN's slow reference, the f32 one instead: look
// at data.data_type(). Throws Error when there is none at all.
Primitive make_convolution(const dnnl::engine& engine, Pass pass, const ConvExtents& extents,
                           bool bias, kernels::Element type);
Primitive make_linear(const dnnl::engine& engine, Pass pass, const LinearExtents& extents,
                      bool bias, kernels::Element type);

// The filter as parameters are kept: f32, (K,C,R,S) or (K,D) in that order.
dnnl::memory::desc plain_filter(const ConvExtents& extents);
dnnl::memory::desc plain_filter(const LinearExtents& extents);

struct Reorder {
  dnnl::primitive call;
  dnnl::memory::desc scratchpad;
};
Reorder make_reorder(const dnnl::engine& engine, const dnnl::memory::desc& from,
                     const dnnl::memory::desc& to);

}  // namespace winnow::train::onednn
