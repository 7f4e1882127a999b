#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "train/backend/onednn/library/descriptions_internal.h"
#include "train/backend/onednn/primitives_internal.h"

namespace winnow::train::onednn {
namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

Type type_of(Element element) { return element == Element::kF32 ? Type::f32 : Type::bf16; }

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

constexpr int kMostKernels = 64;  // limit for a layer

// Arguments of the three passes of a convolution or a linear layer.
struct Arguments {
  int data, result, filter, bias;
};
Arguments arguments(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS};
    case Pass::kBackwardData:
      return {DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS};
    case Pass::kBackwardFilter:
      return {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS};
  }
  throw Error("onednn: there is no such pass");
}

template <class Call, class Description>
Primitive prepared(const Description& description, Pass pass, Element type, const Desc& filter) {
  const Arguments names = arguments(pass);
  Primitive made;
  made.call = Call(description);
  made.implementation = description.impl_info_str();
  made.type = type;
  const auto operand = [&](int name) {
    return Operand{description.query_md(dnnl::query::exec_arg_md, name), name};
  };
  made.data = operand(names.data);
  made.result = operand(names.result);
  made.filter = {filter, names.filter};
  made.bias = operand(names.bias);
  made.scratchpad = description.scratchpad_desc();
  return made;
}

// By `Call`, as each of `descriptions` has it. `filter`: of the layout that it wants.
template <class Call, class Description, class Filter>
std::vector<NamedKernel> kernels_of(const std::vector<Description>& descriptions, Pass pass,
                                    Element type, Filter filter) {
  std::vector<NamedKernel> kernels;
  for (const Description& one : descriptions) {
    kernels.push_back(
        {one.impl_info_str(), [=] { return prepared<Call>(one, pass, type, filter(one)); }});
  }
  return kernels;
}

// At most so many of what the library has, from its own choice on.
template <class Forward, class BackwardData, class BackwardFilter, class Operands>
std::vector<NamedKernel> of_pass(const dnnl::engine& engine, Pass pass, const Operands& operands,
                                 Element element, int most) {
  const dnnl::primitive_attr attributes = user_scratchpad();
  const auto weights = [](const auto& description) { return description.weights_desc(); };
  const auto forwards =
      forwards_of(engine, operands, attributes, pass == Pass::kForward ? most : 1);
  switch (pass) {
    case Pass::kForward:
      return kernels_of<Forward>(forwards, pass, element, weights);
    case Pass::kBackwardData:
      return kernels_of<BackwardData>(
          backward_datas_of(engine, operands, forwards.front(), attributes, most), pass, element,
          weights);
    case Pass::kBackwardFilter:
      return kernels_of<BackwardFilter>(
          backward_filters_of(engine, operands, forwards.front(), attributes, most), pass, element,
          [](const auto& description) { return description.diff_weights_desc(); });
  }
  throw Error("onednn: there is no such pass");
}

dnnl::memory::dims filter_dims(const ConvExtents& e) {
  if (e.groups == 1) return {e.y.c, e.x.c, e.r, e.s};
  return {e.groups, e.y.c / e.groups, e.filter_channels(), e.r, e.s};
}

std::vector<NamedKernel> convolutions(const dnnl::engine& engine, Pass pass, const ConvExtents& e,
                                      bool bias, Element element, int most) {
  const Type type = type_of(element);
  const Desc data({e.x.n, e.x.c, e.x.h, e.x.w}, type, Tag::nhwc);
  const Desc result({e.y.n, e.y.c, e.y.h, e.y.w}, type, Tag::nhwc);
  const dnnl::memory::dims filter_extents = filter_dims(e);
  const Desc filter(filter_extents, type, Tag::any);
  const Desc filter_gradient(filter_extents, Type::f32, Tag::any);
  const Desc biases = bias ? Desc({e.y.c}, Type::f32, Tag::x) : Desc();
  const auto& [rows, columns] = e.axes;
  const ConvolutionOperands operands{.data = data,
                                     .result = result,
                                     .filter = filter,
                                     .filter_gradient = filter_gradient,
                                     .biases = biases,
                                     .strides = {rows.stride, columns.stride},
                                     .gaps = {rows.dilation - 1, columns.dilation - 1},
                                     .before = {rows.before, columns.before},
                                     .after = {rows.after, columns.after}};
  return of_pass<dnnl::convolution_forward, dnnl::convolution_backward_data,
                 dnnl::convolution_backward_weights>(engine, pass, operands, element, most);
}

std::vector<NamedKernel> linears(const dnnl::engine& engine, Pass pass, const LinearExtents& e,
                                 bool bias, Element element, int most) {
  const Type type = type_of(element);
  const ImageExtents& x = e.x;
  const bool image = x.h * x.w > 1;
  const dnnl::memory::dims data_extents =
      image ? dnnl::memory::dims{x.n, x.c, x.h, x.w} : dnnl::memory::dims{x.n, x.c};
  dnnl::memory::dims filter_extents = data_extents;
  filter_extents[0] = e.k;
  const Desc data(data_extents, type, image ? Tag::nhwc : Tag::nc);
  const Desc result({x.n, e.k}, type, Tag::nc);
  const Desc filter(filter_extents, type, Tag::any);
  const Desc filter_gradient(filter_extents, Type::f32, Tag::any);
  const Desc biases = bias ? Desc({e.k}, Type::f32, Tag::x) : Desc();

  return of_pass<dnnl::inner_product_forward, dnnl::inner_product_backward_data,
                 dnnl::inner_product_backward_weights>(
      engine, pass, LinearOperands{data, result, filter, filter_gradient, biases}, element, most);
}

// The gradient of the filter as the product of patches and dy.
Primitive unfolded(const ConvExtents& e, Element element, const MatrixProduct& product) {
  Primitive made;
  made.call = dnnl::matmul(product);
  made.implementation = std::string("unfold ") + product.impl_info_str();
  made.type = element;
  made.unfolds = e;
  made.data = {product.src_desc(), DNNL_ARG_SRC};
  made.result = {product.weights_desc(), DNNL_ARG_WEIGHTS};
  made.filter = {product.dst_desc(), DNNL_ARG_DST};
  made.scratchpad = product.scratchpad_desc();
  return made;
}

std::vector<NamedKernel> unfolded_kernels(const dnnl::engine& engine, const ConvExtents& e,
                                          Element element) {
  const Type type = type_of(element);
  const dnnl::memory::dim pixels = e.y.rows();
  const dnnl::memory::dim of_patch = e.r * e.s * e.x.c;
  std::vector<NamedKernel> kernels;
  for (const MatrixProduct& one : products_of(
           engine, Desc({of_patch, pixels}, type, Tag::ba), Desc({pixels, e.y.c}, type, Tag::ab),
           Desc({of_patch, e.y.c}, Type::f32, Tag::ab), user_scratchpad(), kMostKernels)) {
    kernels.push_back(
        {std::string("unfold ") + one.impl_info_str(), [=] { return unfolded(e, element, one); }});
  }
  return kernels;
}

// oneDNN 2.6.3 gives wrong numbers for convolutions of one pixel over images of 5 pixels, where it
// emulates bf16: on processors with AVX-512 that lack instructions for bf16.
bool is_wrong(std::string_view kernel, std::int64_t pixels) {
  return kernel == "jit_bf16_1x1:avx512_core" && pixels == 5;
}

// The library's plain loops.
bool is_slow(std::string_view kernel) {
  return kernel.starts_with("ref") || kernel.starts_with("unfold ref");
}

// kernels(element), with those of f32 in place of a bf16 that only the reference implementation can
// do, or that is done wrongly. `pixels`: of the result.
template <class Kernels>
std::vector<NamedKernel> best_of(Element wanted, std::int64_t pixels, Kernels kernels) {
  if (wanted == Element::kBf16) {
    try {
      std::vector<NamedKernel> found = kernels(wanted);
      const std::string& first = found.front().name;
      if (!is_slow(first) && !is_wrong(first, pixels)) return found;
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
    }
  }
  return kernels(Element::kF32);
}

// Each name once, without slow and wrong ones but for the first.
std::vector<NamedKernel> cleared(std::vector<NamedKernel> all, std::int64_t pixels) {
  std::vector<NamedKernel> kept;
  for (NamedKernel& one : all) {
    const bool known = std::ranges::find(kept, one.name, &NamedKernel::name) != kept.end();
    const bool is_bad = is_slow(one.name) || is_wrong(one.name, pixels);
    if (kept.empty() || (!known && !is_bad)) kept.push_back(std::move(one));
  }
  return kept;
}

template <class Make>
auto translated(const char* what, Make make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    throw Error(std::string("oneDNN cannot do a ") + what + ": " + error.what());
  }
}

}  // namespace

Primitive make_convolution(const dnnl::engine& engine, Pass pass, const ConvExtents& extents,
                           bool bias, Element type) {
  return translated("convolution", [&] {
    return best_of(type, extents.y.h * extents.y.w,
                   [&](Element element) {
                     return convolutions(engine, pass, extents, bias, element, 1);
                   })
        .front()
        .make();
  });
}

std::vector<NamedKernel> convolution_kernels(const dnnl::engine& engine, Pass pass,
                                             const ConvExtents& extents, bool bias, Element type) {
  return translated("convolution", [&] {
    const std::int64_t pixels = extents.y.h * extents.y.w;
    return cleared(best_of(type, pixels,
                           [&](Element element) {
                             std::vector<NamedKernel> all =
                                 convolutions(engine, pass, extents, bias, element, kMostKernels);
                             if (pass != Pass::kBackwardFilter || extents.groups > 1) return all;
                             for (NamedKernel& one : unfolded_kernels(engine, extents, element)) {
                               all.push_back(std::move(one));
                             }
                             return all;
                           }),
                   pixels);
  });
}

Primitive make_linear(const dnnl::engine& engine, Pass pass, const LinearExtents& extents,
                      bool bias, Element type) {
  return translated("linear layer", [&] {
    return best_of(
               type, 1,
               [&](Element element) { return linears(engine, pass, extents, bias, element, 1); })
        .front()
        .make();
  });
}

std::vector<NamedKernel> linear_kernels(const dnnl::engine& engine, Pass pass,
                                        const LinearExtents& extents, bool bias, Element type) {
  return translated("linear layer", [&] {
    return cleared(best_of(type, 1,
                           [&](Element element) {
                             return linears(engine, pass, extents, bias, element, kMostKernels);
                           }),
                   1);
  });
}

Desc plain_filter(const ConvExtents& e) {
  return Desc(filter_dims(e), Type::f32, e.groups > 1 ? Tag::goihw : Tag::oihw);
}

Desc filter_of_patches(const ConvExtents& e) { return Desc(filter_dims(e), Type::f32, Tag::hwio); }

Desc plain_filter(const LinearExtents& e) {
  return e.x.h * e.x.w > 1 ? Desc({e.k, e.x.c, e.x.h, e.x.w}, Type::f32, Tag::oihw)
                           : Desc({e.k, e.x.c}, Type::f32, Tag::oi);
}

bool multiply(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
              const Matrix& result) noexcept {
  return dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, 1, a.at, a.stride,
                    b.at, b.stride, 0, result.at, result.stride) == dnnl_success;
}

Reorder make_reorder(const dnnl::engine& engine, const Desc& from, const Desc& to) {
  return translated("change of layout", [&] {
    const dnnl::reorder::primitive_desc description(engine, from, engine, to, user_scratchpad());
    return Reorder{dnnl::reorder(description), description.scratchpad_desc()};
  });
}

}  // namespace winnow::train::onednn
