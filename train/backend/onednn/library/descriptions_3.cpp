#include "train/backend/onednn/library/descriptions_internal.h"

namespace winnow::train::onednn {
namespace {

constexpr auto kTraining = dnnl::prop_kind::forward_training;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

}  // namespace

ConvolutionForward forward_of(const dnnl::engine& engine, const ConvolutionOperands& of,
                              const dnnl::primitive_attr& attributes) {
  return {engine,    kTraining,  kDirect, of.data,   of.filter, of.biases,
          of.result, of.strides, of.gaps, of.before, of.after,  attributes};
}

ConvolutionBackwardData backward_data_of(const dnnl::engine& engine, const ConvolutionOperands& of,
                                         const ConvolutionForward& forward,
                                         const dnnl::primitive_attr& attributes) {
  return {engine,  kDirect,   of.data,  of.filter, of.result, of.strides,
          of.gaps, of.before, of.after, forward,   attributes};
}

ConvolutionBackwardFilter backward_filter_of(const dnnl::engine& engine,
                                             const ConvolutionOperands& of,
                                             const ConvolutionForward& forward,
                                             const dnnl::primitive_attr& attributes) {
  return {engine,     kDirect, of.data,   of.filter_gradient, of.biases, of.result,
          of.strides, of.gaps, of.before, of.after,           forward,   attributes};
}

LinearForward forward_of(const dnnl::engine& engine, const LinearOperands& of,
                         const dnnl::primitive_attr& attributes) {
  return {engine, kTraining, of.data, of.filter, of.biases, of.result, attributes};
}

LinearBackwardData backward_data_of(const dnnl::engine& engine, const LinearOperands& of,
                                    const LinearForward& forward,
                                    const dnnl::primitive_attr& attributes) {
  return {engine, of.data, of.filter, of.result, forward, attributes};
}

LinearBackwardFilter backward_filter_of(const dnnl::engine& engine, const LinearOperands& of,
                                        const LinearForward& forward,
                                        const dnnl::primitive_attr& attributes) {
  return {engine, of.data, of.filter_gradient, of.biases, of.result, forward, attributes};
}

dnnl::memory::dims extents_of(const dnnl::memory::desc& layout) { return layout.get_dims(); }

}  // namespace winnow::train::onednn
