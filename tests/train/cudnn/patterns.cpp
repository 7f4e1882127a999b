#include "tests/train/cudnn/patterns.h"

#include <array>
#include <utility>
#include <vector>

namespace winnow::train::cudnn {

template <>
struct AttributeType<cudnnPointwiseMode_t> {
  static constexpr auto kValue = CUDNN_TYPE_POINTWISE_MODE;
};
template <>
struct AttributeType<cudnnGenStatsMode_t> {
  static constexpr auto kValue = CUDNN_TYPE_GENSTATS_MODE;
};
template <>
struct AttributeType<bool> {
  static constexpr auto kValue = CUDNN_TYPE_BOOLEAN;
};

namespace {

cudnnDataType_t type_of(Element element) {
  return element == Element::kF16   ? CUDNN_DATA_HALF
         : element == Element::kF32 ? CUDNN_DATA_FLOAT
                                    : CUDNN_DATA_BFLOAT16;
}

// A graph under construction. Tensors are places in `parts`.
class Builder {
 public:
  using Tensor = std::size_t;

  Tensor tensor(const TensorLayout& layout, cudnnDataType_t type, bool is_virtual = false) {
    Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, ++last_id_)
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16})
        .set_array<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, layout.extents)
        .set_array<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, layout.strides)
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual)
        .finalize();
    return keep(std::move(made));
  }
  // A number for each channel.
  Tensor channels(std::int64_t count, cudnnDataType_t type) {
    return tensor(nhwc(1, count, 1, 1), type);
  }

  // A tensor as large as `layout`, computed from `a` and `b`, that stays inside.
  Tensor pointwise(cudnnPointwiseMode_t mode, const TensorLayout& layout, Tensor a, Tensor b) {
    const Tensor result = tensor(layout, CUDNN_DATA_FLOAT, true);
    operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, [&](Descriptor& o) {
      o.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, parts_[mode_of(mode)])
          .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, parts_[a])
          .set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, parts_[b])
          .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, parts_[result]);
    });
    return result;
  }
  Tensor relu(const TensorLayout& layout, Tensor x) {
    const Tensor result = tensor(layout, CUDNN_DATA_FLOAT, true);
    operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, [&](Descriptor& o) {
      o.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, parts_[mode_of(CUDNN_POINTWISE_RELU_FWD)])
          .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, parts_[x])
          .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, parts_[result]);
    });
    return result;
  }
  void relu_backward(Tensor dy, Tensor x, Tensor dx) {
    operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, [&](Descriptor& o) {
      o.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, parts_[mode_of(CUDNN_POINTWISE_RELU_BWD)])
          .set(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, parts_[dy])
          .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, parts_[x])
          .set(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, parts_[dx]);
    });
  }

  void statistics(Tensor y, std::int64_t count) {
    const Tensor sum = channels(count, CUDNN_DATA_FLOAT);
    const Tensor squares = channels(count, CUDNN_DATA_FLOAT);
    operation(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR, [&](Descriptor& o) {
      o.set(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_GENSTATS_SUM_SQSUM)
          .set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_FLOAT)
          .set(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, parts_[y])
          .set(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, parts_[sum])
          .set(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, parts_[squares]);
    });
  }

  struct ConvolutionNames {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t image, filter, result, window, alpha, beta;
  };
  void convolution(const ConvolutionNames& names, const ConvAxes& axes, Tensor image, Tensor filter,
                   Tensor result) {
    const std::size_t made = window(axes);
    operation(names.type, [&](Descriptor& o) {
      o.set(names.image, parts_[image])
          .set(names.filter, parts_[filter])
          .set(names.result, parts_[result])
          .set(names.window, parts_[made])
          .set(names.alpha, 1.0F)
          .set(names.beta, 0.0F);
    });
  }

  // Sums that the norm's gradient needs: `x` is what the norm read, `dy` what came back to it.
  void norm_sums(Tensor x, Tensor dy, std::array<Tensor, 3> mean_deviation_scale,
                 std::int64_t count) {
    std::array<Tensor, 5> sums{};
    for (Tensor& sum : sums) sum = channels(count, CUDNN_DATA_FLOAT);
    const auto& [mean, deviation, scale] = mean_deviation_scale;
    operation(CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR, [&](Descriptor& o) {
      o.set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC, CUDNN_DATA_FLOAT)
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, parts_[mean])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, parts_[deviation])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, parts_[scale])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, parts_[x])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, parts_[dy])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC, parts_[sums[0]])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC, parts_[sums[1]])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC, parts_[sums[2]])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC, parts_[sums[3]])
          .set(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, parts_[sums[4]]);
    });
  }

  OperationGraph finish(const PlanTarget& target) && {
    std::vector<cudnnBackendDescriptor_t> all;
    for (const std::size_t at : operations_) all.push_back(parts_[at].native());
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set_array<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS, all);
    if (target.handle != nullptr) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle);
    graph.finalize();
    return {.parts = std::move(parts_), .graph = std::move(graph)};
  }

 private:
  std::size_t keep(Descriptor made) {
    parts_.push_back(std::move(made));
    return parts_.size() - 1;
  }
  std::size_t mode_of(cudnnPointwiseMode_t mode) {
    Descriptor made(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    made.set(CUDNN_ATTR_POINTWISE_MODE, mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
        .finalize();
    return keep(std::move(made));
  }
  std::size_t window(const ConvAxes& axes) {
    const auto& [rows, columns] = axes;
    const std::array<std::int64_t, 2> before{rows.before, columns.before};
    const std::array<std::int64_t, 2> after{rows.after, columns.after};
    const std::array<std::int64_t, 2> stride{rows.stride, columns.stride};
    const std::array<std::int64_t, 2> dilation{rows.dilation, columns.dilation};
    Descriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    made.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
        .set_array<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, before)
        .set_array<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, after)
        .set_array<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation)
        .set_array<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride)
        .finalize();
    return keep(std::move(made));
  }
  template <class Fill>
  void operation(cudnnBackendDescriptorType_t type, Fill fill) {
    Descriptor made(type);
    fill(made);
    made.finalize();
    operations_.push_back(keep(std::move(made)));
  }

  std::vector<Descriptor> parts_;
  std::vector<std::size_t> operations_;
  std::int64_t last_id_ = 0;
};

constexpr Builder::ConvolutionNames kForward = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
constexpr Builder::ConvolutionNames kFilterGradient = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
constexpr Builder::ConvolutionNames kDataGradient = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};

// One pattern of one layer. `scales`: the type of numbers by channel.
class Drawing {
 public:
  Drawing(const ConvolutionDescription& layer, cudnnDataType_t scales)
      : extents_(layer.extents),
        type_(type_of(layer.type)),
        scales_(scales),
        x_(nhwc(extents_.x.n, extents_.x.c, extents_.x.h, extents_.x.w)),
        w_(nhwc(extents_.y.c, extents_.filter_channels(), extents_.r, extents_.s)),
        y_(nhwc(extents_.y.n, extents_.y.c, extents_.y.h, extents_.y.w)) {}

  OperationGraph draw(Pattern pattern, const PlanTarget& target) {
    switch (pattern) {
      case Pattern::kStatistics:
        forward(builder_.tensor(x_, type_), true);
        break;
      case Pattern::kNorm:
      case Pattern::kNormStatistics:
        forward(normed(false), pattern == Pattern::kNormStatistics);
        break;
      case Pattern::kSkip:
        forward(normed(true), false);
        break;
      case Pattern::kFilter:
        filter_gradient();
        break;
      case Pattern::kData:
        data_gradient();
        break;
    }
    return std::move(builder_).finish(target);
  }

 private:
  using Tensor = Builder::Tensor;

  void forward(Tensor image, bool statistics) {
    const Tensor w = builder_.tensor(w_, type_);
    const Tensor y = builder_.tensor(y_, type_);
    builder_.convolution(kForward, extents_.axes, image, w, y);
    if (statistics) builder_.statistics(y, extents_.y.c);
  }

  // relu(scale * x + bias [+ skip])
  Tensor normed(bool skip) {
    const Tensor x = builder_.tensor(x_, type_);
    const Tensor scale = builder_.channels(extents_.x.c, scales_);
    const Tensor bias = builder_.channels(extents_.x.c, scales_);
    Tensor sum = builder_.pointwise(CUDNN_POINTWISE_MUL, x_, x, scale);
    sum = builder_.pointwise(CUDNN_POINTWISE_ADD, x_, sum, bias);
    if (skip) sum = builder_.pointwise(CUDNN_POINTWISE_ADD, x_, sum, builder_.tensor(x_, type_));
    return builder_.relu(x_, sum);
  }

  void filter_gradient() {
    const Tensor image = normed(false);
    const Tensor dy = builder_.tensor(y_, type_);
    const Tensor dw = builder_.tensor(w_, type_);
    builder_.convolution(kFilterGradient, extents_.axes, image, dw, dy);
  }

  void data_gradient() {
    const Tensor dy = builder_.tensor(y_, type_);
    const Tensor w = builder_.tensor(w_, type_);
    const Tensor back = builder_.tensor(x_, CUDNN_DATA_FLOAT, true);
    builder_.convolution(kDataGradient, extents_.axes, back, w, dy);
    const std::int64_t count = extents_.x.c;
    const Tensor x = builder_.tensor(x_, type_);
    const Tensor mean = builder_.channels(count, CUDNN_DATA_FLOAT);
    const Tensor deviation = builder_.channels(count, CUDNN_DATA_FLOAT);
    const Tensor scale = builder_.channels(count, CUDNN_DATA_FLOAT);
    const Tensor bias = builder_.channels(count, CUDNN_DATA_FLOAT);
    Tensor norm = builder_.pointwise(CUDNN_POINTWISE_SUB, x_, x, mean);
    norm = builder_.pointwise(CUDNN_POINTWISE_MUL, x_, norm, deviation);
    norm = builder_.pointwise(CUDNN_POINTWISE_MUL, x_, norm, scale);
    norm = builder_.pointwise(CUDNN_POINTWISE_ADD, x_, norm, bias);
    const Tensor dx = builder_.tensor(x_, type_);
    builder_.relu_backward(back, norm, dx);
    builder_.norm_sums(x, dx, {mean, deviation, scale}, count);
  }

  const ConvExtents extents_;
  cudnnDataType_t type_;
  cudnnDataType_t scales_;
  TensorLayout x_, w_, y_;
  Builder builder_;
};

struct CardNumbers {
  const char* name;
  const char* whole_name;
  int version;  // 900: compute capability 9.0
  int multiprocessors;
  int shared_bytes;  // limit for a block
  std::int64_t l2_bytes;
  int clock_khz;
  int memory_clock_khz;
  std::int64_t memory_bytes;
};

SimulatedCard simulated(const CardNumbers& n) {
  const auto field = [](const char* name, std::int64_t value) {
    return std::string(",\"") + name + "\":" + std::to_string(value);
  };
  std::string json = R"({"deviceId":0,"cudaDeviceId":0,"driverVer":13000,)"
                     R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)"
                     R"("regsPerBlock":65536,"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
                     R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,)"
                     R"("maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,)"
                     R"("pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1)";
  json += field("deviceVer", n.version) + field("multiProcessorCount", n.multiprocessors) +
          field("maxSharedMemoryPerBlockOptin", n.shared_bytes) +
          field("smClockRateKHz", n.clock_khz) + field("memClockRateKHz", n.memory_clock_khz) +
          field("l2CacheSize", n.l2_bytes) + field("totalGlobalMem", n.memory_bytes);
  return {n.name, json + ",\"deviceName\":\"" + n.whole_name + "\"}"};
}

// Adds to `found` what it has not.
void find(const OperationGraph& graph, ConvolutionDescription layer, const PlanTarget& target,
          PatternPlans& found) {
  for (const EngineConfig& config : propose(graph, target)) {
    layer.deterministic = false;
    if (!may_compute(layer, config.notes)) continue;
    layer.deterministic = true;
    const bool repeats = may_compute(layer, config.notes);
    if (repeats ? found.deterministic.has_value() : found.any.has_value()) continue;
    const auto plan = make_plan(config, target);
    if (!plan) continue;
    if (!found.any) found.any = plan->name;
    if (repeats) found.deterministic = plan->name;
    if (found.deterministic) return;
  }
}

}  // namespace

std::span<const SimulatedCard> simulated_cards() {
  static const std::vector<SimulatedCard> cards = {
      simulated(
          {"H200", "NVIDIA H200", 900, 132, 232448, 62914560, 1980000, 3201000, 150754820096}),
      simulated({"A100", "NVIDIA A100-SXM4-40GB", 800, 108, 166912, 41943040, 1410000, 1215000,
                 42505273344}),
      simulated({"H100", "NVIDIA H100 80GB HBM3", 900, 132, 232448, 52428800, 1980000, 2619000,
                 85017493504}),
      simulated(
          {"B200", "NVIDIA B200", 1000, 148, 232448, 132644864, 1965000, 3996000, 191503138816}),
  };
  return cards;
}

std::span<const Pattern> patterns() {
  static constexpr Pattern kAll[] = {Pattern::kStatistics,     Pattern::kNorm,   Pattern::kSkip,
                                     Pattern::kNormStatistics, Pattern::kFilter, Pattern::kData};
  return kAll;
}

std::string_view name_of(Pattern pattern) noexcept {
  switch (pattern) {
    case Pattern::kStatistics:
      return "convolution, statistics";
    case Pattern::kNorm:
      return "scale, bias, ReLU, convolution";
    case Pattern::kSkip:
      return "scale, bias, skip, ReLU, convolution";
    case Pattern::kNormStatistics:
      return "scale, bias, ReLU, convolution, statistics";
    case Pattern::kFilter:
      return "scale, bias, ReLU, filter gradient";
    case Pattern::kData:
      return "data gradient, ReLU's, the norm's sums";
  }
  return "";
}

// Whichever type cuDNN takes numbers by channel in: that of the data, or f32.
PatternPlans find_pattern(Pattern pattern, const ConvolutionDescription& layer,
                          const PlanTarget& target) {
  PatternPlans found;
  for (const cudnnDataType_t scales : {type_of(layer.type), CUDNN_DATA_FLOAT}) {
    try {
      find(Drawing(layer, scales).draw(pattern, target), layer, target, found);
    } catch (const CudnnError& error) {
      if (!error.is_unsupported()) throw;
    }
    if (found.deterministic) break;
  }
  return found;
}

}  // namespace winnow::train::cudnn
