#include "train/ops/products.h"

#include <algorithm>

namespace winnow::train {

using Numbers = std::vector<double>;

void product_sum(const ProductSum& sum, const Numbers& x, const Numbers& w, const Numbers* bias,
                 Numbers& y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = bias == nullptr ? 0 : (*bias)[i % static_cast<std::size_t>(sum.y.c)];
  }
  sum.for_each_product(
      [&](std::size_t xi, std::size_t wi, std::size_t yi) { y[yi] += x[xi] * w[wi]; });
}

void product_sum_data(const ProductSum& sum, const Numbers& dy, const Numbers& w, Numbers& dx) {
  std::fill(dx.begin(), dx.end(), 0.0);
  sum.for_each_product(
      [&](std::size_t xi, std::size_t wi, std::size_t yi) { dx[xi] += dy[yi] * w[wi]; });
}

void product_sum_filter(const ProductSum& sum, const Numbers& x, const Numbers& dy, Numbers& dw,
                        Numbers* dbias) {
  std::fill(dw.begin(), dw.end(), 0.0);
  sum.for_each_product(
      [&](std::size_t xi, std::size_t wi, std::size_t yi) { dw[wi] += x[xi] * dy[yi]; });
  if (dbias == nullptr) return;
  std::fill(dbias->begin(), dbias->end(), 0.0);
  const auto filters = static_cast<std::size_t>(sum.y.c);
  for (std::size_t i = 0; i < dy.size(); ++i) (*dbias)[i % filters] += dy[i];
}

double product_multiply_adds(const Graph& graph, ValueId y, const Shape& filter) {
  return static_cast<double>(element_count(graph.value(y).shape)) *
         static_cast<double>(element_count(filter) / filter[0]);
}

double forward_multiply_adds(const Graph& graph, const Node& node) {
  return product_multiply_adds(graph, node.outputs[0], graph.value(node.inputs[1]).shape);
}

double backward_data_multiply_adds(const Graph& graph, const Node& node) {
  return product_multiply_adds(graph, node.inputs[0], graph.value(node.inputs[1]).shape);
}

double backward_filter_multiply_adds(const Graph& graph, const Node& node) {
  return product_multiply_adds(graph, node.inputs[1], graph.value(node.outputs[0]).shape);
}

}  // namespace winnow::train
