#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

// Differences between versions of oneDNN's interface. descriptions_2.cpp is for 2.6 and 2.7,
// descriptions_3.cpp for 3.x; the build uses the one for the installed library.
namespace winnow::train::onednn {

// The operands of a convolution with their layouts. Gaps of 0 mean no dilation.
struct ConvolutionOperands {
  dnnl::memory::desc data;
  dnnl::memory::desc result;
  dnnl::memory::desc filter;
  dnnl::memory::desc filter_gradient;
  dnnl::memory::desc biases;  // empty: no bias
  dnnl::memory::dims strides;
  dnnl::memory::dims gaps;
  dnnl::memory::dims before;
  dnnl::memory::dims after;
};
struct LinearOperands {
  dnnl::memory::desc data;
  dnnl::memory::desc result;
  dnnl::memory::desc filter;
  dnnl::memory::desc filter_gradient;
  dnnl::memory::desc biases;  // empty: no bias
};

// The library's implementations of an operation, its own choice first, at most `most`.
//
// Repeats       Some may occur twice: 2.6 starts again if the first is in its primitive cache.
// Convolutions  Are direct ones, because Winograd gives other numbers.
// Throws        dnnl::error: dnnl_unimplemented if the library does not support the operation.
using ConvolutionForward = dnnl::convolution_forward::primitive_desc;
using ConvolutionBackwardData = dnnl::convolution_backward_data::primitive_desc;
using ConvolutionBackwardFilter = dnnl::convolution_backward_weights::primitive_desc;
std::vector<ConvolutionForward> forwards_of(const dnnl::engine& engine,
                                            const ConvolutionOperands& of,
                                            const dnnl::primitive_attr& attributes, int most);
std::vector<ConvolutionBackwardData> backward_datas_of(const dnnl::engine& engine,
                                                       const ConvolutionOperands& of,
                                                       const ConvolutionForward& forward,
                                                       const dnnl::primitive_attr& attributes,
                                                       int most);
std::vector<ConvolutionBackwardFilter> backward_filters_of(const dnnl::engine& engine,
                                                           const ConvolutionOperands& of,
                                                           const ConvolutionForward& forward,
                                                           const dnnl::primitive_attr& attributes,
                                                           int most);

using LinearForward = dnnl::inner_product_forward::primitive_desc;
using LinearBackwardData = dnnl::inner_product_backward_data::primitive_desc;
using LinearBackwardFilter = dnnl::inner_product_backward_weights::primitive_desc;
std::vector<LinearForward> forwards_of(const dnnl::engine& engine, const LinearOperands& of,
                                       const dnnl::primitive_attr& attributes, int most);
std::vector<LinearBackwardData> backward_datas_of(const dnnl::engine& engine,
                                                  const LinearOperands& of,
                                                  const LinearForward& forward,
                                                  const dnnl::primitive_attr& attributes, int most);
std::vector<LinearBackwardFilter> backward_filters_of(const dnnl::engine& engine,
                                                      const LinearOperands& of,
                                                      const LinearForward& forward,
                                                      const dnnl::primitive_attr& attributes,
                                                      int most);

// result (m, n) = a (m, k) * b (k, n).
using MatrixProduct = dnnl::matmul::primitive_desc;
std::vector<MatrixProduct> products_of(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                       const dnnl::memory::desc& b,
                                       const dnnl::memory::desc& result,
                                       const dnnl::primitive_attr& attributes, int most);

dnnl::memory::dims extents_of(const dnnl::memory::desc& layout);

}  // namespace winnow::train::onednn
