#include "train/ops/concat.h"

#include <algorithm>
#include <string>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/cases.h"
#include "train/ops/images.h"

namespace winnow::train {
namespace {

std::string slice_text(const Attributes& attributes) {
  const auto& slice = *attributes.find<SliceAttributes>();
  return " first=" + number_text(slice.first) + " channels=" + number_text(slice.channels);
}

std::vector<Value> infer(const ShapeInference& in) {
  if (in.inputs() == 0) in.fail("takes at least 1 input");
  in.no_attributes();
  Shape y = in.rank(0, 4);
  y[1] = 0;
  for (std::size_t i = 0; i < in.inputs(); ++i) {
    Shape expected = in.rank(0, 4);
    expected[1] = in.rank(i, 4)[1];
    in.same_as(i, expected);
    y[1] += expected[1];
  }
  return {in.computed(y)};
}

std::vector<Value> infer_slice(const ShapeInference& in) {
  in.arity(1);
  Shape y = in.rank(0, 4);
  in.storage(0, Storage::kCompute);
  const auto& slice = in.attributes<SliceAttributes>();
  if (slice.first < 0 || slice.channels < 1 || slice.first + slice.channels > y[1]) {
    in.fail("has no channels " + number_text(slice.first) + " to " +
            number_text(slice.first + slice.channels) + " of " + number_text(y[1]));
  }
  y[1] = slice.channels;
  return {in.computed(y)};
}

// Calls visit(position in the whole, position in `part`) for every element of `part`, whose
// channels begin at `first`.
template <class Visit>
void for_part(const Shape& all, const Shape& part, std::int64_t first, Visit visit) {
  const ImageLayout whole(all);
  const ImageLayout piece(part);
  for (std::int64_t n = 0; n < piece.n; ++n) {
    for (std::int64_t h = 0; h < piece.h; ++h) {
      for (std::int64_t w = 0; w < piece.w; ++w) {
        for (std::int64_t c = 0; c < piece.c; ++c) {
          visit(whole.at(n, first + c, h, w), piece.at(n, c, h, w));
        }
      }
    }
  }
}

void concat(const ReferenceOperands& o) {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < o.inputs(); ++i) {
    for_part(o.out_shape(0), o.in_shape(i), first,
             [&](std::size_t all, std::size_t part) { o.out(0)[all] = o.in(i)[part]; });
    first += o.in_shape(i)[1];
  }
}

void slice(const ReferenceOperands& o) {
  for_part(o.in_shape(0), o.out_shape(0), o.attributes<SliceAttributes>().first,
           [&](std::size_t all, std::size_t part) { o.out(0)[part] = o.in(0)[all]; });
}

void concat_gradient(GradientBuilder& builder, const Node& node) {
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  int first = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto channels = static_cast<int>(builder.value(node.inputs[i]).shape[1]);
    if (builder.wants(node.inputs[i])) {
      builder.add_gradient(node.inputs[i],
                           builder.append(kSlice, "backward_" + std::to_string(i), {dy},
                                          SliceAttributes{first, channels})[0]);
    }
    first += channels;
  }
}

void add_cases(CaseTable& table, const std::string& name, const Shape& first,
               const std::vector<std::int64_t>& channels) {
  CaseMaker made = table.begin();
  std::vector<ValueId> inputs;
  std::int64_t total = 0;
  Shape shape = first;
  for (const std::int64_t c : channels) {
    shape[1] = c;
    inputs.push_back(made.data("x" + std::to_string(inputs.size()), shape));
    total += c;
  }
  table.keep(std::move(made).finish("concat_" + name, kConcat, inputs, {}));
  shape[1] = total;
  CaseMaker cut = table.begin();
  const ValueId x = cut.data("x", shape);
  const SliceAttributes attributes{
      static_cast<int>(std::min(channels.front() - 1, total - channels.back())),
      static_cast<int>(channels.back())};
  table.keep(std::move(cut).finish("slice_" + name, kSlice, {x}, attributes));
}

void cases(CaseTable& table) {
  add_cases(table, "two", {2, 1, 3, 4}, {5, 3});
  add_cases(table, "aligned", {2, 1, 5, 5}, {16, 32});
  add_cases(table, "four", {3, 1, 4, 2}, {1, 7, 16, 2});
  add_cases(table, "one", {1, 1, 2, 2}, {4});
  add_cases(table, "many_pixels", {2, 1, 40, 30}, {3, 8});
}

}  // namespace

const Operation kConcat = {.name = "concat",
                           .infer = infer,
                           .reference = concat,
                           .gradient = concat_gradient,
                           .checks = {.cases = cases}};
const Operation kSlice = {
    .name = "slice", .infer = infer_slice, .reference = slice, .text = slice_text};

}  // namespace winnow::train
