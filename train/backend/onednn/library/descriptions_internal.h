#pragma once

#include <oneapi/dnnl/dnnl.hpp>

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

// Each throws dnnl::error, with dnnl_unimplemented if the library does not support it.
// Convolutions use the direct algorithm, because Winograd's gives different numbers.
using ConvolutionForward = dnnl::convolution_forward::primitive_desc;
using ConvolutionBackwardData = dnnl::convolution_backward_data::primitive_desc;
using ConvolutionBackwardFilter = dnnl::convolution_backward_weights::primitive_desc;
ConvolutionForward forward_of(const dnnl::engine& engine, const ConvolutionOperands& of,
                              const dnnl::primitive_attr& attributes);
ConvolutionBackwardData backward_data_of(const dnnl::engine& engine, const ConvolutionOperands& of,
                                         const ConvolutionForward& forward,
                                         const dnnl::primitive_attr& attributes);
ConvolutionBackwardFilter backward_filter_of(const dnnl::engine& engine,
                                             const ConvolutionOperands& of,
                                             const ConvolutionForward& forward,
                                             const dnnl::primitive_attr& attributes);

using LinearForward = dnnl::inner_product_forward::primitive_desc;
using LinearBackwardData = dnnl::inner_product_backward_data::primitive_desc;
using LinearBackwardFilter = dnnl::inner_product_backward_weights::primitive_desc;
LinearForward forward_of(const dnnl::engine& engine, const LinearOperands& of,
                         const dnnl::primitive_attr& attributes);
LinearBackwardData backward_data_of(const dnnl::engine& engine, const LinearOperands& of,
                                    const LinearForward& forward,
                                    const dnnl::primitive_attr& attributes);
LinearBackwardFilter backward_filter_of(const dnnl::engine& engine, const LinearOperands& of,
                                        const LinearForward& forward,
                                        const dnnl::primitive_attr& attributes);

dnnl::memory::dims extents_of(const dnnl::memory::desc& layout);

}  // namespace winnow::train::onednn
