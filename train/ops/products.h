#pragma once

#include <utility>
#include <vector>

#include "train/graph/gradient.h"
#include "train/graph/graph.h"
#include "train/ops/images.h"

namespace winnow::train {

// Shared by convolutions and linear layers, in which y is a sum of products of data and filter.

// Describes the sum y[n,k,p,q] = sum over c,r,s of x[n, c, rows.at(p,r), columns.at(q,s)] *
// w[k,c,r,s].
// A linear layer is a convolution whose filter is as large as the image. With G groups, filters
// have C/G channels, and the filters of a group read only that group's channels.
struct ProductSum {
  ImageLayout x;
  Shape w;  // shape (K,C/G,R,S) of the filter, in logical order
  ImageLayout y;
  WindowRows rows{};
  WindowRows columns{};

  // Calls visit(x, w, y) with the positions in memory of the factors and the result, for every
  // product. Products with padding are skipped.
  template <class Visit>
  void for_each_product(Visit visit) const {
    const std::int64_t group_filters = y.c / (x.c / w[1]);
    for (std::int64_t n = 0; n < y.n; ++n) {
      for (std::int64_t p = 0; p < y.h; ++p) {
        for (std::int64_t q = 0; q < y.w; ++q) {
          for (std::int64_t r = 0; r < w[2]; ++r) {
            for (std::int64_t s = 0; s < w[3]; ++s) {
              const std::int64_t row = rows.at(p, r);
              const std::int64_t column = columns.at(q, s);
              if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
              for (std::int64_t k = 0; k < y.c; ++k) {
                const std::int64_t first = k / group_filters * w[1];
                for (std::int64_t c = 0; c < w[1]; ++c) {
                  visit(x.at(n, first + c, row, column), filter_at(k, c, r, s), y.at(n, k, p, q));
                }
              }
            }
          }
        }
      }
    }
  }

 private:
  std::size_t filter_at(std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) const {
    return static_cast<std::size_t>(((k * w[1] + c) * w[2] + r) * w[3] + s);
  }
};

// Float64 reference implementations of the three passes. `bias`, `dbias`: nullptr without a bias.
void product_sum(const ProductSum& sum, const std::vector<double>& x, const std::vector<double>& w,
                 const std::vector<double>* bias, std::vector<double>& y);
void product_sum_data(const ProductSum& sum, const std::vector<double>& dy,
                      const std::vector<double>& w, std::vector<double>& dx);
void product_sum_filter(const ProductSum& sum, const std::vector<double>& x,
                        const std::vector<double>& dy, std::vector<double>& dw,
                        std::vector<double>* dbias);

// Number of multiply-adds: elements of y (or dy) times the elements of the filter that contribute
// to one of them.
double product_multiply_adds(const Graph& graph, ValueId y, const Shape& filter);
// Numbers of multiply-adds of a forward node (inputs x, w), a backward-data node (dy, w) and a
// backward-filter node (x, dy).
double forward_multiply_adds(const Graph& graph, const Node& node);
double backward_data_multiply_adds(const Graph& graph, const Node& node);
double backward_filter_multiply_adds(const Graph& graph, const Node& node);

// Appends the backward pass of a forward node y = op(x, w, [b]).
// attributes  Those of the forward node, with the shapes that the backward operations need. `bias`
//             is then set to whether the node computes the bias gradient.
// Order       The filter gradient comes first, so that its all-reduce overlaps with the rest of the
//             backward pass.
template <class T>
void product_gradient(GradientBuilder& builder, const Node& node, T attributes,
                      const Operation& filter_op, const Operation& data_op) {
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  const ValueId x = node.inputs[0];
  const ValueId w = node.inputs[1];
  attributes.bias = attributes.bias && builder.wants(node.inputs[2]);
  if (builder.wants(w) || attributes.bias) {
    const auto made = builder.append(filter_op, "backward_filter", {x, dy}, attributes);
    builder.add_gradient(w, made[0]);
    if (attributes.bias) builder.add_gradient(node.inputs[2], made[1]);
  }
  attributes.bias = false;
  if (builder.wants(x)) {
    builder.add_gradient(x, builder.append(data_op, "backward_data", {dy, w}, attributes)[0]);
  }
}

}  // namespace winnow::train
