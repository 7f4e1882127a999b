#include <utility>

#include "train/backend/onednn/library/descriptions_internal.h"

namespace winnow::train::onednn {
namespace {

constexpr auto kTraining = dnnl::prop_kind::forward_training;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

// Copies of a description are one: each further one is made anew.
template <class Make>
auto all_of(int most, Make make) {
  std::vector<decltype(make())> found{make()};
  for (int place = 1; place < most; ++place) {
    auto description = make();
    for (int skipped = 0; skipped < place; ++skipped) {
      if (!description.next_impl()) return found;
    }
    found.push_back(std::move(description));
  }
  return found;
}

}  // namespace

std::vector<ConvolutionForward> forwards_of(const dnnl::engine& engine,
                                            const ConvolutionOperands& of,
                                            const dnnl::primitive_attr& attributes, int most) {
  return all_of(most, [&] {
    return ConvolutionForward{engine,    kTraining,  kDirect, of.data,   of.filter, of.biases,
                              of.result, of.strides, of.gaps, of.before, of.after,  attributes};
  });
}

std::vector<ConvolutionBackwardData> backward_datas_of(const dnnl::engine& engine,
                                                       const ConvolutionOperands& of,
                                                       const ConvolutionForward& forward,
                                                       const dnnl::primitive_attr& attributes,
                                                       int most) {
  return all_of(most, [&] {
    return ConvolutionBackwardData{engine,  kDirect,   of.data,  of.filter, of.result, of.strides,
                                   of.gaps, of.before, of.after, forward,   attributes};
  });
}

std::vector<ConvolutionBackwardFilter> backward_filters_of(const dnnl::engine& engine,
                                                           const ConvolutionOperands& of,
                                                           const ConvolutionForward& forward,
                                                           const dnnl::primitive_attr& attributes,
                                                           int most) {
  return all_of(most, [&] {
    return ConvolutionBackwardFilter{engine,    kDirect,   of.data,    of.filter_gradient,
                                     of.biases, of.result, of.strides, of.gaps,
                                     of.before, of.after,  forward,    attributes};
  });
}

std::vector<LinearForward> forwards_of(const dnnl::engine& engine, const LinearOperands& of,
                                       const dnnl::primitive_attr& attributes, int most) {
  return all_of(most, [&] {
    return LinearForward{engine, kTraining, of.data, of.filter, of.biases, of.result, attributes};
  });
}

std::vector<LinearBackwardData> backward_datas_of(const dnnl::engine& engine,
                                                  const LinearOperands& of,
                                                  const LinearForward& forward,
                                                  const dnnl::primitive_attr& attributes,
                                                  int most) {
  return all_of(most, [&] {
    return LinearBackwardData{engine, of.data, of.filter, of.result, forward, attributes};
  });
}

std::vector<LinearBackwardFilter> backward_filters_of(const dnnl::engine& engine,
                                                      const LinearOperands& of,
                                                      const LinearForward& forward,
                                                      const dnnl::primitive_attr& attributes,
                                                      int most) {
  return all_of(most, [&] {
    return LinearBackwardFilter{engine,    of.data, of.filter_gradient, of.biases,
                                of.result, forward, attributes};
  });
}

std::vector<MatrixProduct> products_of(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                       const dnnl::memory::desc& b,
                                       const dnnl::memory::desc& result,
                                       const dnnl::primitive_attr& attributes, int most) {
  return all_of(most, [&] { return MatrixProduct{engine, a, b, result, attributes}; });
}

dnnl::memory::dims extents_of(const dnnl::memory::desc& layout) { return layout.get_dims(); }

}  // namespace winnow::train::onednn
