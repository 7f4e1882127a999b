#include "train/backend/reference/interpret.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

// Data in memory order NHWC; (N,D) is (N,D,1,1).
struct Data {
  std::int64_t n, c, h, w;

  explicit Data(const Shape& shape)
      : n(shape[0]),
        c(shape[1]),
        h(shape.size() == 4 ? shape[2] : 1),
        w(shape.size() == 4 ? shape[3] : 1) {}
  std::size_t at(std::int64_t in, std::int64_t ic, std::int64_t ih, std::int64_t iw) const {
    return position(((in * h + ih) * w + iw) * c + ic);
  }
};

// Where a window of a convolution or a pooling reads: output row p, filter row r.
struct Window {
  std::int64_t stride, pad;
  std::int64_t at(std::int64_t p, std::int64_t r) const { return p * stride + r - pad; }
};

// A filter in memory order (K,C,R,S).
struct Filter {
  std::int64_t k, c, r, s;
  std::size_t at(std::int64_t ik, std::int64_t ic, std::int64_t ir, std::int64_t is) const {
    return position(((ik * c + ic) * r + ir) * s + is);
  }
};

// y[n,k,p,q] = sum over c,r,s of x[n, c, p*stride+r-pad, q*stride+s-pad] * w[k,c,r,s]: visit(x, w,
// y) with the three positions in memory, for every product of the sum that is not padding. A linear
// layer is the convolution whose filter is as large as the image.
struct Convolution {
  Data x;
  Filter w;
  Data y;
  Window window;

  static Convolution conv(const Shape& x, const Shape& w, const Shape& y, const ConvAttributes& a) {
    return {Data(x), {w[0], w[1], w[2], w[3]}, Data(y), {a.stride, a.pad}};
  }
  static Convolution linear(const Shape& x, const Shape& y) {
    const Data data(x);
    return {data, {y[1], data.c, data.h, data.w}, Data(y), {1, 0}};
  }

  template <class Visit>
  void for_each_product(Visit visit) const {
    for (std::int64_t n = 0; n < y.n; ++n) {
      for (std::int64_t p = 0; p < y.h; ++p) {
        for (std::int64_t q = 0; q < y.w; ++q) {
          for (std::int64_t r = 0; r < w.r; ++r) {
            for (std::int64_t s = 0; s < w.s; ++s) {
              const std::int64_t row = window.at(p, r);
              const std::int64_t column = window.at(q, s);
              if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
              for (std::int64_t k = 0; k < y.c; ++k) {
                for (std::int64_t c = 0; c < x.c; ++c) {
                  visit(x.at(n, c, row, column), w.at(k, c, r, s), y.at(n, k, p, q));
                }
              }
            }
          }
        }
      }
    }
  }
};

void forward(const Convolution& conv, const Numbers& x, const Numbers& w, const Numbers* bias,
             Numbers& y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = bias == nullptr ? 0 : (*bias)[i % position(conv.y.c)];
  }
  conv.for_each_product(
      [&](std::size_t xi, std::size_t wi, std::size_t yi) { y[yi] += x[xi] * w[wi]; });
}

void backward_data(const Convolution& conv, const Numbers& dy, const Numbers& w, Numbers& dx) {
  std::fill(dx.begin(), dx.end(), 0.0);
  conv.for_each_product(
      [&](std::size_t xi, std::size_t wi, std::size_t yi) { dx[xi] += dy[yi] * w[wi]; });
}

void backward_filter(const Convolution& conv, const Numbers& x, const Numbers& dy, Numbers& dw,
                     Numbers* dbias) {
  std::fill(dw.begin(), dw.end(), 0.0);
  conv.for_each_product(
      [&](std::size_t xi, std::size_t wi, std::size_t yi) { dw[wi] += x[xi] * dy[yi]; });
  if (dbias == nullptr) return;
  std::fill(dbias->begin(), dbias->end(), 0.0);
  for (std::size_t i = 0; i < dy.size(); ++i) (*dbias)[i % position(conv.y.c)] += dy[i];
}

// visit(y, x, element) for every element of every window that is not padding, row-major in a
// window; y and x are positions in memory, `element` counts padding too.
struct Pooling {
  Data x;
  Data y;
  PoolAttributes pool;

  template <class Visit>
  void for_each_element(Visit visit) const {
    const Window window{pool.stride, pool.pad};
    for (std::int64_t n = 0; n < y.n; ++n) {
      for (std::int64_t c = 0; c < y.c; ++c) {
        for (std::int64_t p = 0; p < y.h; ++p) {
          for (std::int64_t q = 0; q < y.w; ++q) {
            for (int r = 0; r < pool.kernel_h; ++r) {
              for (int s = 0; s < pool.kernel_w; ++s) {
                const std::int64_t row = window.at(p, r);
                const std::int64_t column = window.at(q, s);
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

void max_pool(const Pooling& pooling, const Numbers& x, Numbers& y, Numbers& index) {
  std::fill(index.begin(), index.end(), -1.0);
  pooling.for_each_element([&](std::size_t yi, std::size_t xi, int element) {
    if (index[yi] >= 0 && !(x[xi] > y[yi])) return;
    y[yi] = x[xi];
    index[yi] = element;
  });
}

void max_pool_backward(const Pooling& pooling, const Numbers& dy, const Numbers& index,
                       Numbers& dx) {
  std::fill(dx.begin(), dx.end(), 0.0);
  pooling.for_each_element([&](std::size_t yi, std::size_t xi, int element) {
    if (index[yi] == element) dx[xi] += dy[yi];
  });
}

void avg_pool(const Pooling& pooling, const Numbers& x, Numbers& y) {
  const double window = pooling.pool.kernel_h * pooling.pool.kernel_w;
  std::fill(y.begin(), y.end(), 0.0);
  pooling.for_each_element([&](std::size_t yi, std::size_t xi, int) { y[yi] += x[xi] / window; });
}

void avg_pool_backward(const Pooling& pooling, const Numbers& dy, Numbers& dx) {
  const double window = pooling.pool.kernel_h * pooling.pool.kernel_w;
  std::fill(dx.begin(), dx.end(), 0.0);
  pooling.for_each_element([&](std::size_t yi, std::size_t xi, int) { dx[xi] += dy[yi] / window; });
}

double relu(double x) { return x > 0 ? x : 0; }

// In NHWC the elements of channel c lie at c, c + C, c + 2C, ...
void batch_norm(const Numbers& x, const Numbers& scale, const Numbers& shift, const Numbers& mean,
                const Numbers& variance, const Numbers* residual, const NormAttributes& norm,
                Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % scale.size();
    const double normal = (x[i] - mean[c]) / std::sqrt(variance[c] + norm.epsilon);
    y[i] = scale[c] * normal + shift[c] + (residual == nullptr ? 0 : (*residual)[i]);
    if (norm.relu) y[i] = relu(y[i]);
  }
}

void batch_statistics(const Numbers& x, Numbers& mean, Numbers& variance) {
  const double count = static_cast<double>(x.size() / mean.size());
  std::fill(mean.begin(), mean.end(), 0.0);
  std::fill(variance.begin(), variance.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) mean[i % mean.size()] += x[i] / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double deviation = x[i] - mean[i % mean.size()];
    variance[i % mean.size()] += deviation * deviation / count;
  }
}

// Ioffe & Szegedy 2015, section 3, the gradients with respect to the statistics folded into dx:
// dx = scale / sqrt(variance + epsilon) * (g - mean(g) - normal * mean(g * normal)), where g is dy
// behind the relu and the means are over N, H, W.
void batch_norm_backward(const Numbers& x, const Numbers& scale, const Numbers& mean,
                         const Numbers& variance, const Numbers& dy, const Numbers* y,
                         double epsilon, Numbers& dx, Numbers& dscale, Numbers& dshift,
                         Numbers* dresidual) {
  const std::size_t channels = scale.size();
  const double count = static_cast<double>(x.size() / channels);
  const auto gradient = [&](std::size_t i) { return y == nullptr || (*y)[i] > 0 ? dy[i] : 0; };
  const auto normal = [&](std::size_t i) {
    const std::size_t c = i % channels;
    return (x[i] - mean[c]) / std::sqrt(variance[c] + epsilon);
  };
  std::fill(dscale.begin(), dscale.end(), 0.0);
  std::fill(dshift.begin(), dshift.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    dscale[i % channels] += gradient(i) * normal(i);
    dshift[i % channels] += gradient(i);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % channels;
    dx[i] = scale[c] / std::sqrt(variance[c] + epsilon) *
            (gradient(i) - dshift[c] / count - normal(i) * dscale[c] / count);
    if (dresidual != nullptr) (*dresidual)[i] = gradient(i);
  }
}

// One sample of logits and targets.
struct Sample {
  const double* logits;
  const double* targets;
  std::size_t classes;

  double log_sum_exp() const {
    const double largest = *std::max_element(logits, logits + classes);
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(logits[k] - largest);
    return largest + std::log(sum);
  }
  double target_sum() const {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += targets[k];
    return sum;
  }
  double smoothed(std::size_t k, double smoothing) const {
    return (1 - smoothing) * targets[k] + smoothing / static_cast<double>(classes) * target_sum();
  }
};

void softmax_cross_entropy(const Numbers& logits, const Numbers& targets, const Numbers& weights,
                           double smoothing, Numbers& loss, Numbers& per_sample) {
  const std::size_t classes = logits.size() / weights.size();
  loss[0] = 0;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const Sample sample{&logits[n * classes], &targets[n * classes], classes};
    const double normalizer = sample.log_sum_exp();
    per_sample[n] = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      per_sample[n] -= sample.smoothed(k, smoothing) * (sample.logits[k] - normalizer);
    }
    loss[0] += weights[n] * per_sample[n];
  }
}

void softmax_cross_entropy_backward(const Numbers& logits, const Numbers& targets,
                                    const Numbers& weights, double smoothing, Numbers& dlogits) {
  const std::size_t classes = logits.size() / weights.size();
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const Sample sample{&logits[n * classes], &targets[n * classes], classes};
    const double normalizer = sample.log_sum_exp();
    for (std::size_t k = 0; k < classes; ++k) {
      dlogits[n * classes + k] =
          weights[n] * (std::exp(sample.logits[k] - normalizer) * sample.target_sum() -
                        sample.smoothed(k, smoothing));
    }
  }
}

// The operands of one node.
class Step {
 public:
  Step(const Graph& graph, const Node& node, std::span<Numbers> values)
      : graph_(graph), node_(node), values_(values) {}

  void run() const {
    switch (node_.op) {
      case OpKind::kNormalizeInput:
        return normalize();
      case OpKind::kConv2d:
        return forward(conv(in_shape(0), in_shape(1), out_shape(0)), in(0), in(1),
                       in_if(2, attributes<ConvAttributes>().bias), out(0));
      case OpKind::kConv2dBackwardData:
        return backward_data(conv(out_shape(0), in_shape(1), in_shape(0)), in(0), in(1), out(0));
      case OpKind::kConv2dBackwardFilter:
        return backward_filter(conv(in_shape(0), out_shape(0), in_shape(1)), in(0), in(1), out(0),
                               out_if(1, attributes<ConvAttributes>().bias));
      case OpKind::kLinear:
        return forward(Convolution::linear(in_shape(0), out_shape(0)), in(0), in(1),
                       in_if(2, attributes<LinearAttributes>().bias), out(0));
      case OpKind::kLinearBackwardData:
        return backward_data(Convolution::linear(out_shape(0), in_shape(0)), in(0), in(1), out(0));
      case OpKind::kLinearBackwardWeight:
        return backward_filter(Convolution::linear(in_shape(0), in_shape(1)), in(0), in(1), out(0),
                               out_if(1, attributes<LinearAttributes>().bias));
      case OpKind::kBatchNorm: {
        const auto& norm = attributes<NormAttributes>();
        batch_statistics(in(0), out(1), out(2));
        return batch_norm(in(0), in(1), in(2), out(1), out(2), in_if(3, norm.residual), norm,
                          out(0));
      }
      case OpKind::kBatchNormBackward: {
        const auto& norm = attributes<NormAttributes>();
        return batch_norm_backward(in(0), in(1), in(2), in(3), in(4), in_if(5, norm.relu),
                                   norm.epsilon, out(0), out(1), out(2),
                                   out_if(3, norm.relu && norm.residual));
      }
      case OpKind::kBatchNormInference: {
        const auto& norm = attributes<NormAttributes>();
        return batch_norm(in(0), in(1), in(2), in(3), in(4), in_if(5, norm.residual), norm, out(0));
      }
      case OpKind::kRelu:
        return each([](double x, double) { return relu(x); });
      case OpKind::kReluBackward:
        return each([](double y, double dy) { return y > 0 ? dy : 0; });
      case OpKind::kAdd:
        return each([](double a, double b) { return a + b; });
      case OpKind::kMaxPool:
        return max_pool(pooling(in_shape(0), out_shape(0)), in(0), out(0), out(1));
      case OpKind::kMaxPoolBackward:
        return max_pool_backward(pooling(out_shape(0), in_shape(0)), in(0), in(1), out(0));
      case OpKind::kAvgPool:
        return avg_pool(pooling(in_shape(0), out_shape(0)), in(0), out(0));
      case OpKind::kAvgPoolBackward:
        return avg_pool_backward(pooling(out_shape(0), in_shape(0)), in(0), out(0));
      case OpKind::kSoftmaxCrossEntropy:
        return softmax_cross_entropy(in(0), in(1), in(2),
                                     attributes<LossAttributes>().label_smoothing, out(0), out(1));
      case OpKind::kSoftmaxCrossEntropyBackward:
        return softmax_cross_entropy_backward(in(0), in(1), in(2),
                                              attributes<LossAttributes>().label_smoothing, out(0));
    }
  }

 private:
  const Numbers& in(std::size_t i) const { return values_[position(node_.inputs[i])]; }
  const Numbers* in_if(std::size_t i, bool there) const { return there ? &in(i) : nullptr; }
  Numbers& out(std::size_t i) const { return values_[position(node_.outputs[i])]; }
  Numbers* out_if(std::size_t i, bool there) const { return there ? &out(i) : nullptr; }
  const Shape& in_shape(std::size_t i) const { return graph_.value(node_.inputs[i]).shape; }
  const Shape& out_shape(std::size_t i) const { return graph_.value(node_.outputs[i]).shape; }
  template <class T>
  const T& attributes() const {
    return std::get<T>(node_.attributes);
  }
  Convolution conv(const Shape& x, const Shape& w, const Shape& y) const {
    return Convolution::conv(x, w, y, attributes<ConvAttributes>());
  }
  Pooling pooling(const Shape& x, const Shape& y) const {
    return {Data(x), Data(y), attributes<PoolAttributes>()};
  }

  void normalize() const {
    const auto& normalize = attributes<NormalizeAttributes>();
    for (std::size_t i = 0; i < in(0).size(); ++i) {
      const std::size_t c = i % normalize.mean.size();
      out(0)[i] = (in(0)[i] / 255 - normalize.mean[c]) / normalize.deviation[c];
    }
  }
  template <class F>
  void each(F f) const {
    const Numbers& a = in(0);
    const Numbers& b = in(node_.inputs.size() - 1);
    for (std::size_t i = 0; i < a.size(); ++i) out(0)[i] = f(a[i], b[i]);
  }

  const Graph& graph_;
  const Node& node_;
  std::span<Numbers> values_;
};

}  // namespace

void interpret_node(const Graph& graph, const Node& node, std::span<std::vector<double>> values) {
  Step(graph, node, values).run();
}

std::vector<std::vector<double>> interpret(const Graph& graph,
                                           const std::map<ValueId, std::vector<double>>& inputs) {
  std::vector<Numbers> values(graph.values.size());
  for (const auto& [id, numbers] : inputs) {
    const Value& value = graph.values.at(position(id));
    if (value.kind == ValueKind::kComputed) {
      throw ShapeError("'" + value.name + "' is computed and cannot be given");
    }
    if (numbers.size() != position(element_count(value.shape))) {
      throw ShapeError("'" + value.name + "' is given " + std::to_string(numbers.size()) +
                       " numbers, its shape is " + to_string(value.shape));
    }
    values[position(id)] = numbers;
  }
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (values[position(id)].empty()) {
        throw ShapeError("'" + graph.value(id).name + "', which '" + node.name +
                         "' reads, is neither given nor computed before");
      }
    }
    for (const ValueId id : node.outputs) {
      values[position(id)].resize(position(element_count(graph.value(id).shape)));
    }
    interpret_node(graph, node, values);
  }
  return values;
}

}  // namespace winnow::train
