#include "train/backend/onednn/library/descriptions_internal.h"

namespace winnow::train::onednn {
namespace {

constexpr auto kTraining = dnnl::prop_kind::forward_training;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

}  // namespace

ConvolutionForward forward_of(const dnnl::engine& engine, const ConvolutionOperands& of,
                              const dnnl::primitive_attr& attributes) {
  return {{kTraining, kDirect, of.data, of.filter, of.biases, of.result, of.strides, of.gaps,
           of.before, of.after},
          attributes,
          engine};
}

ConvolutionBackwardData backward_data_of(const dnnl::engine& engine, const ConvolutionOperands& of,
                                         const ConvolutionForward& forward,
                                         const dnnl::primitive_attr& attributes) {
  return {{kDirect, of.data, of.filter, of.result, of.strides, of.gaps, of.before, of.after},
          attributes,
          engine,
          forward};
}

ConvolutionBackwardFilter backward_filter_of(const dnnl::engine& engine,
                                             const ConvolutionOperands& of,
                                             const ConvolutionForward& forward,
                                             const dnnl::primitive_attr& attributes) {
  return {{kDirect, of.data, of.filter_gradient, of.biases, of.result, of.strides, of.gaps,
           of.before, of.after},
          attributes,
          engine,
          forward};
}

LinearForward forward_of(const dnnl::engine& engine, const LinearOperands& of,
                         const dnnl::primitive_attr& attributes) {
  return {{kTraining, of.data, of.filter, of.biases, of.result}, attributes, engine};
}

LinearBackwardData backward_data_of(const dnnl::engine& engine, const LinearOperands& of,
                                    const LinearForward& forward,
                                    const dnnl::primitive_attr& attributes) {
  return {{of.data, of.filter, of.result}, attributes, engine, forward};
}

LinearBackwardFilter backward_filter_of(const dnnl::engine& engine, const LinearOperands& of,
                                        const LinearForward& forward,
                                        const dnnl::primitive_attr& attributes) {
  return {{of.data, of.filter_gradient, of.biases, of.result}, attributes, engine, forward};
}

dnnl::memory::dims extents_of(const dnnl::memory::desc& layout) { return layout.dims(); }

}  // namespace winnow::train::onednn
