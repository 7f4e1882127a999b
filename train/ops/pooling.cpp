#include "train/ops/pooling.h"

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

using Numbers = std::vector<double>;

std::string text(const Attributes& attributes) {
  const auto& pool = *attributes.find<PoolAttributes>();
  return " kernel=" + number_text(pool.kernel_h) + "x" + number_text(pool.kernel_w) +
         " stride=" + number_text(pool.stride) + " pad=" + number_text(pool.pad) +
         (pool.ceil ? " ceil" : "");
}

// pad < kernel guarantees that every window holds at least one element that is not padding.
Shape pooled(const ShapeInference& in, const Shape& x, const PoolAttributes& pool) {
  if (x.size() != 4) in.fail("data " + to_string(x) + " must have 4 extents");
  if (pool.pad >= pool.kernel_h || pool.pad >= pool.kernel_w) {
    in.fail("pad " + number_text(pool.pad) + " must be below the window's extents " +
            number_text(pool.kernel_h) + " and " + number_text(pool.kernel_w));
  }
  const auto windows = [&](std::int64_t size, int kernel) {
    const std::int64_t whole = in.windows(size, kernel, pool.stride, {pool.pad, pool.pad});
    const std::int64_t next = whole * pool.stride - pool.pad;  // where another window would begin
    const bool reaches = (whole - 1) * pool.stride + kernel < size + 2 * pool.pad;
    return whole + (pool.ceil && reaches && next < size ? 1 : 0);
  };
  return {x[0], x[1], windows(x[2], pool.kernel_h), windows(x[3], pool.kernel_w)};
}

std::vector<Value> infer_max(const ShapeInference& in) {
  in.arity(1);
  const auto& pool = in.attributes<PoolAttributes>();
  const Shape y = pooled(in, in.rank(0, 4), pool);
  in.storage(0, Storage::kCompute);
  if (pool.kernel_h * pool.kernel_w > 256) {
    in.fail("a window of " + number_text(pool.kernel_h) + " x " + number_text(pool.kernel_w) +
            " elements exceeds 256, because the position of its maximum is stored in one byte");
  }
  return {in.computed(y), in.made(".index", y, Storage::kU8)};
}

std::vector<Value> infer_avg(const ShapeInference& in) {
  in.arity(1);
  const Shape y = pooled(in, in.rank(0, 4), in.attributes<PoolAttributes>());
  in.storage(0, Storage::kCompute);
  return {in.computed(y)};
}

// Input 0 is dy.
Shape check_backward(const ShapeInference& in, std::size_t inputs) {
  in.arity(inputs);
  const auto& pool = in.attributes<PoolAttributes>();
  const Shape y = pooled(in, pool.data_shape, pool);
  in.same_as(0, y);
  return y;
}

std::vector<Value> infer_max_backward(const ShapeInference& in) {
  const Shape y = check_backward(in, 2);
  in.storage(1, Storage::kU8);
  in.same("'" + in.value(1).name + "'", in.value(1).shape, y);
  return {in.computed(in.attributes<PoolAttributes>().data_shape)};
}

std::vector<Value> infer_avg_backward(const ShapeInference& in) {
  check_backward(in, 1);
  return {in.computed(in.attributes<PoolAttributes>().data_shape)};
}

struct Windows {
  ImageLayout x;
  ImageLayout y;
  const PoolAttributes& pool;

  double elements() const { return pool.kernel_h * pool.kernel_w; }
  // Calls visit(y, x, element) for every element of every window that is not padding, row-major
  // within a window.
  // y and x are positions in memory; `element` counts padding, too.
  template <class Visit>
  void for_each_element(Visit visit) const {
    const WindowRows rows{pool.stride, pool.pad};
    for (std::int64_t n = 0; n < y.n; ++n) {
      for (std::int64_t c = 0; c < y.c; ++c) {
        for (std::int64_t p = 0; p < y.h; ++p) {
          for (std::int64_t q = 0; q < y.w; ++q) {
            for (int r = 0; r < pool.kernel_h; ++r) {
              for (int s = 0; s < pool.kernel_w; ++s) {
                const std::int64_t row = rows.at(p, r);
                const std::int64_t column = rows.at(q, s);
                if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
                visit(y.at(n, c, p, q), x.at(n, c, row, column), r * pool.kernel_w + s);
              }
            }
          }
        }
      }
    }
  }
};

Windows windows_of(const ReferenceOperands& o, const Shape& x, const Shape& y) {
  return {ImageLayout(x), ImageLayout(y), o.attributes<PoolAttributes>()};
}

void max_forward(const ReferenceOperands& o) {
  const Numbers& x = o.in(0);
  Numbers& y = o.out(0);
  Numbers& index = o.out(1);
  std::fill(index.begin(), index.end(), -1.0);
  windows_of(o, o.in_shape(0), o.out_shape(0))
      .for_each_element([&](std::size_t yi, std::size_t xi, int element) {
        if (index[yi] >= 0 && !(x[xi] > y[yi])) return;
        y[yi] = x[xi];
        index[yi] = element;
      });
}

void max_backward(const ReferenceOperands& o) {
  const Numbers& dy = o.in(0);
  const Numbers& index = o.in(1);
  Numbers& dx = o.out(0);
  std::fill(dx.begin(), dx.end(), 0.0);
  windows_of(o, o.out_shape(0), o.in_shape(0))
      .for_each_element([&](std::size_t yi, std::size_t xi, int element) {
        if (index[yi] == element) dx[xi] += dy[yi];
      });
}

void avg_forward(const ReferenceOperands& o) {
  const Windows windows = windows_of(o, o.in_shape(0), o.out_shape(0));
  const Numbers& x = o.in(0);
  Numbers& y = o.out(0);
  std::fill(y.begin(), y.end(), 0.0);
  windows.for_each_element(
      [&](std::size_t yi, std::size_t xi, int) { y[yi] += x[xi] / windows.elements(); });
}

void avg_backward(const ReferenceOperands& o) {
  const Windows windows = windows_of(o, o.out_shape(0), o.in_shape(0));
  const Numbers& dy = o.in(0);
  Numbers& dx = o.out(0);
  std::fill(dx.begin(), dx.end(), 0.0);
  windows.for_each_element(
      [&](std::size_t yi, std::size_t xi, int) { dx[xi] += dy[yi] / windows.elements(); });
}

// `inputs` are dy and the other inputs of the backward operation.
void add_backward(GradientBuilder& builder, const Node& node, const Operation& op,
                  std::vector<ValueId> inputs) {
  auto attributes = attributes_of<PoolAttributes>(node);
  attributes.data_shape = builder.value(node.inputs[0]).shape;
  builder.add_gradient(node.inputs[0],
                       builder.append(op, "backward", std::move(inputs), attributes)[0]);
}

void max_gradient(GradientBuilder& builder, const Node& node) {
  add_backward(builder, node, kMaxPoolBackward,
               {builder.gradient_of(node.outputs[0]), node.outputs[1]});
}

void avg_gradient(GradientBuilder& builder, const Node& node) {
  add_backward(builder, node, kAvgPoolBackward, {builder.gradient_of(node.outputs[0])});
}

void max_sides(const ReferenceOperands& o, Numbers& sides) {
  sides.insert(sides.end(), o.out(1).begin(), o.out(1).end());
}

// With `ties`, windows have many equal elements.
void add_cases(CaseTable& table, const std::string& name, const Shape& x, PoolAttributes a,
               bool ties = false) {
  CaseMaker max = table.begin();
  const ValueId data =
      ties ? max.leaf("x", x, max.whole_numbers(x, 2), ValueKind::kInput, Storage::kCompute)
           : max.data("x", x);
  const OpCase forward = table.keep(std::move(max).finish("max_pool_" + name, kMaxPool, {data}, a));
  const Shape y = forward.graph.value(forward.outputs[0]).shape;
  const Numbers index = computed_values(forward)[static_cast<std::size_t>(forward.outputs[1])];

  CaseMaker average = table.begin();
  const ValueId average_data = average.data("x", x);
  table.keep(std::move(average).finish("avg_pool_" + name, kAvgPool, {average_data}, a));

  a.data_shape = x;
  CaseMaker max_backward = table.begin();
  const std::vector<ValueId> inputs = {
      max_backward.data("dy", y),
      max_backward.leaf("index", y, index, ValueKind::kInput, Storage::kU8)};
  table.keep(
      std::move(max_backward).finish("max_pool_backward_" + name, kMaxPoolBackward, inputs, a));

  CaseMaker average_backward = table.begin();
  const ValueId dy = average_backward.data("dy", y);
  table.keep(
      std::move(average_backward).finish("avg_pool_backward_" + name, kAvgPoolBackward, {dy}, a));
}

void cases(CaseTable& table) {
  const auto pool = [](int kernel_h, int kernel_w, int stride, int pad) {
    return PoolAttributes{kernel_h, kernel_w, stride, pad, {}};
  };
  add_cases(table, "2x2", {2, 3, 8, 6}, pool(2, 2, 2, 0));
  add_cases(table, "2x2_leaves_rest", {1, 5, 7, 9}, pool(2, 2, 2, 0));
  add_cases(table, "3x3_padded_overlap", {2, 4, 7, 8}, pool(3, 3, 2, 1));
  add_cases(table, "3x3_stride_1", {1, 2, 5, 4}, pool(3, 3, 1, 1));
  add_cases(table, "oblong", {2, 3, 6, 5}, pool(1, 3, 2, 0));
  add_cases(table, "global", {3, 16, 5, 4}, pool(5, 4, 1, 0));
  add_cases(table, "gaps", {1, 3, 9, 9}, pool(2, 2, 4, 0));
  add_cases(table, "ties", {2, 3, 7, 7}, pool(3, 3, 2, 1), true);
  const auto up = [&](int kernel, int pad) {
    PoolAttributes attributes = pool(kernel, kernel, 2, pad);
    attributes.ceil = true;
    return attributes;
  };
  add_cases(table, "3x3_ceil", {2, 3, 8, 6}, up(3, 0));
  add_cases(table, "2x2_ceil", {1, 16, 7, 5}, up(2, 0));
  add_cases(table, "3x3_ceil_padded", {2, 3, 6, 7}, up(3, 1));
}

}  // namespace

const Operation kMaxPool = {.name = "max_pool",
                            .infer = infer_max,
                            .reference = max_forward,
                            .text = text,
                            .gradient = max_gradient,
                            .checks = {.cases = cases, .sides = max_sides}};
const Operation kMaxPoolBackward = {.name = "max_pool_backward",
                                    .infer = infer_max_backward,
                                    .reference = max_backward,
                                    .text = text};
const Operation kAvgPool = {.name = "avg_pool",
                            .infer = infer_avg,
                            .reference = avg_forward,
                            .text = text,
                            .gradient = avg_gradient};
const Operation kAvgPoolBackward = {.name = "avg_pool_backward",
                                    .infer = infer_avg_backward,
                                    .reference = avg_backward,
                                    .text = text};

}  // namespace winnow::train
