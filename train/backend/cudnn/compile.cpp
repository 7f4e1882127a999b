#include <algorithm>
#include <string>
#include <utility>

#include "common/error.h"
#include "train/backend/cudnn/compiled.h"
#include "train/backend/cudnn/kernels.h"
#include "train/graph/arena_layout.h"
#include "train/ops/batch_norm.h"
#include "train/ops/conv2d.h"
#include "train/ops/linear.h"
#include "train/ops/normalize_input.h"
#include "train/ops/pooling.h"
#include "train/ops/softmax_cross_entropy.h"

namespace winnow::train::cudnn {
namespace {

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

// (N,C,H,W), with H = W = 1 for (N,D).
struct Extents {
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  explicit Extents(const Shape& shape) {
    n = shape.at(0);
    c = shape.at(1);
    if (shape.size() == 4) {
      h = shape[2];
      w = shape[3];
    }
  }
  std::int64_t rows() const { return n * h * w; }
};

class Compiler {
 public:
  Compiler(const Graph& graph, const CompileOptions& options, Device& device)
      : graph_(graph),
        device_(device),
        table_(device.kernels()),
        compute_(options.compute == DType::kBF16 ? Element::kBf16 : Element::kF32),
        tf32_(options.compute == DType::kTf32),
        deterministic_(options.deterministic),
        plan_(lay_out_arena(graph, options.compute)),
        out_(std::make_unique<Compiled>(plan_.arena_bytes)),
        homes_(graph.values.size()) {}

  std::unique_ptr<Compiled> run() {
    place_values();
    for (const Node& node : graph_.nodes) {
      out_->slots.next_node();
      now_.clear();
      after_.clear();
      compile(node);
      std::move(after_.begin(), after_.end(), std::back_inserter(now_));
      out_->nodes.push_back(std::move(now_));
    }
    out_->slots.allocate(device_);
    return std::move(out_);
  }

 private:
  using Slot = Slots::Id;

  // Where a value is and of what type, for those who read it.
  struct Home {
    Slot slot = 0;
    Element element = Element::kF32;  // of u8 values: not used
    bool is_loaded = false;           // inputs in bf16: the copy is made, by the first reader
  };

  const Value& value(ValueId id) const { return graph_.value(id); }
  std::int64_t count(ValueId id) const { return element_count(value(id).shape); }
  static bool is_bytes(const Value& v) { return v.storage == Storage::kU8; }
  bool is_bf16(const Value& v) const {
    return compute_ == Element::kBf16 && v.storage == Storage::kCompute;
  }
  static bool is_weight(const Value& v) {
    return v.kind == ValueKind::kParameter || v.kind == ValueKind::kBuffer;
  }

  // ---- Where values are.

  std::size_t outside_bytes(ValueId id) const {
    return position(count(id)) * (is_bytes(value(id)) ? 1 : sizeof(float));
  }

  Crossing crossing(ValueId id, Slot slot) {
    const Crossing made{slot, outside_bytes(id), out_->staging_bytes};
    out_->staging_bytes += aligned(made.bytes);
    return made;
  }

  void place_values() {
    const std::size_t values = graph_.values.size();
    out_->inputs.resize(values);
    out_->parameters.resize(values);
    out_->outputs.resize(values);
    out_->written_by.resize(values, 0);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const ValueId id : graph_.nodes[n].inputs) place_leaf(id);
      for (const ValueId id : graph_.nodes[n].outputs) {
        place_computed(id);
        out_->written_by[position(id)] = n;
      }
    }
    for (const Output& output : graph_.outputs) place_output(output.value);
  }

  void place_leaf(ValueId id) {
    const Value& v = value(id);
    if (v.kind == ValueKind::kComputed || out_->inputs[position(id)] ||
        out_->parameters[position(id)]) {
      return;
    }
    Slots& slots = out_->slots;
    Home& home = homes_[position(id)];
    if (is_weight(v)) {
      home.slot = slots.bound();
      out_->parameters[position(id)] = crossing(id, home.slot);
      return;
    }
    home.slot = slots.own(outside_bytes(id));
    out_->inputs[position(id)] = crossing(id, home.slot);
    if (!is_bf16(v)) return;
    home.element = Element::kBf16;
    home.slot = slots.own(position(count(id)) * bytes_of(Element::kBf16));
  }

  void place_computed(ValueId id) {
    const Value& v = value(id);
    Home& home = homes_[position(id)];
    home.element = is_bf16(v) ? Element::kBf16 : Element::kF32;
    const std::size_t offset = plan_.offsets[position(id)];
    const std::size_t bytes = position(count(id)) * (is_bytes(v) ? 1 : bytes_of(home.element));
    home.slot = offset == ArenaLayout::kOutside ? out_->slots.own(bytes) : out_->slots.arena(offset);
  }

  void place_output(ValueId id) {
    if (value(id).kind != ValueKind::kComputed) {
      throw Error("output '" + value(id).name + "' is not computed by the graph");
    }
    std::optional<Crossing>& output = out_->outputs[position(id)];
    if (output) return;
    const Home& home = homes_[position(id)];
    const bool as_is = is_bytes(value(id)) || home.element == Element::kF32;
    output = crossing(id, as_is ? home.slot : out_->slots.own(outside_bytes(id)));
  }

  // ---- Operands of the node being compiled.

  void step(Step s) { now_.push_back(std::move(s)); }
  void step_after(Step s) { after_.push_back(std::move(s)); }

  Step convert(Slot from, Element from_type, Slot to, Element to_type, std::int64_t elements) {
    return [=, at = &out_->slots, table = &table_](Stream& stream) {
      table->convert({at->at(from), from_type, at->at(to), to_type, elements}, stream);
    };
  }

  // Where `id` can be read as `wanted` when this node runs.
  Slot read(ValueId id, Element wanted) {
    Home& home = homes_[position(id)];
    const std::optional<Crossing>& input = out_->inputs[position(id)];
    if (input && home.element == Element::kBf16) {
      if (wanted == Element::kF32) return input->slot;
      if (!home.is_loaded) {
        step(convert(input->slot, Element::kF32, home.slot, Element::kBf16, count(id)));
        home.is_loaded = true;
      }
      return home.slot;
    }
    if (home.element == wanted) return home.slot;
    const Slot copy = scratch(id, wanted);
    step(convert(home.slot, home.element, copy, wanted, count(id)));
    return copy;
  }

  // Where this node may write `id` as `wanted`; what leaves or is of another type is written after.
  Slot write(ValueId id, Element wanted) {
    const Home& home = homes_[position(id)];
    Slot to = home.slot;
    if (home.element != wanted) {
      to = scratch(id, wanted);
      step_after(convert(to, wanted, home.slot, home.element, count(id)));
    }
    const std::optional<Crossing>& output = out_->outputs[position(id)];
    if (output && output->slot != home.slot) {
      step_after(convert(home.slot, home.element, output->slot, Element::kF32, count(id)));
    }
    return to;
  }

  Slot scratch(ValueId id, Element element) {
    return out_->slots.scratch(position(count(id)) * bytes_of(element));
  }
  Slot bytes(ValueId id) const { return homes_[position(id)].slot; }
  Element element(ValueId id) const { return homes_[position(id)].element; }

  // A kernel of the table on arguments that are filled in when it runs: weights may be bound anew.
  template <class Fill, class Arguments>
  void kernel(void (*function)(const Arguments&, Stream&), Fill fill) {
    step([at = &out_->slots, function, fill](Stream& stream) { function(fill(*at), stream); });
  }

  // ---- Convolutions and linear layers.

  struct FilterExtents {
    std::int64_t k, c, r, s;
    std::int64_t count() const { return k * c * r * s; }
  };

  Step pack(Slot from, Slot to, const FilterExtents& f) {
    return [=, at = &out_->slots, table = &table_, type = compute_](Stream& stream) {
      table->pack_filter({at->as<float>(from), at->at(to), type, f.k, f.c, f.r, f.s}, stream);
    };
  }

  // The filter `id` as products read it: weights are packed when loaded, others before each use.
  Slot filter(ValueId id, const FilterExtents& f) {
    const Slot source = read(id, Element::kF32);
    const std::size_t bytes = position(f.count()) * bytes_of(compute_);
    if (!is_weight(value(id))) {
      const Slot packed = out_->slots.scratch(bytes);
      step(pack(source, packed, f));
      return packed;
    }
    for (const auto& [packed_id, slot] : packed_) {
      if (packed_id == id) return slot;
    }
    const Slot packed = out_->slots.own(bytes);
    out_->load.push_back(pack(source, packed, f));
    packed_.emplace_back(id, packed);
    return packed;
  }

  // `product`, or own loops where the library has none.
  void run_product(std::unique_ptr<Product> product, const ConvolutionDescription& description,
                   Slot a, Slot b, Slot result) {
    if (product == nullptr) {
      out_->plans.push_back(to_string(description) + ": own loops");
      kernel(table_.direct_convolution, [=](const Slots& at) {
        return kernels::DirectConvolution{description, at.at(a), at.at(b), at.at(result)};
      });
      return;
    }
    out_->plans.push_back(to_string(description) + ": " + product->plan());
    const Slot workspace = out_->slots.scratch(product->workspace_bytes());
    step([=, at = &out_->slots,
          product = std::shared_ptr<Product>(std::move(product))](Stream& stream) {
      product->run(stream, at->at(a), at->at(b), at->at(result), at->at(workspace));
    });
  }

  // A layer in one of its passes: how the library computes it, and the same as a convolution.
  struct Layer {
    ConvolutionDescription description;
    bool is_linear = false;
    FilterExtents filter;
    ValueId data, weight, bias, result;  // bias: -1 for none
  };

  std::unique_ptr<Product> make_product(const ConvolutionDescription& d, bool is_linear) {
    if (!is_linear) return device_.make_convolution(d);
    MatmulDescription m{.type = d.type, .result = d.result, .tf32 = d.tf32};
    switch (d.pass) {
      case Pass::kForward:  // y (N,K) = x (N,C) * w (K,C)^T
        m.m = d.n, m.n = d.k, m.k = d.c, m.transpose_b = true;
        break;
      case Pass::kBackwardData:  // dx (N,C) = dy (N,K) * w (K,C)
        m.m = d.n, m.n = d.c, m.k = d.k;
        break;
      case Pass::kBackwardFilter:  // dw (K,C) = dy (N,K)^T * x (N,C)
        m.m = d.k, m.n = d.c, m.k = d.n, m.transpose_a = true;
        break;
    }
    std::unique_ptr<Product> product = device_.make_matmul(m);
    if (product == nullptr || d.pass != Pass::kBackwardFilter) return product;
    return std::make_unique<Swapped>(std::move(product));
  }

  // Filter passes give (x, dy), the matrix product above takes (dy, x).
  class Swapped final : public Product {
   public:
    explicit Swapped(std::unique_ptr<Product> inner) : inner_(std::move(inner)) {}
    std::size_t workspace_bytes() const noexcept override { return inner_->workspace_bytes(); }
    std::string plan() const override { return inner_->plan(); }
    void run(Stream& stream, const void* a, const void* b, void* result,
             void* workspace) const override {
      inner_->run(stream, b, a, result, workspace);
    }

   private:
    std::unique_ptr<Product> inner_;
  };

  void forward(Layer l) {
    const Slot x = read(l.data, compute_);
    const Slot w = filter(l.weight, l.filter);
    const Slot y = write(l.result, compute_);
    if (l.bias < 0) {
      return run_product(make_product(l.description, l.is_linear), l.description, x, w, y);
    }
    // The sum is rounded once, with the bias in it: by a product that leaves it whole, or own
    // loops.
    l.description.result = Element::kF32;
    const Slot sum = compute_ == Element::kF32 ? y : scratch(l.result, Element::kF32);
    run_product(make_product(l.description, l.is_linear), l.description, x, w, sum);
    const Slot bias = read(l.bias, Element::kF32);
    const Extents extents(value(l.result).shape);
    kernel(table_.add_bias, [=](const Slots& at) {
      return kernels::AddBias{Element::kF32, at.at(sum), at.as<float>(bias), extents.rows(),
                              extents.c};
    });
    if (sum != y) step(convert(sum, Element::kF32, y, compute_, count(l.result)));
  }

  void backward_data(const Layer& l) {
    const Slot dy = read(l.result, compute_);
    const Slot w = filter(l.weight, l.filter);
    const Slot dx = write(l.data, compute_);
    run_product(make_product(l.description, l.is_linear), l.description, dy, w, dx);
  }

  // f32 gradients straight from the product; else rounded to the type of activations, as a last
  // resort by own loops.
  void backward_filter(Layer l) {
    const Slot x = read(l.data, compute_);
    const Slot dy = read(l.result, compute_);
    l.description.result = Element::kF32;
    std::unique_ptr<Product> product = make_product(l.description, l.is_linear);
    if (product == nullptr && compute_ != Element::kF32) {
      ConvolutionDescription rounded = l.description;
      rounded.result = compute_;
      product = make_product(rounded, l.is_linear);
      if (product != nullptr) l.description = rounded;
    }
    const FilterExtents f = l.filter;
    const Element type = l.description.result;
    const Slot packed = out_->slots.scratch(position(f.count()) * bytes_of(type));
    const Slot dw = write(l.weight, Element::kF32);
    run_product(std::move(product), l.description, x, dy, packed);
    kernel(table_.unpack_filter, [=](const Slots& at) {
      return kernels::UnpackFilter{at.at(packed), type, at.as<float>(dw), f.k, f.c, f.r, f.s};
    });
    if (l.bias < 0) return;
    const Extents extents(value(l.result).shape);
    const Slot dbias = write(l.bias, Element::kF32);
    const Slot scratch = sums_scratch(extents);
    kernel(table_.bias_gradient, [=, compute = compute_](const Slots& at) {
      return kernels::BiasGradient{compute,        at.at(dy), at.as<float>(dbias),
                                   extents.rows(), extents.c, at.at(scratch)};
    });
  }

  void layer(Layer l, const Node& node, Pass pass, bool bias) {
    const auto& in = node.inputs;
    const auto& out = node.outputs;
    switch (pass) {
      case Pass::kForward:
        l.data = in[0], l.weight = in[1], l.result = out[0], l.bias = bias ? in.back() : -1;
        break;
      case Pass::kBackwardData:
        l.data = out[0], l.weight = in[1], l.result = in[0], l.bias = -1;
        break;
      case Pass::kBackwardFilter:
        l.data = in[0], l.weight = out[0], l.result = in[1], l.bias = bias ? out[1] : -1;
        break;
    }
    ConvolutionDescription& d = l.description;
    d.pass = pass;
    d.type = d.result = compute_;
    d.tf32 = tf32_;
    d.deterministic = deterministic_;
    const Extents x(value(l.data).shape);
    const Extents y(value(l.result).shape);
    d.n = x.n;
    d.k = y.c;
    if (l.is_linear) {
      d.c = x.c * x.h * x.w;
      l.filter = {d.k, x.c, x.h, x.w};
    } else {
      const Shape& filter = value(l.weight).shape;
      d.c = x.c, d.h = x.h, d.w = x.w, d.r = filter.at(2), d.s = filter.at(3), d.p = y.h, d.q = y.w;
      l.filter = {d.k, d.c, d.r, d.s};
    }
    switch (pass) {
      case Pass::kForward:
        return forward(l);
      case Pass::kBackwardData:
        return backward_data(l);
      case Pass::kBackwardFilter:
        return backward_filter(l);
    }
  }

  void convolution(const Node& node, Pass pass) {
    const auto& attributes = attributes_of<ConvAttributes>(node);
    Layer l{};
    l.description.stride = attributes.stride;
    l.description.pad = attributes.pad;
    layer(l, node, pass, attributes.bias);
  }

  void linear(const Node& node, Pass pass) {
    Layer l{};
    l.is_linear = true;
    layer(l, node, pass, attributes_of<LinearAttributes>(node).bias);
  }

  // ---- Own kernels.

  Slot sums_scratch(const Extents& extents) {
    return out_->slots.scratch(kernels::channel_sums_scratch_bytes(extents.rows(), extents.c));
  }

  void normalize(const Node& node) {
    const auto& attributes = attributes_of<NormalizeAttributes>(node);
    const std::size_t channels = attributes.mean.size();
    if (channels > kernels::Normalize::kMaxChannels) {
      throw Error("cudnn: '" + node.name + "' has images of " + std::to_string(channels) +
                  " channels, at most " + std::to_string(kernels::Normalize::kMaxChannels) +
                  " can be normalised");
    }
    kernels::Normalize made{};
    made.type = element(node.outputs[0]);
    made.count = count(node.outputs[0]);
    made.channels = static_cast<int>(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const double deviation = attributes.stddev[c];
      made.factor[c] = static_cast<float>(1 / (255 * deviation));
      made.offset[c] = static_cast<float>(-attributes.mean[c] / deviation);
    }
    const Slot x = bytes(node.inputs[0]);
    const Slot y = write(node.outputs[0], made.type);
    kernel(table_.normalize, [=](const Slots& at) {
      kernels::Normalize a = made;
      a.pixels = at.as<std::uint8_t>(x);
      a.y = at.at(y);
      return a;
    });
  }

  void batch_norm(const Node& node, bool inference) {
    const auto& attributes = attributes_of<NormAttributes>(node);
    const auto& in = node.inputs;
    const Element type = element(node.outputs[0]);
    const Extents extents(value(in[0]).shape);
    const Slot x = read(in[0], type);
    const Slot scale = read(in[1], Element::kF32);
    const Slot shift = read(in[2], Element::kF32);
    std::optional<Slot> residual;
    if (attributes.residual) residual = read(in.back(), type);
    const Slot y = write(node.outputs[0], type);
    Slot mean = 0;
    Slot variance = 0;
    Slot scratch = 0;
    if (inference) {
      mean = read(in[3], Element::kF32);
      variance = read(in[4], Element::kF32);
    } else {
      mean = write(node.outputs[1], Element::kF32);
      variance = write(node.outputs[2], Element::kF32);
      scratch = sums_scratch(extents);
    }
    kernel(inference ? table_.batch_norm_inference : table_.batch_norm, [=](const Slots& at) {
      kernels::BatchNorm a{};
      a.type = type;
      a.x = at.at(x);
      a.residual = residual ? at.at(*residual) : nullptr;
      a.y = at.at(y);
      a.rows = extents.rows();
      a.channels = extents.c;
      a.scale = at.as<float>(scale);
      a.shift = at.as<float>(shift);
      a.epsilon = attributes.epsilon;
      a.relu = attributes.relu;
      a.mean = at.as<float>(mean);
      a.variance = at.as<float>(variance);
      a.scratch = inference ? nullptr : at.at(scratch);
      return a;
    });
  }

  void batch_norm_backward(const Node& node) {
    const auto& attributes = attributes_of<NormAttributes>(node);
    const auto& in = node.inputs;
    const Element type = element(node.outputs[0]);
    const Extents extents(value(in[0]).shape);
    const Slot x = read(in[0], type);
    const Slot scale = read(in[1], Element::kF32);
    const Slot mean = read(in[2], Element::kF32);
    const Slot variance = read(in[3], Element::kF32);
    const Slot dy = read(in[4], type);
    std::optional<Slot> y;
    if (attributes.relu) y = read(in[5], type);
    const Slot dx = write(node.outputs[0], type);
    const Slot dscale = write(node.outputs[1], Element::kF32);
    const Slot dshift = write(node.outputs[2], Element::kF32);
    std::optional<Slot> dresidual;
    if (node.outputs.size() > 3) dresidual = write(node.outputs[3], type);
    const Slot scratch = sums_scratch(extents);
    kernel(table_.batch_norm_backward, [=](const Slots& at) {
      kernels::BatchNormBackward a{};
      a.type = type;
      a.x = at.at(x);
      a.dy = at.at(dy);
      a.y = y ? at.at(*y) : nullptr;
      a.dx = at.at(dx);
      a.dresidual = dresidual ? at.at(*dresidual) : nullptr;
      a.rows = extents.rows();
      a.channels = extents.c;
      a.scale = at.as<float>(scale);
      a.mean = at.as<float>(mean);
      a.variance = at.as<float>(variance);
      a.epsilon = attributes.epsilon;
      a.dscale = at.as<float>(dscale);
      a.dshift = at.as<float>(dshift);
      a.scratch = at.at(scratch);
      return a;
    });
  }

  void elementwise(const Node& node, void (*function)(const kernels::Elementwise&, Stream&)) {
    const Element type = element(node.outputs[0]);
    const Slot a = read(node.inputs[0], type);
    const Slot b = read(node.inputs.back(), type);
    const Slot y = write(node.outputs[0], type);
    kernel(function, [=, elements = count(node.outputs[0])](const Slots& at) {
      return kernels::Elementwise{type, at.at(a), at.at(b), at.at(y), elements};
    });
  }

  void pool(const Node& node, void (*function)(const kernels::Pool&, Stream&), bool backward,
            std::optional<ValueId> index) {
    const auto& attributes = attributes_of<PoolAttributes>(node);
    const Element type = element(node.outputs[0]);
    const Slot from = read(node.inputs[0], type);
    const Slot to = write(node.outputs[0], type);
    std::optional<Slot> place;
    if (index) place = bytes(*index);
    const Extents x(value(backward ? node.outputs[0] : node.inputs[0]).shape);
    const Extents y(value(backward ? node.inputs[0] : node.outputs[0]).shape);
    kernel(function, [=](const Slots& at) {
      kernels::Pool a{};
      a.type = type;
      a.from = at.at(from);
      a.to = at.at(to);
      a.index = place ? at.as<std::uint8_t>(*place) : nullptr;
      a.batch = x.n;
      a.channels = x.c;
      a.height = x.h;
      a.width = x.w;
      a.out_height = y.h;
      a.out_width = y.w;
      a.kernel_h = attributes.kernel_h;
      a.kernel_w = attributes.kernel_w;
      a.stride = attributes.stride;
      a.pad = attributes.pad;
      return a;
    });
  }

  void loss(const Node& node, bool backward) {
    const Element type = element(node.inputs[0]);
    const Extents extents(value(node.inputs[0]).shape);
    const double smoothing = attributes_of<LossAttributes>(node).label_smoothing;
    const Slot logits = read(node.inputs[0], type);
    const Slot targets = read(node.inputs[1], Element::kF32);
    const Slot weights = read(node.inputs[2], Element::kF32);
    const Slot first = write(node.outputs[0], backward ? type : Element::kF32);
    const Slot per_sample = backward ? first : write(node.outputs[1], Element::kF32);
    kernel(backward ? table_.loss_backward : table_.loss, [=](const Slots& at) {
      kernels::Loss a{};
      a.type = type;
      a.logits = at.at(logits);
      a.targets = at.as<float>(targets);
      a.weights = at.as<float>(weights);
      a.batch = extents.n;
      a.classes = extents.c;
      a.smoothing = smoothing;
      if (backward) {
        a.dlogits = at.at(first);
      } else {
        a.loss = at.as<float>(first);
        a.per_sample = at.as<float>(per_sample);
      }
      return a;
    });
  }

  void compile(const Node& node) {
    const std::string_view op = op_name(node.op);
    if (op == "normalize_input") return normalize(node);
    if (op == "conv2d") return convolution(node, Pass::kForward);
    if (op == "conv2d_backward_data") return convolution(node, Pass::kBackwardData);
    if (op == "conv2d_backward_filter") return convolution(node, Pass::kBackwardFilter);
    if (op == "batch_norm") return batch_norm(node, false);
    if (op == "batch_norm_backward") return batch_norm_backward(node);
    if (op == "batch_norm_inference") return batch_norm(node, true);
    if (op == "relu") return elementwise(node, table_.relu);
    if (op == "relu_backward") return elementwise(node, table_.relu_backward);
    if (op == "add") return elementwise(node, table_.add);
    if (op == "max_pool") return pool(node, table_.max_pool, false, node.outputs[1]);
    if (op == "max_pool_backward") return pool(node, table_.max_pool_backward, true, node.inputs[1]);
    if (op == "avg_pool") return pool(node, table_.avg_pool, false, std::nullopt);
    if (op == "avg_pool_backward") return pool(node, table_.avg_pool_backward, true, std::nullopt);
    if (op == "linear") return linear(node, Pass::kForward);
    if (op == "linear_backward_data") return linear(node, Pass::kBackwardData);
    if (op == "linear_backward_weight") return linear(node, Pass::kBackwardFilter);
    if (op == "softmax_cross_entropy") return loss(node, false);
    if (op == "softmax_cross_entropy_backward") return loss(node, true);
    throw Error("cudnn: node '" + node.name + "' is of a kind it does not know");
  }

  const Graph& graph_;
  Device& device_;
  const kernels::Table& table_;
  Element compute_;
  bool tf32_;
  bool deterministic_;
  ArenaLayout plan_;
  std::unique_ptr<Compiled> out_;
  std::vector<Home> homes_;
  std::vector<std::pair<ValueId, Slot>> packed_;
  std::vector<Step> now_;    // of the node being compiled
  std::vector<Step> after_;  // and what follows them
};

}  // namespace

void Slots::allocate(Device& device) {
  block_ = device.allocate(std::max(block_bytes(), kAlignment));
  place(block_.get());
}

std::unique_ptr<Compiled> compile_graph(const Graph& graph, const CompileOptions& options,
                                        Device& device) {
  return Compiler(graph, options, device).run();
}

}  // namespace winnow::train::cudnn
