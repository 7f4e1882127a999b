#include "train/backend/onednn/library/descriptions_internal.h"

namespace winnow::train::onednn {
namespace {

constexpr auto kTraining = dnnl::prop_kind::forward_training;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

// The library still reads the operation that `first` was made of, so that the caller keeps it until
// this returns.
template <class Description>
std::vector<Description> all_of(int most, Description first) {
  std::vector<Description> found{first};
  while (static_cast<int>(found.size()) < most && first.next_impl()) found.push_back(first);
  return found;
}

}  // namespace

std::vector<ConvolutionForward> forwards_of(const dnnl::engine& engine,
                                            const ConvolutionOperands& of,
                                            const dnnl::primitive_attr& attributes, int most) {
  return all_of(most, ConvolutionForward{{kTraining, kDirect, of.data, of.filter, of.biases,
                                          of.result, of.strides, of.gaps, of.before, of.after},
                                         attributes,
                                         engine});
}

std::vector<ConvolutionBackwardData> backward_datas_of(const dnnl::engine& engine,
                                                       const ConvolutionOperands& of,
                                                       const ConvolutionForward& forward,
                                                       const dnnl::primitive_attr& attributes,
                                                       int most) {
  return all_of(most, ConvolutionBackwardData{{kDirect, of.data, of.filter, of.result, of.strides,
                                               of.gaps, of.before, of.after},
                                              attributes,
                                              engine,
                                              forward});
}

std::vector<ConvolutionBackwardFilter> backward_filters_of(const dnnl::engine& engine,
                                                           const ConvolutionOperands& of,
                                                           const ConvolutionForward& forward,
                                                           const dnnl::primitive_attr& attributes,
                                                           int most) {
  return all_of(
      most, ConvolutionBackwardFilter{{kDirect, of.data, of.filter_gradient, of.biases, of.result,
                                       of.strides, of.gaps, of.before, of.after},
                                      attributes,
                                      engine,
                                      forward});
}

std::vector<LinearForward> forwards_of(const dnnl::engine& engine, const LinearOperands& of,
                                       const dnnl::primitive_attr& attributes, int most) {
  return all_of(
      most,
      LinearForward{{kTraining, of.data, of.filter, of.biases, of.result}, attributes, engine});
}

std::vector<LinearBackwardData> backward_datas_of(const dnnl::engine& engine,
                                                  const LinearOperands& of,
                                                  const LinearForward& forward,
                                                  const dnnl::primitive_attr& attributes,
                                                  int most) {
  return all_of(most,
                LinearBackwardData{{of.data, of.filter, of.result}, attributes, engine, forward});
}

std::vector<LinearBackwardFilter> backward_filters_of(const dnnl::engine& engine,
                                                      const LinearOperands& of,
                                                      const LinearForward& forward,
                                                      const dnnl::primitive_attr& attributes,
                                                      int most) {
  return all_of(
      most, LinearBackwardFilter{
                {of.data, of.filter_gradient, of.biases, of.result}, attributes, engine, forward});
}

std::vector<MatrixProduct> products_of(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                       const dnnl::memory::desc& b,
                                       const dnnl::memory::desc& result,
                                       const dnnl::primitive_attr& attributes, int most) {
  return all_of(most, MatrixProduct{{a, b, result}, attributes, engine});
}

dnnl::memory::dims extents_of(const dnnl::memory::desc& layout) { return layout.dims(); }

}  // namespace winnow::train::onednn
