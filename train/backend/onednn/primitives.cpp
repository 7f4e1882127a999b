#include <optional>
#include <string_view>

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

// oneDNN's argument names for the three passes of a convolution or linear layer.
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

template <class Forward, class BackwardData, class BackwardFilter, class Operands>
Primitive of_pass(const dnnl::engine& engine, Pass pass, const Operands& operands,
                  Element element) {
  const dnnl::primitive_attr attributes = user_scratchpad();
  const auto forward = forward_of(engine, operands, attributes);
  switch (pass) {
    case Pass::kForward:
      return prepared<Forward>(forward, pass, element, forward.weights_desc());
    case Pass::kBackwardData: {
      const auto backward = backward_data_of(engine, operands, forward, attributes);
      return prepared<BackwardData>(backward, pass, element, backward.weights_desc());
    }
    case Pass::kBackwardFilter: {
      const auto backward = backward_filter_of(engine, operands, forward, attributes);
      return prepared<BackwardFilter>(backward, pass, element, backward.diff_weights_desc());
    }
  }
  throw Error("onednn: there is no such pass");
}

dnnl::memory::dims filter_dims(const ConvExtents& e) {
  if (e.groups == 1) return {e.y.c, e.x.c, e.r, e.s};
  return {e.groups, e.y.c / e.groups, e.filter_channels(), e.r, e.s};
}

Primitive convolution(const dnnl::engine& engine, Pass pass, const ConvExtents& e, bool bias,
                      Element element) {
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
                 dnnl::convolution_backward_weights>(engine, pass, operands, element);
}

Primitive linear(const dnnl::engine& engine, Pass pass, const LinearExtents& e, bool bias,
                 Element element) {
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
      engine, pass, LinearOperands{data, result, filter, filter_gradient, biases}, element);
}

// oneDNN 2.6.3 computes wrong results for 1x1 convolutions of images with 5 pixels, if it emulates
// bf16: on processors with AVX-512 that lack bf16 instructions.
bool is_wrong(const Primitive& made) {
  const dnnl::memory::dims y = extents_of(made.result.layout);
  return made.implementation == "jit_bf16_1x1:avx512_core" && y[2] * y[3] == 5;
}

// make(element), with f32 instead of bf16 if only the reference implementation supports bf16, or if
// its result is wrong.
template <class Make>
Primitive best_of(Element wanted, Make make) {
  if (wanted == Element::kBf16) {
    try {
      Primitive made = make(wanted);
      const bool is_slow = std::string_view(made.implementation).starts_with("ref");
      if (!is_slow && !is_wrong(made)) return made;
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
    }
  }
  return make(Element::kF32);
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
    return best_of(
        type, [&](Element element) { return convolution(engine, pass, extents, bias, element); });
  });
}

Primitive make_linear(const dnnl::engine& engine, Pass pass, const LinearExtents& extents,
                      bool bias, Element type) {
  return translated("linear layer", [&] {
    return best_of(type,
                   [&](Element element) { return linear(engine, pass, extents, bias, element); });
  });
}

Desc plain_filter(const ConvExtents& e) {
  return Desc(filter_dims(e), Type::f32, e.groups > 1 ? Tag::goihw : Tag::oihw);
}

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
